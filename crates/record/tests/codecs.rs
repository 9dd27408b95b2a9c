//! What each codec accepts and refuses.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bytes::Bytes;
use lz4_flex::frame::{BlockMode, BlockSize};
use millrace_record::{
    BatchError, CheckedBatch, Codec, Flaw, HEADER_BYTES, Records, Rules, check, verify_crc,
};
use support::{batch_of, lz4, lz4_frame, pack, record, rows, xerial};
use types::{Random, SeededRandom};

/// Records that fill several blocks of every codec: text, noise, and one long run.
fn body() -> Vec<u8> {
    let mut random = SeededRandom::new(3);
    let noise: Vec<u8> = (0..90_000)
        .map(|_| random.next_u64().to_le_bytes()[0])
        .collect();
    let text = b"the same words again and again, ".repeat(4_000);
    [
        record(0, 0, Some(b"text"), Some(&text), &[]),
        record(1, 1, Some(b"noise"), Some(&noise), &[]),
        record(2, 2, Some(b"run"), Some(&[b'r'; 300_000]), &[]),
    ]
    .concat()
}

fn accepted(codec: Codec, packed: &[u8]) -> CheckedBatch {
    let batch = batch_of(codec, 3, packed);
    let checked = check(&batch, &Rules::at(1_000)).unwrap();
    let plain = batch_of(Codec::None, 3, &body());
    assert_eq!(rows(&stored(&checked)), rows(&plain));
    checked
}

fn kept(codec: Codec, packed: &[u8]) {
    let checked = accepted(codec, packed);
    assert!(!checked.repacked);
    assert_eq!(checked.body, packed);
}

fn stored(checked: &CheckedBatch) -> Bytes {
    [&checked.header.encode()[..], &checked.body[..]]
        .concat()
        .into()
}

/// Both ways in say the same: the check, and reading.
#[track_caller]
fn refused(codec: Codec, packed: &[u8]) {
    let batch = batch_of(codec, 3, packed);
    let outcome = check(&batch, &Rules::at(1_000));
    assert_eq!(outcome, Err(BatchError::InvalidBatch(Flaw::Unpack(codec))));
    let read = Records::read(&batch, &mut Vec::new()).map(drop);
    assert_eq!(read, Err(BatchError::InvalidBatch(Flaw::Unpack(codec))));
}

#[test]
fn what_other_crates_pack_is_kept_as_it_is() {
    for codec in Codec::ALL {
        kept(codec, &pack(codec, &body()));
    }
}

#[test]
fn bytes_that_no_codec_writes_are_refused() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        refused(codec, b"");
        refused(codec, b"\x01");
        refused(codec, b"this was never compressed at all");
        refused(codec, &[0xff; 1_000]);
    }
}

#[test]
fn packed_records_cut_anywhere_are_refused() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let small = record(0, 0, None, Some(&b"some bytes ".repeat(20)), &[]);
        let packed = pack(codec, &small);
        check(&batch_of(codec, 1, &packed), &Rules::at(1_000)).unwrap();
        for len in 0..packed.len() {
            let cut = batch_of(codec, 1, &packed[..len]);
            let outcome = check(&cut, &Rules::at(1_000));
            // Behind the framing snappy has no end to miss: there the records come up short.
            let framing_only = codec == Codec::Snappy && len == 16;
            let expected = matches!(outcome, Err(BatchError::InvalidBatch(Flaw::Unpack(_))));
            assert!(
                expected || framing_only && outcome.is_err(),
                "{codec} cut at {len}"
            );
        }
    }
}

#[test]
fn nothing_may_follow_the_packed_records() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let packed = [&pack(codec, &body())[..], b"rest"].concat();
        refused(codec, &packed);
    }
    let gzip = pack(Codec::Gzip, &body());
    refused(Codec::Gzip, &[&gzip[..], &pack(Codec::Gzip, b"")].concat());
    let lz4 = pack(Codec::Lz4, &body());
    refused(Codec::Lz4, &[&lz4[..], &pack(Codec::Lz4, b"")].concat());
}

#[test]
fn zstd_may_come_in_several_frames() {
    let body = body();
    let (first, second) = body.split_at(100_000);
    let frames = [
        pack(Codec::Zstd, first),
        pack(Codec::Zstd, b""),
        pack(Codec::Zstd, second),
    ];
    kept(Codec::Zstd, &frames.concat());
    kept(Codec::Zstd, &zstd::bulk::compress(&body, 19).unwrap());
}

#[test]
fn a_zstd_context_left_in_the_middle_of_a_frame_does_not_harm_the_next_batch() {
    let packed = pack(Codec::Zstd, &body());
    for len in [1, 10, packed.len() / 2, packed.len() - 1] {
        refused(Codec::Zstd, &packed[..len]);
        kept(Codec::Zstd, &packed);
    }
}

#[test]
fn zstd_frames_with_huge_windows_are_refused() {
    // Frame header: no content size, window descriptor, then an empty last block.
    let frame = |exponent: u8| [0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 1, 0, 0];
    let outcome = |exponent| {
        let batch = batch_of(Codec::Zstd, 1, &frame(exponent));
        check(&batch, &Rules::at(1_000)).unwrap_err()
    };
    // 2^(10 + 17) is what level 22 asks for.
    assert!(matches!(outcome(17), BatchError::InvalidRecords(_)));
    assert_eq!(
        outcome(18),
        BatchError::InvalidBatch(Flaw::Unpack(Codec::Zstd))
    );
    assert_eq!(
        outcome(31),
        BatchError::InvalidBatch(Flaw::Unpack(Codec::Zstd))
    );
}

