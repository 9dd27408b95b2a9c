//! Small batches that unpack to a lot: an error, and memory that stays small.
//!
//! The peak of the process' memory is what counts, since the codecs' C code allocates too; so the
//! cases run one after another in one test, in a process of their own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "the figures are of interest")]

mod support;

use std::io::Write;

use bytes::Bytes;
use millrace_record::{
    BatchError, Codec, Flaw, Records, Rules, check, offset_for_timestamp, offset_of_max_timestamp,
};
use support::{batch_of, pack, record, varint};
use types::limits;

/// What the walk over a packed batch may take besides the batch: steps, a block, a window.
const BUDGET_BYTES: usize = 16 << 20;

/// The largest resident size of this process since the last call.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

#[expect(
    clippy::disallowed_methods,
    reason = "resets the kernel's mark, stores nothing"
)]
fn reset_peak() -> usize {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    peak_bytes()
}

/// Runs `work` and tells by how much the process grew at its peak.
#[track_caller]
fn within_budget<T>(what: &str, budget: usize, work: impl FnOnce() -> T) -> T {
    let before = reset_peak();
    let outcome = work();
    let grown = peak_bytes().saturating_sub(before);
    println!("{what}: {} KiB", grown >> 10);
    assert!(grown <= budget, "{what} took {grown} bytes");
    outcome
}

/// One record of `bytes` zeros.
fn zeros(codec: Codec, bytes: usize) -> Bytes {
    batch_of(
        codec,
        1,
        &pack(codec, &record(0, 0, None, Some(&vec![0; bytes]), &[])),
    )
}

fn rules() -> Rules {
    Rules {
        max_bytes: 100 << 20,
        ..Rules::at(1_000)
    }
}

#[test]
fn bombs_are_refused_and_take_little_memory() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let bomb = zeros(codec, 200 << 20);
        println!("{codec}: {} bytes sent", bomb.len());
        let expected = BatchError::UnpackedTooLarge {
            max_bytes: rules().unpacked_bytes_max,
        };
        let outcome = within_budget(&format!("{codec} bomb"), BUDGET_BYTES, || {
            (check(&bomb, &rules()), offset_of_max_timestamp(&bomb))
        });
        assert_eq!(outcome, (Err(expected.clone()), Err(expected)));

        // Large, but within the bound: accepted, and still not held in memory.
        let large = zeros(codec, 100 << 20);
        let checked = within_budget(&format!("{codec} large"), BUDGET_BYTES, || {
            check(&large, &rules()).unwrap()
        });
        assert_eq!(checked.body, large[61..]);
        let found = within_budget("look-up by time", BUDGET_BYTES, || {
            offset_for_timestamp(&large, 2_000)
        });
        assert_eq!(found, Ok(None));

        // Written anew without compression it exceeds the topic's limit: noticed on the way.
        let plain = Rules {
            codec: Some(Codec::None),
            max_bytes: 4 << 20,
            ..rules()
        };
        let small = zeros(codec, 50 << 20);
        let outcome = within_budget(&format!("{codec} anew"), BUDGET_BYTES, || {
            check(
                &small,
                &Rules {
                    max_bytes: small.len().max(plain.max_bytes),
                    ..plain
                },
            )
        });
        assert!(matches!(outcome, Err(BatchError::TooLarge { .. })));
    }
    claims_alone_take_nothing();
    the_widest_window_is_the_most_that_zstd_takes();
    the_meter_notices_what_is_held();
}

/// A frame that asks for a window of 2^27 bytes and fills it.
fn the_widest_window_is_the_most_that_zstd_takes() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    let record = record(0, 0, None, Some(&vec![0; 200 << 20]), &[]);
    encoder.write_all(&record).unwrap();
    drop(record);
    let bomb = batch_of(Codec::Zstd, 1, &encoder.finish().unwrap());
    let budget = (1 << limits::ZSTD_WINDOW_LOG_MAX) + BUDGET_BYTES;
    let before = reset_peak();
    let outcome = within_budget("zstd with its widest window", budget, || {
        check(&bomb, &rules())
    });
    assert!(matches!(outcome, Err(BatchError::UnpackedTooLarge { .. })));
    let kept = reset_peak().saturating_sub(before);
    assert!(kept <= BUDGET_BYTES, "{kept} bytes were not given back");
}

/// Reading unpacks into memory, and that must show, or the tests above say nothing.
fn the_meter_notices_what_is_held() {
    let large = zeros(Codec::Lz4, 100 << 20);
    let before = reset_peak();
    let mut scratch = Vec::new();
    assert_eq!(Records::read(&large, &mut scratch).unwrap().count(), 1);
    let grown = peak_bytes().saturating_sub(before);
    assert!(grown > 90 << 20, "only {grown} bytes were noticed");
}

fn claims_alone_take_nothing() {
    let claim = varint(i64::from(i32::MAX));
    let header_claim = [&[0, 0, 0, 1, 1][..], &varint(1_000_000_000)].concat();
    let cases: [(&str, Codec, Vec<u8>); 6] = [
        ("record length", Codec::None, claim.clone()),
        (
            "packed record length",
            Codec::Gzip,
            pack(Codec::Gzip, &claim),
        ),
        ("header count", Codec::None, support::framed(&header_claim)),
        (
            "bare snappy",
            Codec::Snappy,
            vec![0xff, 0xff, 0xff, 0xff, 0x0f, 0],
        ),
        // 4 MiB blocks and a content size of 2^60.
        ("lz4 content size", Codec::Lz4, lz4_claim()),
        // A single segment of 2^60 bytes.
        ("zstd content size", Codec::Zstd, zstd_claim()),
    ];
    for (what, codec, body) in cases {
        let batch = batch_of(codec, 1, &body);
        let outcome = within_budget(what, 1 << 20, || check(&batch, &rules()));
        assert!(outcome.is_err(), "{what}");
    }
    let counted = batch_of(Codec::None, 1 << 20, &[]);
    let outcome = within_budget("record count", 1 << 20, || check(&counted, &rules()));
    assert!(matches!(outcome, Err(BatchError::InvalidRecords(_))));
    let beyond = batch_of(Codec::None, i32::MAX, &[]);
    let expected = BatchError::InvalidBatch(Flaw::TooManyRecords(i32::MAX));
    assert_eq!(check(&beyond, &rules()), Err(expected));
}

fn lz4_claim() -> Vec<u8> {
    let frame = support::lz4_frame()
        .block_size(lz4_flex::frame::BlockSize::Max4MB)
        .content_size(Some(1));
    let mut bytes = support::lz4(frame, b"x");
    bytes.truncate(15);
    bytes.extend([0x10, 0, 0, 0]);
    bytes
}

fn zstd_claim() -> Vec<u8> {
    let claimed = (1_u64 << 60).to_le_bytes();
    [
        &[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..],
        &claimed,
        &[1, 0, 0],
    ]
    .concat()
}
