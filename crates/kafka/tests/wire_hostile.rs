//! Hostile bytes against the codec: it always ends, and allocates no more than what the bytes
//! that are there can justify.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod counting;

#[expect(unreachable_pub, reason = "shared with the fuzz targets")]
#[path = "../../../fuzz/src/kafka_wire.rs"]
mod properties;

use std::path::PathBuf;

use bytes::Bytes;
use millrace_kafka::wire::{
    ApiKey, DecodeError, Malformed, decode_any_request, decode_any_response,
};
use types::limits::{KAFKA_DECODED_BYTES_MAX, KAFKA_TAGS_MAX};
use types::{Random, SeededRandom};

use counting::allocated_by;

/// What decoding may allocate whatever the bytes.
const ALLOCATED_BYTES_MAX: usize = 64 << 10;
/// What each byte that is there may cost: a compact empty string is one byte on the wire.
const ALLOCATED_PER_BYTE_MAX: usize = 64;

/// 2^31 - 1 as a classic length, and the same as a compact one.
const CLAIMS: [&[u8]; 2] = [b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x08"];

#[expect(
    clippy::disallowed_methods,
    reason = "a corpus is no data of the broker"
)]
fn corpus(target: &str) -> Vec<Bytes> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let files = std::fs::read_dir(path).expect("a corpus");
    let read = |file: std::fs::DirEntry| std::fs::read(file.path()).expect("a readable file");
    let inputs: Vec<_> = files
        .map(|file| read(file.expect("an entry")).into())
        .collect();
    assert!(inputs.len() >= 90, "{target} has {} inputs", inputs.len());
    inputs
}

fn check_request(frame: Bytes) {
    let frame = &frame;
    let allocated = allocated_by(|| drop(decode_any_request(frame)));
    let allowed = ALLOCATED_BYTES_MAX + ALLOCATED_PER_BYTE_MAX * frame.len();
    assert!(allocated <= allowed, "{allocated} bytes for {frame:?}");
    properties::check_request(frame);
}

fn check_response(input: Bytes) {
    let api = ApiKey::from_code(input[0].into()).expect("a seed's key");
    let (version, frame) = (input[1].into(), input.slice(2..));
    let allocated = allocated_by(|| drop(decode_any_response(api, version, &frame)));
    let allowed = ALLOCATED_BYTES_MAX + ALLOCATED_PER_BYTE_MAX * frame.len();
    assert!(
        allocated <= allowed,
        "{allocated} bytes for {api:?} {version} {frame:?}"
    );
    properties::check_response(&input);
}

/// A header without client id, of the layout that the version has.
fn header(api: ApiKey, version: i16) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend(api.code().to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(b"\0\0\0\x07\xff\xff");
    frame.extend(api.format(version).flexible.then_some(0));
    frame
}

fn error_of(frame: Vec<u8>) -> Malformed {
    match decode_any_request(&frame.into()) {
        Err(DecodeError::Malformed {
            header: Some(_),
            source,
        }) => source,
        other => panic!("{other:?}"),
    }
}

/// Each seed with each of its bytes changed, from `first` on.
fn mutations(seed: &Bytes, first: usize, mut check: impl FnMut(Bytes)) {
    for at in first..seed.len() {
        let old = seed[at];
        for new in [old ^ (1 << (at % 8)), 0xff, old.wrapping_add(1)] {
            let mut bytes = seed.to_vec();
            bytes[at] = new;
            check(bytes.into());
        }
    }
}

/// Each seed with a claim of 2^31 - 1 over each of its bytes, cut off behind it and not.
fn claims(seed: &Bytes, first: usize, mut check: impl FnMut(Bytes)) {
    for at in first..seed.len() {
        for claim in CLAIMS {
            let mut bytes = seed[..at].to_vec();
            bytes.extend(claim);
            check(bytes.clone().into());
            bytes.extend(seed.get(at + claim.len()..).unwrap_or_default());
            check(bytes.into());
        }
    }
}

#[test]
fn w1_the_corpora_hold_the_properties() {
    corpus("kafka_request")
        .iter()
        .for_each(properties::check_request);
    corpus("kafka_response")
        .iter()
        .for_each(properties::check_response);
}

#[test]
fn w1_every_truncation_of_a_valid_message_is_an_error() {
    for seed in corpus("kafka_request") {
        assert!(decode_any_request(&seed).is_ok(), "{seed:?}");
        for length in 0..seed.len() {
            let cut = seed.slice(..length);
            assert!(decode_any_request(&cut).is_err(), "{cut:?}");
            check_request(cut);
        }
    }
    for seed in corpus("kafka_response") {
        let api = ApiKey::from_code(seed[0].into()).expect("a seed's key");
        let decode = |length| decode_any_response(api, seed[1].into(), &seed.slice(2..length));
        assert!(decode(seed.len()).is_ok(), "{seed:?}");
        for length in 2..seed.len() {
            assert!(decode(length).is_err(), "{length} of {seed:?}");
        }
    }
}

#[test]
fn w1_changed_bytes_give_a_message_or_an_error() {
    for seed in corpus("kafka_request") {
        mutations(&seed, 0, check_request);
    }
    for seed in corpus("kafka_response") {
        mutations(&seed, 2, check_response);
    }
}

