//! `millrace log verify`: every checksum of a data directory.

mod files;
mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use broker::metadata::NodeRow;
use broker::partition_log_start;
use clap::Args;
use disk::{Disk, RealDisk};
use log::checkpoint::{Checkpoint, kind};
use log::frame::PlacedHeader;
use log::recovery::FoundFiles;
use log::segment::{DataFile, Segment, SegmentInfo, Verifier, VerifyReport, VerifyStep};
use log::{DataDir, Kind};
use types::{Offset, PartitionId};

use super::DirArgs;
use crate::failure::{Failure, Outcome};
use crate::{output, serve};
use report::Report;

/// Check every checksum of checkpoints, log files and segments
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    dir: DirArgs,
}

/// What may be punched out: records that the older of the kept checkpoints calls dead.
#[derive(Clone, Debug, Default)]
struct Dead {
    log_starts: BTreeMap<PartitionId, Offset>,
    /// Partitions with a smaller number and no log start were deleted; the others came later.
    next_partition: PartitionId,
}

/// Runs `millrace log verify`. It takes the directory's lock: no broker may be running on it.
pub(crate) fn run(args: &VerifyArgs) -> Outcome {
    serve::raise_limit();
    let root = &args.dir.data_dir;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    must_be_one(disk.as_ref(), root).map_err(Failure::DataDir)?;
    let dir = serve::take_directory(disk, root)?;
    let report = verify(&dir)?;
    if args.dir.json {
        output::json(&report)?;
    } else {
        report.print()?;
    }
    match report.damages_count() {
        0 => Ok(()),
        count => Err(Failure::Failed(anyhow::anyhow!(
            "{count} places are damaged"
        ))),
    }
}

/// What has no format file must not be opened: that would make a data directory of it.
fn must_be_one(disk: &dyn Disk, root: &Path) -> anyhow::Result<()> {
    match disk.open(&root.join("format")) {
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => {
            Err(anyhow::anyhow!("{} is no data directory", root.display()))
        }
        Err(error) => {
            Err(error).with_context(|| format!("cannot use the data directory {}", root.display()))
        }
    }
}

/// Looks at all that is kept. What is wrong with one part keeps nothing else from being looked at.
fn verify(dir: &DataDir) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let disk = dir.disk.as_ref();
    let mut good = Vec::new();
    for loaded in Checkpoint::load_kept(disk, &dir.root)? {
        report.checkpoints_count += 1;
        match loaded {
            Ok(checkpoint) => good.push(checkpoint),
            Err(error) => report.error(error)?,
        }
    }
    let (Some(newest), Some(oldest)) = (good.first(), good.last()) else {
        report.damage(format_args!(
            "no checkpoint in {} is good: nothing tells which log files and segments count",
            dir.root.display()
        ));
        return Ok(report);
    };
    let dead = Dead::by(oldest, &mut report)?;
    let segments = segments(newest, &mut report)?;
    let replay = newest.header.replay.sequence;
    let data = segments.iter().map(|info| &info.data);
    let sealed: BTreeSet<_> = data
        .filter(|data| data.sequence < replay)
        .filter_map(DataFile::number)
        .collect();
    for info in segments {
        verify_segment(dir, info, &dead, &mut report)?;
    }
    let (found, unreadable) = FoundFiles::read_around(disk, &dir.log(), dir.id, &sealed)?;
    for error in unreadable {
        report.error(error.into())?;
    }
    files::verify(&found, &dir.log(), &newest.header, &dead, &mut report)?;
    Ok(report)
}

impl Dead {
    fn by(checkpoint: &Checkpoint, report: &mut Report) -> anyhow::Result<Self> {
        let mut dead = Self::default();
        for row in checkpoint.rows() {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    report.error(error)?;
                    continue;
                }
            };
            dead.log_starts.extend(partition_log_start(&row));
            if row.kind == kind::NODE {
                match NodeRow::decode(&row.value) {
                    Some(node) => dead.next_partition = PartitionId(node.next_partition),
                    None => report.damage("the row of the node in a checkpoint is damaged"),
                }
            }
        }
        Ok(dead)
    }

    fn holds(&self, entry: &PlacedHeader) -> bool {
        let header = &entry.header;
        let is_dead = match self.log_starts.get(&header.partition) {
            Some(start) => header.end_offset() <= *start,
            None => header.partition < self.next_partition,
        };
        header.kind == Kind::Records && is_dead
    }
}

fn segments(checkpoint: &Checkpoint, report: &mut Report) -> anyhow::Result<Vec<SegmentInfo>> {
    let mut infos = Vec::new();
    for row in checkpoint.rows() {
        match row {
            Ok(row) if row.kind == kind::SEGMENT => match SegmentInfo::decode(&row.value) {
                Ok(info) => infos.push(info),
                Err(error) => report.damage(format_args!("a segment row is damaged: {error}")),
            },
            Ok(_) => {}
            Err(error) => report.error(error)?,
        }
    }
    Ok(infos)
}

fn verify_segment(
    dir: &DataDir,
    info: SegmentInfo,
    dead: &Dead,
    report: &mut Report,
) -> anyhow::Result<()> {
    report.segments_count += 1;
    let id = info.id;
    match try_verify_segment(dir, info, dead.clone()) {
        Ok(done) => report.segment(id, &done),
        Err(error) => report.error(error)?,
    }
    Ok(())
}

fn try_verify_segment(
    dir: &DataDir,
    info: SegmentInfo,
    dead: Dead,
) -> Result<VerifyReport, log::Error> {
    let segment = Segment::open(Arc::clone(&dir.disk), &dir.root, info)?;
    let mut verifier = Verifier::new(&segment, Box::new(move |entry| dead.holds(entry)));
    loop {
        if let VerifyStep::Done(done) = verifier.step()? {
            return Ok(done);
        }
    }
}
