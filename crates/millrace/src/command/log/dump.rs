//! `millrace log dump`: the files, frames and entries of the log, as they stand.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use disk::{Disk, RealDisk};
use log::file::{FileHeader, FileState, HEADER_BYTES, LogFile};
use log::frame::{FrameHeader, PlacedHeader};
use log::recovery::{FrameAt, read_header};
use serde_json::json;

use super::DirArgs;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Print the files, frames and entries of the log
#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    dir: DirArgs,
    /// Print the entries of each frame too
    #[arg(long)]
    entries: bool,
    /// Only entries of the partition with this number in the node
    #[arg(long, value_name = "NUMBER")]
    partition: Option<u32>,
}

/// Runs `millrace log dump`. It takes no lock: a broker may go on writing meanwhile.
pub(crate) fn run(args: &DumpArgs) -> Outcome {
    let dir = args.dir.data_dir.join("log");
    let disk = RealDisk::new();
    let names = disk
        .list(&dir)
        .with_context(|| format!("no log files in {}", dir.display()))
        .map_err(Failure::DataDir)?;
    let mut files = Vec::new();
    for name in names {
        let path = dir.join(&name);
        let file = disk.open(&path).context("cannot open a log file")?;
        match FileHeader::load(file.as_ref(), &path) {
            Ok(header) => files.push((header, path, file)),
            Err(error) => output::line(format_args!("{name}: {error}"))?,
        }
    }
    files.sort_by_key(|(header, ..)| (header.sequence, header.generation));
    for (header, path, file) in files {
        print_file(args, &header, &path)?;
        if header.state == FileState::Live {
            let (sequence, epoch) = (header.sequence, header.epoch);
            let file_bytes = header.file_bytes;
            let file = LogFile {
                sequence,
                epoch,
                path,
                file_bytes,
                file: Arc::clone(&file),
            };
            print_frames(args, &file)?;
        }
    }
    Ok(())
}

fn print_file(args: &DumpArgs, header: &FileHeader, path: &Path) -> anyhow::Result<()> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
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

fn print_frames(args: &DumpArgs, file: &LogFile) -> anyhow::Result<()> {
    let mut position = HEADER_BYTES;
    loop {
        match read_header(file, position)? {
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
    let wanted = |e: &PlacedHeader| args.partition.is_none_or(|p| e.header.partition.0 == p);
    let entries: Vec<_> = frame.decided_order().into_iter().filter(wanted).collect();
    if args.dir.json {
        let shown = if args.entries {
            entries.as_slice()
        } else {
            &[]
        };
        return json_line(&json!({
            "frame": frame.number.0,
            "position": frame.position,
            "bytes": frame.frame_bytes,
            "synced": frame.synced.0,
            "entries_count": frame.entries.len(),
            "entries": shown.iter().map(entry_json).collect::<Vec<_>>(),
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
    if args.entries {
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