#[test]
fn w2_a_body_of_five_bytes_that_claims_2_to_the_31_elements_allocates_nothing_much() {
    for &api in ApiKey::ALL {
        for version in api.served() {
            for claim in CLAIMS {
                for skipped in 0..8 {
                    let mut frame = header(api, version);
                    frame.extend(vec![0; skipped]);
                    frame.extend(claim);
                    frame.extend(vec![0; 5 - claim.len()]);
                    let frame = Bytes::from(frame);
                    let allocated = allocated_by(|| drop(decode_any_request(&frame)));
                    assert!(
                        allocated < ALLOCATED_BYTES_MAX,
                        "{api:?} {version}: {allocated}"
                    );
                    let frame = Bytes::from([&[0; 5], claim].concat());
                    let allocated =
                        allocated_by(|| drop(decode_any_response(api, version, &frame)));
                    assert!(
                        allocated < ALLOCATED_BYTES_MAX,
                        "{api:?} {version}: {allocated}"
                    );
                }
            }
        }
    }
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\x7f\xff\xff\xff\0");
    assert!(matches!(
        error_of(frame),
        Malformed::ArrayTooLong { count: 0x7fff_ffff }
    ));
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\0\0\0\x02\0\0\0");
    assert_eq!(
        error_of(frame),
        Malformed::ArrayBeyondEnd { count: 2, left: 3 }
    );
}

#[test]
fn w2_claims_at_any_place_allocate_no_more_than_the_bytes_justify() {
    for seed in corpus("kafka_request") {
        claims(&seed, 8, check_request);
    }
    for seed in corpus("kafka_response") {
        claims(&seed, 2, check_response);
    }
}

#[test]
fn w2_memory_of_one_message_is_bounded_when_all_its_bytes_are_there() {
    // A resource with a million empty keys: a byte on the wire, a string in memory.
    let keys = 1_000_000;
    let mut resource = b"\x02\x01\xc1\x84\x3d".to_vec();
    resource.extend(vec![1; keys]);
    resource.push(0);
    let body = |resources: u8| {
        let mut frame = header(ApiKey::DescribeConfigs, 4);
        frame.push(resources + 1);
        frame.extend(resource.repeat(resources.into()));
        frame.extend(b"\0\0\0");
        frame
    };
    assert!(decode_any_request(&body(1).into()).is_ok());
    let frame = Bytes::from(body(100));
    let mut result = None;
    let allocated = allocated_by(|| result = Some(decode_any_request(&frame)));
    assert!(matches!(
        result,
        Some(Err(DecodeError::Malformed {
            source: Malformed::TooMuchMemory,
            ..
        }))
    ));
    // An array grows by doubling, so that all its lives together are twice as big.
    assert!(allocated <= 3 * KAFKA_DECODED_BYTES_MAX, "{allocated}");
}

#[test]
fn tagged_fields_are_skipped_up_to_a_limit() {
    let body = |count: usize, varint: &[u8]| {
        let mut frame = header(ApiKey::DescribeCluster, 0);
        frame.push(0);
        frame.extend(varint);
        frame.extend(b"\x09\x02ab".repeat(count));
        frame
    };
    assert!(decode_any_request(&body(KAFKA_TAGS_MAX, b"\x90\x4e").into()).is_ok());
    let count = KAFKA_TAGS_MAX + 1;
    assert_eq!(
        error_of(body(count, b"\x91\x4e")),
        Malformed::TooManyTags { count }
    );

    let mut frame = header(ApiKey::DescribeCluster, 0);
    frame.extend(b"\0\x01\x09\xff\xff\xff\xff\x0f");
    assert_eq!(
        error_of(frame),
        Malformed::Truncated {
            needed: 0xffff_ffff,
            left: 0
        }
    );
    let mut frame = header(ApiKey::DescribeCluster, 0);
    frame.extend(b"\0\xff\xff\xff\xff\x1f");
    assert_eq!(error_of(frame), Malformed::VarintTooLong);
}

#[test]
fn lengths_below_minus_one_and_strings_that_are_no_text_are_errors() {
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\xff\xff\xff\xfe");
    assert_eq!(error_of(frame), Malformed::NegativeLength(-2));
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\0\0\0\x01\xff\xfe");
    assert_eq!(error_of(frame), Malformed::NegativeLength(-2));
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\0\0\0\x01\0\x01\xff");
    assert_eq!(error_of(frame), Malformed::NotUtf8);
    let mut frame = header(ApiKey::Metadata, 1);
    frame.extend(b"\0\0\0\x01\xff\xff");
    assert_eq!(error_of(frame), Malformed::Null);
}

#[test]
fn w1_random_bodies_give_a_message_or_an_error() {
    let mut random = SeededRandom::new(11);
    for &api in ApiKey::ALL {
        for version in api.served() {
            for _ in 0..100 {
                let mut frame = header(api, version);
                let words = random.below(16);
                for _ in 0..words {
                    // Small numbers go deeper than noise does.
                    let mask = if random.chance(1, 2) {
                        u64::MAX
                    } else {
                        0x0101_0003_0000_0102
                    };
                    frame.extend((random.next_u64() & mask).to_be_bytes());
                }
                check_request(frame.into());
            }
        }
    }
}
