//! The seeds of the fuzz targets: one valid frame of every message and version.

use std::path::PathBuf;

use crate::wire::api::for_each_api;
use crate::wire::messages::*;
use crate::wire::sample::{Fill, Sampler};
use crate::wire::*;

macro_rules! seeds {
    ($($name:ident = $key:literal: $advertised:expr, $served_from:literal, $flexible_from:literal,
        $request:ident, $response:ident;)+) => {
        /// Name, request frame and response frame, without length prefixes.
        fn seeds() -> Vec<(String, Vec<u8>, Vec<u8>)> {
            let mut seeds = Vec::new();
            $(
                for version in ApiKey::$name.served() {
                    let mut sampler = Sampler::new(Fill::Full, version);
                    let request: $request = sampler.value();
                    let request = encode_request(version, 7, Some("seed"), &request).unwrap();
                    let response: $response = sampler.value();
                    let response = encode_response(version, 7, &response).unwrap();
                    seeds.push((
                        format!("{:02}-{version:02}", ApiKey::$name.code()),
                        request.to_bytes()[4..].to_vec(),
                        response.to_bytes()[4..].to_vec(),
                    ));
                }
            )+
            seeds
        }
    };
}

for_each_api!(seeds);

fn corpus(target: &str, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fuzz/corpus").join(target).join(name)
}

/// What the target of responses reads: key and version, each in one byte, and the frame.
fn response_input(name: &str, frame: &[u8]) -> Vec<u8> {
    let mut input: Vec<u8> = name
        .split('-')
        .map(|number| number.parse().unwrap())
        .collect();
    input.extend_from_slice(frame);
    input
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus is no data of the broker"
)]
fn the_corpora_hold_every_message_and_version() {
    for (name, request, response) in seeds() {
        let response = response_input(&name, &response);
        for (target, seed) in [("kafka_request", request), ("kafka_response", response)] {
            let path = corpus(target, &name);
            let found = std::fs::read(&path).unwrap_or_default();
            assert!(
                found == seed,
                "run the ignored test of this file: {}",
                path.display()
            );
        }
    }
}

#[test]
#[ignore = "writes files; run it when a message changes"]
#[expect(
    clippy::disallowed_methods,
    reason = "a corpus is no data of the broker"
)]
fn write_the_corpora() {
    for (name, request, response) in seeds() {
        let response = response_input(&name, &response);
        for (target, seed) in [("kafka_request", request), ("kafka_response", response)] {
            let path = corpus(target, &name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, seed).unwrap();
        }
    }
}
