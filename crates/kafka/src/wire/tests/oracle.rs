//! Our bytes against those of the `kafka-protocol` crate, both ways, for every message and
//! version. It is never fed hostile bytes: it trusts counts.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable};

use super::debug_tree::Tree;
use crate::wire::api::for_each_api;
use crate::wire::messages as ours;
use crate::wire::sample::{Fill, Sample, Sampler};
use crate::wire::{ApiKey, Reader, Wire, Writer};

/// Fields that they have and we have not: of versions beyond ours (Fetch 18, OffsetFetch 10,
/// InitProducerId 6).
const THEIRS_ONLY: &[&str] = &[
    "topic_id",
    "unknown_tagged_fields",
    "high_watermark",
    "enable_2_pc",
    "keep_prepared_txn",
    "ongoing_txn_producer_id",
    "ongoing_txn_producer_epoch",
];

macro_rules! oracle {
    ($($name:ident = $key:literal: $advertised:expr, $served_from:literal, $flexible_from:literal,
        $request:ident, $response:ident;)+) => {
        #[test]
        fn requests_have_the_bytes_and_fields_of_the_oracle() {
            $( check::<ours::$request, theirs::$request>(ApiKey::$name); )+
        }

        #[test]
        fn responses_have_the_bytes_and_fields_of_the_oracle() {
            $( check::<ours::$response, theirs::$response>(ApiKey::$name); )+
        }

        #[test]
        fn keys_and_header_versions_are_those_of_the_oracle() {
            $(
                let theirs = theirs::ApiKey::$name;
                assert_eq!(ApiKey::$name.code(), theirs as i16);
                for version in ApiKey::$name.served() {
                    let format = ApiKey::$name.format(version);
                    assert_eq!(1 + i16::from(format.flexible), theirs.request_header_version(version));
                    let flexible = ApiKey::$name.response_header_is_flexible(version);
                    assert_eq!(i16::from(flexible), theirs.response_header_version(version));
                }
            )+
        }
    };
}

for_each_api!(oracle);

fn check<Ours, Theirs>(api: ApiKey)
where
    Ours: Wire + Sample + Debug + PartialEq,
    Theirs: Decodable + Encodable + Debug,
{
    for version in api.served() {
        for fill in Fill::ALL {
            let at = format!("{} v{version} {fill:?}", std::any::type_name::<Ours>());
            check_value::<Ours, Theirs>(&Sampler::new(fill, version).value(), api, version, &at);
        }
    }
}

fn check_value<Ours, Theirs>(ours: &Ours, api: ApiKey, version: i16, at: &str)
where
    Ours: Wire + Debug + PartialEq,
    Theirs: Decodable + Encodable + Debug,
{
    let body = encode(ours, api, version);
    let mut cursor = body.clone();
    let theirs = Theirs::decode(&mut cursor, version).unwrap_or_else(|e| panic!("{at}: {e}"));
    assert!(cursor.is_empty(), "{at}: they leave {} bytes", cursor.len());
    compare(at, &Tree::of(ours), &Tree::of(&theirs));

    let mut encoded = BytesMut::new();
    theirs
        .encode(&mut encoded, version)
        .unwrap_or_else(|e| panic!("{at}: {e}"));
    assert_eq!(encoded, body, "{at}");

    let mut reader = Reader::new(&body, api.format(version));
    assert_eq!(Ours::decode(&mut reader).as_ref(), Ok(ours), "{at}");
    assert_eq!(reader.left(), 0, "{at}");
}

fn encode(value: &impl Wire, api: ApiKey, version: i16) -> Bytes {
    let mut writer = Writer::new(api.format(version));
    value.encode(&mut writer);
    writer.finish().expect("encodable").to_bytes().slice(4..)
}

fn compare(at: &str, ours: &Tree, theirs: &Tree) {
    match (ours, theirs) {
        (Tree::Fields(ours), Tree::Fields(theirs)) => {
            for (name, value) in ours {
                let theirs = theirs
                    .get(name)
                    .unwrap_or_else(|| panic!("{at}: only ours: {name}"));
                compare(&format!("{at} {name}"), value, theirs);
            }
            for name in theirs.keys().filter(|name| !ours.contains_key(*name)) {
                assert!(
                    THEIRS_ONLY.contains(&name.as_str()),
                    "{at}: only theirs: {name}"
                );
            }
        }
        (Tree::Elements(bytes), Tree::Leaf(theirs)) => assert_eq!(&uuid(bytes), theirs, "{at}"),
        (Tree::Elements(ours), Tree::Elements(theirs)) => {
            assert_eq!(ours.len(), theirs.len(), "{at}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                compare(at, ours, theirs);
            }
        }
        // Pieces of records do not print; the bytes have been compared.
        (Tree::Leaf(ours), _) if ours.ends_with(" pieces") => {}
        _ => assert_eq!(ours, theirs, "{at}"),
    }
}

fn uuid(bytes: &[Tree]) -> String {
    let hex = bytes.iter().map(|byte| match byte {
        Tree::Leaf(byte) => format!("{:02x}", byte.parse::<u8>().expect("a byte")),
        _ => panic!("not a UUID"),
    });
    let hex: String = hex.collect();
    let [a, b, c, d, e] = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    format!("{a}-{b}-{c}-{d}-{e}")
}