#[test]
fn snappy_is_taken_framed_in_any_block_size_and_bare() {
    for block_bytes in [1_000, 32 << 10, 10 << 20] {
        kept(Codec::Snappy, &xerial(&body(), block_bytes));
    }
    kept(
        Codec::Snappy,
        &snap::raw::Encoder::new().compress_vec(&body()).unwrap(),
    );
}

#[test]
fn snappy_blocks_that_claim_more_than_they_can_give_are_refused() {
    let bare = |claim: &[u8]| [claim, &[0; 3]].concat();
    refused(Codec::Snappy, &bare(&[0xff, 0xff, 0xff, 0xff, 0x0f]));
    refused(Codec::Snappy, &bare(&[0xff, 0xff, 0x7f]));
    let framed = [
        b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01",
        &[0xff, 0xff, 0xff, 0xff][..],
    ]
    .concat();
    refused(Codec::Snappy, &framed);
    let beyond = [
        b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01",
        &[0x7f, 0xff, 0xff, 0xff][..],
    ]
    .concat();
    refused(Codec::Snappy, &beyond);
}

#[test]
fn lz4_frames_may_have_any_block_size_and_checksum() {
    let sizes = [
        BlockSize::Max64KB,
        BlockSize::Max256KB,
        BlockSize::Max1MB,
        BlockSize::Max4MB,
    ];
    for size in sizes {
        for (blocks, content) in [(false, false), (true, false), (false, true), (true, true)] {
            let frame = lz4_frame()
                .block_size(size)
                .block_checksums(blocks)
                .content_checksum(content)
                .content_size(Some(body().len() as u64));
            kept(Codec::Lz4, &lz4(frame, &body()));
        }
    }
}

#[test]
fn every_checksum_of_an_lz4_frame_is_checked() {
    let frame = lz4_frame().block_checksums(true).content_checksum(true);
    let packed = lz4(frame, &body());
    let flip = |at: usize| {
        let mut bytes = packed.clone();
        bytes[at] ^= 1;
        refused(Codec::Lz4, &bytes);
    };
    flip(6);
    let first_block = usize::from(u16::from_le_bytes([packed[7], packed[8]]));
    flip(11 + first_block);
    flip(packed.len() - 1);
    let sized = lz4(lz4_frame().content_size(Some(body().len() as u64)), &body());
    let wrong = lz4(lz4_frame().content_size(Some(7)), b"seven b");
    refused(Codec::Lz4, &[&wrong[..15], &sized[15..]].concat());
}

#[test]
fn lz4_of_the_legacy_frame_or_with_the_old_header_checksum_is_refused() {
    let packed = lz4(lz4_frame(), &body());
    refused(
        Codec::Lz4,
        &[&[0x02, 0x21, 0x4c, 0x18][..], &packed[7..]].concat(),
    );
    let mut bits = packed;
    for (at, mask) in [(4, 0x01), (4, 0x02), (4, 0x80), (5, 0x80), (5, 0x01)] {
        bits[at] ^= mask;
        refused(Codec::Lz4, &bits);
        bits[at] ^= mask;
    }
}

#[test]
fn linked_lz4_blocks_are_packed_anew_because_kafkas_reader_refuses_them() {
    for size in [BlockSize::Max64KB, BlockSize::Max256KB] {
        let linked = lz4_frame().block_mode(BlockMode::Linked).block_size(size);
        let checked = accepted(Codec::Lz4, &lz4(linked, &body()));
        assert!(checked.repacked);
        assert_ne!(checked.body[4] & 0x20, 0, "blocks are independent now");
        assert_eq!(checked.header.attributes.codec(), Some(Codec::Lz4));
        verify_crc(&stored(&checked)).unwrap();
    }
}

#[test]
fn the_bound_on_unpacked_bytes_is_exact() {
    let body = body();
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let batch = batch_of(codec, 3, &pack(codec, &body));
        let at = |max| Rules {
            unpacked_bytes_max: max,
            ..Rules::at(1_000)
        };
        check(&batch, &at(body.len())).unwrap();
        let max_bytes = body.len() - 1;
        let expected = BatchError::UnpackedTooLarge { max_bytes };
        assert_eq!(
            check(&batch, &at(max_bytes)),
            Err(expected.clone()),
            "{codec}"
        );
        let read = |max| Records::read_within(&batch, &mut Vec::new(), max).map(drop);
        assert_eq!(read(body.len()), Ok(()));
        assert_eq!(read(max_bytes), Err(expected), "{codec}");
    }
}

#[test]
fn a_batch_without_records_needs_no_packed_bytes() {
    for codec in Codec::ALL {
        let empty = support::with_header(&batch_of(codec, 1, b""), |h| h.count = 0);
        assert_eq!(empty.len(), HEADER_BYTES);
        assert_eq!(rows(&empty), []);
    }
}
