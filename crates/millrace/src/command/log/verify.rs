//! `millrace log verify`: every checksum of a data directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use broker::metadata::NodeRow;
use broker::partition_log_start;
use clap::Args;
use disk::{Disk, RealDisk};
use log::checkpoint::{Checkpoint, kind};
use log::file::HEADER_BYTES;
use log::frame::PlacedHeader;
use log::recovery::{self, ChainedFile, FoundFiles, FrameAt, Survey};
use log::segment::{Segment, SegmentInfo, Verifier, VerifyStep};
use log::{DataDir, Kind};
use serde::Serialize;
use types::{Offset, PartitionId, SystemRandom};

use super::DirArgs;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Check every checksum of checkpoints, log files and segments
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    dir: DirArgs,
}

/// What was looked at and what is wrong.
#[derive(Debug, Default, Serialize)]
struct Report {
    checkpoints_count: u64,
    log_files_count: u64,
    frames_count: u64,
    entries_count: u64,
    segments_count: u64,
    damages: Vec<String>,
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
    let root = &args.dir.data_dir;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    if disk.open(&root.join("format")).is_err() {
        let error = anyhow::anyhow!("{} is no data directory", root.display());
        return Err(Failure::DataDir(error));
    }
    let dir = DataDir::open(disk, root, &mut SystemRandom::new())
        .context("cannot use the data directory")
        .map_err(Failure::DataDir)?;
    let report = verify(&dir)?;
    if args.dir.json {
        output::json(&report)?;
    } else {
        print(&report)?;
    }
    match report.damages.len() {
        0 => Ok(()),
        count => Err(Failure::Failed(anyhow::anyhow!(
            "{count} places are damaged"
        ))),
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    let rows = [
        ("checkpoints", report.checkpoints_count),
        ("log files", report.log_files_count),
        ("frames", report.frames_count),
        ("entries", report.entries_count),
        ("segments", report.segments_count),
        ("damaged places", report.damages.len() as u64),
    ];
    let rows = rows.map(|(name, count)| [name.to_owned(), count.to_string()]);
    output::table(&["CHECKED", "COUNT"], rows)?;
    for damage in &report.damages {
        output::line(damage)?;
    }
    Ok(())
}

fn verify(dir: &DataDir) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let disk = dir.disk.as_ref();
    let Some(loaded) = Checkpoint::load_newest(disk, &dir.root)? else {
        bail!("there is no checkpoint in {}", dir.root.display());
    };
    report
        .damages
        .extend(loaded.damaged.iter().map(ToString::to_string));
    let checkpoint = &loaded.checkpoint;
    let before = Checkpoint::load_before(disk, &dir.root, checkpoint.number())?;
    report.checkpoints_count = 1 + u64::from(before.is_some());
    let dead = Dead::by(before.as_ref().unwrap_or(checkpoint))?;
    for info in segments(checkpoint)? {
        verify_segment(dir, info, &dead, &mut report);
    }
    let found = FoundFiles::read(disk, &dir.log(), dir.id)?;
    let first = (
        checkpoint.header.replay.sequence,
        checkpoint.header.replay.epoch,
    );
    let files = recovery::chain(&found, &dir.log(), first)?;
    let mut survey = recovery::survey(&files, checkpoint.header.proven)?;
    recovery::lost_files(&found, &files, &mut survey)?;
    report
        .damages
        .extend(survey.damage.iter().map(|d| d.corruption.to_string()));
    verify_files(&files, &survey, &dead, &mut report)?;
    Ok(report)
}

impl Dead {
    fn by(checkpoint: &Checkpoint) -> anyhow::Result<Self> {
        let mut dead = Self::default();
        for row in checkpoint.rows() {
            let row = row?;
            dead.log_starts.extend(partition_log_start(&row));
            if row.kind == kind::NODE {
                let node = NodeRow::decode(&row.value).context("the node's row is damaged")?;
                dead.next_partition = PartitionId(node.next_partition);
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

fn segments(checkpoint: &Checkpoint) -> anyhow::Result<Vec<SegmentInfo>> {
    let mut infos = Vec::new();
    for row in checkpoint.rows() {
        let row = row?;
        if row.kind == kind::SEGMENT {
            infos.push(SegmentInfo::decode(&row.value).context("a segment row is damaged")?);
        }
    }
    Ok(infos)
}

fn verify_segment(dir: &DataDir, info: SegmentInfo, dead: &Dead, report: &mut Report) {
    report.segments_count += 1;
    let id = info.id;
    match try_verify_segment(dir, info, dead.clone()) {
        Ok((frames, entries, damages)) => {
            report.frames_count += frames;
            report.entries_count += entries;
            report.damages.extend(damages);
        }
        Err(error) => report.damages.push(format!("segment {id}: {error:#}")),
    }
}

fn try_verify_segment(
    dir: &DataDir,
    info: SegmentInfo,
    dead: Dead,
) -> anyhow::Result<(u64, u64, Vec<String>)> {
    let segment = Segment::open(Arc::clone(&dir.disk), &dir.root, info)?;
    let mut verifier = Verifier::new(&segment, Box::new(move |entry| dead.holds(entry)));
    loop {
        if let VerifyStep::Done(done) = verifier.step()? {
            let damages = done
                .damages
                .iter()
                .map(|d| d.corruption.to_string())
                .collect();
            return Ok((
                done.frames,
                done.good_payloads + done.dead_payloads,
                damages,
            ));
        }
    }
}

/// Checks the payloads of the log files that are not sealed.
fn verify_files(
    files: &[ChainedFile],
    survey: &Survey,
    dead: &Dead,
    report: &mut Report,
) -> anyhow::Result<()> {
    let last = files.len().saturating_sub(1);
    for (index, chained) in files.iter().enumerate() {
        report.log_files_count += 1;
        let end = if index == last {
            survey.end
        } else {
            chained.end.unwrap_or(survey.end)
        };
        let mut position = HEADER_BYTES;
        while position < end {
            let FrameAt::Frame(frame) = recovery::read_header(&chained.file, position)? else {
                break;
            };
            report.frames_count += 1;
            for entry in frame.entries.iter().filter(|entry| !dead.holds(entry)) {
                report.entries_count += 1;
                if recovery::read_payload(&chained.file, entry)?.is_none() {
                    report.damages.push(bad_payload(&chained.file.path, entry));
                }
            }
            position = frame.end();
        }
    }
    Ok(())
}

fn bad_payload(path: &Path, entry: &PlacedHeader) -> String {
    let header = &entry.header;
    format!(
        "{} is damaged at byte {}: {:?} entry of partition {}, offset {}",
        path.display(),
        entry.position,
        header.kind,
        header.partition,
        header.base_offset
    )
}
