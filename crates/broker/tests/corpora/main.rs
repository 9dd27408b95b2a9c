//! Replays the corpora of the fuzz targets for record batches, the log and the metadata, through
//! the properties that the targets check. `fuzz/README.md` tells how the targets are run, and how
//! an input that one of them found comes into its corpus.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests, and properties shared with the fuzz targets"
)]

mod seeds;

#[path = "../../../../fuzz/src/allocated.rs"]
mod allocated;
#[path = "../../../../fuzz/src/checkpoint.rs"]
mod checkpoint;
#[path = "../../../../fuzz/src/fields.rs"]
mod fields;
#[path = "../../../../fuzz/src/log_directory.rs"]
mod log_directory;
#[path = "../../../../fuzz/src/log_file_header.rs"]
mod log_file_header;
#[path = "../../../../fuzz/src/log_frame.rs"]
mod log_frame;
#[path = "../../../../fuzz/src/metadata.rs"]
mod metadata;
#[path = "../../../../fuzz/src/packed.rs"]
mod packed;
#[path = "../../../../fuzz/src/record_batch.rs"]
mod record_batch;
#[path = "../../../../fuzz/src/segment.rs"]
mod segment;
#[path = "../../../../fuzz/src/source.rs"]
mod source;

use std::path::PathBuf;

use bytes::Bytes;

use seeds::Seed;

/// A fuzz target.
struct Target {
    name: &'static str,
    /// Its property: true when the input was something that can be read.
    check: fn(&Bytes) -> bool,
    seeds: fn() -> Vec<Seed>,
}

const fn target(name: &'static str, check: fn(&Bytes) -> bool, seeds: fn() -> Vec<Seed>) -> Target {
    Target { name, check, seeds }
}

const TARGETS: [Target; 8] = [
    target("record_batch", record_batch::check, seeds::record_batch),
    target("log_frame", log_frame::check, seeds::log_frame),
    target("log_directory", log_directory::check, seeds::log_directory),
    target(
        "log_file_header",
        log_file_header::check,
        seeds::log_file_header,
    ),
    target(
        "segment_footer",
        segment::check_footer,
        seeds::segment_footer,
    ),
    target("segment_swap", segment::check_swap, seeds::segment_swap),
    target("checkpoint", checkpoint::check, seeds::checkpoint),
    target("metadata", metadata::check, seeds::metadata),
];

/// Seeds are named for what they hold, what a fuzzer found by its hash.
const SEED: &str = "seed-";

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target)
}

/// Every input of a corpus with its name.
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus is no data of the broker"
)]
fn corpus(target: &str) -> Vec<(String, Bytes)> {
    let files = std::fs::read_dir(folder(target)).expect("a corpus");
    let input = |file: std::fs::DirEntry| {
        let name = file.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(file.path()).expect("a file").into())
    };
    files.map(|file| input(file.expect("an entry"))).collect()
}

#[test]
fn the_corpora_hold_the_properties() {
    for Target {
        name: target,
        check,
        seeds,
    } in TARGETS
    {
        let (mut seen, mut read) = (0, 0);
        for (name, input) in corpus(target) {
            let good = check(&input);
            assert!(good || !name.starts_with(SEED), "{target}/{name}");
            seen += 1;
            read += u32::from(good);
        }
        println!("{target}: {seen} inputs, {read} of them can be read");
        assert!(seeds().len() >= 10 && read as usize >= seeds().len());
    }
}

#[test]
fn what_encoders_write_today_holds_the_properties() {
    for Target {
        name: target,
        check,
        seeds,
    } in TARGETS
    {
        for (name, input) in seeds() {
            assert!(check(&input), "{target}/{name}");
        }
    }
}

#[test]
fn changed_bytes_and_cut_inputs_hold_the_properties() {
    for Target { check, seeds, .. } in TARGETS {
        for (_, input) in seeds() {
            for at in (0..input.len()).step_by((input.len() / 32).max(1)) {
                check(&input.slice(..at));
                for value in [input[at] ^ (1 << (at % 8)), 0xff] {
                    let mut changed = input.to_vec();
                    changed[at] = value;
                    check(&changed.into());
                }
            }
        }
    }
}

#[test]
#[ignore = "writes files; run it when a format changes"]
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus is no data of the broker"
)]
fn write_the_seeds() {
    for Target {
        name: target,
        seeds,
        ..
    } in TARGETS
    {
        std::fs::create_dir_all(folder(target)).expect("a folder");
        for (name, input) in seeds() {
            std::fs::write(folder(target).join(name), input).expect("a file");
        }
    }
}
