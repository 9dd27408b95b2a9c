//! The rule of the content: see ../../README.md. rskafka's headers are a map: one value per name, never null.

use std::collections::BTreeMap;

pub const PARTITIONS: i64 = 6;

pub fn key(n: i64) -> Option<Vec<u8>> {
    match n % 7 {
        0 => None,
        1 => Some(Vec::new()),
        _ => Some([format!("key-{n}").as_bytes(), &[0, 0xff]].concat()),
    }
}

pub fn value(n: i64) -> Option<Vec<u8>> {
    match n % 11 {
        0 => None,
        1 => Some(Vec::new()),
        _ if n % 1000 == 500 => Some(pattern(n, 20_000)),
        _ => Some(pattern(n, 16 + n * 37 % 400)),
    }
}

fn pattern(n: i64, size: i64) -> Vec<u8> {
    let tail = (8..size).map(|i| (n + i * (n % 13 + 1)) as u8);
    n.to_be_bytes().into_iter().chain(tail).collect()
}

pub fn headers(n: i64) -> BTreeMap<String, Vec<u8>> {
    let pairs: Vec<(&str, Vec<u8>)> = match n % 5 {
        0 => vec![],
        1 => vec![("h", format!("v{n}").into_bytes())],
        2 => vec![("same", vec![])],
        3 => vec![("empty", vec![])],
        _ => vec![
            ("bytes", b"again".to_vec()),
            ("empty", vec![]),
            ("none", vec![]),
        ],
    };
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
