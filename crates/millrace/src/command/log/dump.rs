//! `millrace log dump`: the files, frames and entries of the log, as they stand.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use disk::{Disk, RealDisk};
use log::file::{FileHeader, FileState, HEADER_BYTES, LogFile};
use log::frame::{FrameHeader, PlacedHeader};
use log::recovery::{FrameAt, read_header};
use serde_json::json;

use super::DirArgs;
use crate::failure::{Failure, Outcome};
use crate::{output, serve};

/// Print the files, frames and entries of the log
#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    dir: DirArgs,
    /// Print the entries of each frame too
    #[arg(long)]
    entries: bool,
    /// Print the entries of the partition with this number in the node, no others
    #[arg(long, value_name = "NUMBER")]
    partition: Option<u32>,
}

impl DumpArgs {
    fn wants(&self, entry: &PlacedHeader) -> bool {
        match self.partition {
            Some(partition) => entry.header.partition.0 == partition,
            None => self.entries,
        }
    }
}

/// Runs `millrace log dump`. It takes no lock: a broker may go on writing meanwhile, and remove
/// files that were just listed.
pub(crate) fn run(args: &DumpArgs) -> Outcome {
    serve::raise_limit();
    let dir = args.dir.data_dir.join("log");
    let disk = RealDisk::new();
    let names = disk
        .list(&dir)
        .with_context(|| format!("no log files in {}", dir.display()))
        .map_err(Failure::DataDir)?;
    let mut files = Vec::new();
    for name in names {
        match read_file(&disk, &dir.join(&name)) {
            Ok(Some((header, _))) => files.push((header.sequence, header.generation, name)),
            Ok(None) => {}
            Err(error) => print_fault(args, &name, None, &error)?,
        }
    }
    files.sort();
    // Each is opened once more: there may be more files than a process may have open.
    for (.., name) in files {
        match read_file(&disk, &dir.join(&name)) {
            Ok(Some((header, file))) => {
                print_file(args, &header, &name)?;
                if header.state == FileState::Live {
                    print_frames(args, &name, &file)?;
                }
            }
            Ok(None) => {}
            Err(error) => print_fault(args, &name, None, &error)?,
        }
    }
    Ok(())
}

/// Opens a file and reads its header; None when it is gone by now.
fn read_file(disk: &dyn Disk, path: &Path) -> Result<Option<(FileHeader, LogFile)>, log::Error> {
    let file = match disk.open(path) {
        Err(error) if error.is_not_found() => return Ok(None),
        opened => opened?,
    };
    let header = FileHeader::load(file.as_ref(), path)?;
    let log_file = LogFile {
        sequence: header.sequence,
        epoch: header.epoch,
        path: path.to_path_buf(),
        file_bytes: header.file_bytes,
        file,
    };
    Ok(Some((header, log_file)))
}

/// What keeps a file, or the rest of it, from being shown.
fn print_fault(
    args: &DumpArgs,
    name: &str,
    position: Option<u64>,
    error: &log::Error,
) -> anyhow::Result<()> {
    let error = match error {
        log::Error::Corrupt(corruption) => corruption.to_string(),
        error => log::error_chain(error),
    };
    if args.dir.json {
        return json_line(&json!({ "file": name, "position": position, "error": error }));
    }
    let text = match position {
        Some(position) => format!("  {position:>12}  {error}"),
        None => format!("{name}: {error}"),
    };
    Ok(output::line(text)?)
}

fn print_file(args: &DumpArgs, header: &FileHeader, name: &str) -> anyhow::Result<()> {
    let state = match header.state {
        FileState::Spare => "spare",
        FileState::Live => "live",
    };
    if args.dir.json {
        return json_line(&json!({
            "file": name,
            "state": state,
            "sequence": header.sequence.0,
            "epoch": format!("{:016x}", header.epoch.0),
            "generation": header.generation,
            "first_frame": header.first_frame.0,
            "file_bytes": header.file_bytes,
            "predecessor_end": header.predecessor.map(|p| p.end),
        }));
    }
    let live = format!(
        ", sequence {}, epoch {:016x}, first frame {}",
        header.sequence, header.epoch.0, header.first_frame
    );
    let live = if header.state == FileState::Live {
        live
    } else {
        String::new()
    };
    Ok(output::line(format_args!(
        "{name}: {state}{live}, {}",
        output::bytes(header.file_bytes)
    ))?)
}

fn print_frames(args: &DumpArgs, name: &str, file: &LogFile) -> anyhow::Result<()> {
    let mut position = HEADER_BYTES;
    loop {
        let found = match read_header(file, position) {
            Ok(found) => found,
            Err(error) => return print_fault(args, name, Some(position), &error),
        };
        match found {
            FrameAt::Frame(frame) => {
                print_frame(args, &frame)?;
                position = frame.end();
            }
            FrameAt::Fault(fault) if args.dir.json => {
                return json_line(&json!({ "end": position, "found": format!("{fault:?}") }));
            }
            FrameAt::Fault(fault) => {
                return Ok(output::line(format_args!(
                    "  {position:>12}  end ({fault:?})"
                ))?);
            }
            FrameAt::End => return Ok(()),
        }
    }
}

fn print_frame(args: &DumpArgs, frame: &FrameHeader) -> anyhow::Result<()> {
    let entries = frame.decided_order().into_iter();
    let entries: Vec<_> = entries.filter(|entry| args.wants(entry)).collect();
    if args.dir.json {
        return json_line(&json!({
            "frame": frame.number.0,
            "position": frame.position,
            "bytes": frame.frame_bytes,
            "synced": frame.synced.0,
            "entries_count": frame.entries.len(),
            "entries": entries.iter().map(entry_json).collect::<Vec<_>>(),
        }));
    }
    output::line(format_args!(
        "  {:>12}  frame {}, {} entries, {}, synced {}",
        frame.position,
        frame.number,
        frame.entries.len(),
        output::bytes(frame.frame_bytes),
        frame.synced
    ))?;
    for entry in &entries {
        let header = &entry.header;
        output::line(format_args!(
            "  {:>12}    {:?} {}/{} partition {} offset {} count {} at {} ms, {} B",
            entry.position,
            header.kind,
            header.shard,
            header.index,
            header.partition,
            header.base_offset,
            header.count,
            header.append_time_ms,
            entry.payload_bytes
        ))?;
    }
    Ok(())
}

fn entry_json(entry: &PlacedHeader) -> serde_json::Value {
    let header = &entry.header;
    json!({
        "kind": format!("{:?}", header.kind),
        "origin": format!("{:?}", header.origin),
        "shard": header.shard.0,
        "index": header.index.0,
        "term": header.term.0,
        "partition": header.partition.0,
        "base_offset": header.base_offset.0,
        "count": header.count,
        "append_time_ms": header.append_time_ms,
        "max_timestamp_ms": header.max_timestamp_ms,
        "position": entry.position,
        "bytes": entry.payload_bytes,
    })
}

/// One value to a line, so that programs can read while it is printed.
fn json_line(value: &serde_json::Value) -> anyhow::Result<()> {
    Ok(output::line(value)?)
}

#[cfg(test)]
mod tests {
    use disk::SimDisk;

    use super::*;

    #[test]
    fn a_file_that_is_gone_by_now_is_passed_over() {
        let disk = SimDisk::new(1);
        let path = Path::new("log/00000000000000000001.log");
        assert!(read_file(&disk, path).expect("no fault").is_none());
        disk.place(path, &[0; 8192]);
        assert!(read_file(&disk, path).is_err());
    }
}
