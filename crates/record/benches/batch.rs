//! What a produced batch costs: checking (the broker's hot path), sealing, reading, building.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use millrace_record::{
    BatchBuilder, Codec, Records, Rules, check, crc32c, crc32c_combine, offset_for_timestamp,
};
use types::{LeaderEpoch, Offset, Random, SeededRandom};

const BATCH_BYTES: usize = 16 << 10;

/// Text-like values: half of their bytes repeat, so that codecs have something to do.
fn batch(value_bytes: usize, codec: Codec) -> Bytes {
    let mut random = SeededRandom::new(1);
    let mut builder = BatchBuilder::new();
    while builder.total_bytes() + value_bytes < BATCH_BYTES {
        let value: Vec<u8> = (0..value_bytes)
            .map(|i| {
                if i % 16 < 8 {
                    b'a'
                } else {
                    b'0' + (random.next_u64() % 10) as u8
                }
            })
            .collect();
        let key = random.next_u64().to_be_bytes();
        builder
            .append(1_000, Some(&key), Some(&value), &[])
            .unwrap();
    }
    builder.build(codec).unwrap()
}

fn checking(c: &mut Criterion) {
    for value_bytes in [100, 1024] {
        let mut group = c.benchmark_group(format!("check/{value_bytes}B"));
        group.throughput(Throughput::Bytes(BATCH_BYTES as u64));
        for codec in Codec::ALL {
            let batch = batch(value_bytes, codec);
            let rules = Rules::at(1_000);
            group.bench_function(codec.name(), |b| {
                b.iter(|| check(black_box(&batch), &rules).unwrap());
            });
        }
        group.finish();
    }
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("read/100B");
    group.throughput(Throughput::Bytes(BATCH_BYTES as u64));
    for codec in Codec::ALL {
        let batch = batch(100, codec);
        let mut scratch = Vec::new();
        group.bench_function(codec.name(), |b| {
            b.iter(|| {
                Records::read(black_box(&batch), &mut scratch)
                    .unwrap()
                    .count()
            });
        });
    }
    group.finish();
    let batch = batch(100, Codec::None);
    c.bench_function("offset_for_timestamp", |b| {
        b.iter(|| offset_for_timestamp(black_box(&batch), 1_001).unwrap());
    });
}

fn building(c: &mut Criterion) {
    let mut group = c.benchmark_group("build/100B");
    group.throughput(Throughput::Bytes(BATCH_BYTES as u64));
    let value = [b'v'; 100];
    for codec in Codec::ALL {
        group.bench_function(codec.name(), |b| {
            b.iter(|| {
                let mut builder = BatchBuilder::new();
                while builder.total_bytes() < BATCH_BYTES {
                    builder
                        .append(1_000, None, Some(black_box(&value)), &[])
                        .unwrap();
                }
                builder.build(codec).unwrap()
            });
        });
    }
    group.finish();
}

fn sealing(c: &mut Criterion) {
    let checked = check(&batch(100, Codec::None), &Rules::at(1_000)).unwrap();
    c.bench_function("seal", |b| {
        b.iter(|| checked.seal(black_box(Offset(7)), LeaderEpoch(1), Some(2_000)));
    });
    c.bench_function("crc32c/16KiB", |b| {
        b.iter(|| crc32c(black_box(&checked.body)))
    });
    for len in [16 << 10, 1 << 20, 100 << 20] {
        c.bench_function(&format!("crc32c_combine/{len}"), |b| {
            b.iter(|| crc32c_combine(black_box(1), black_box(2), black_box(len)));
        });
    }
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
}

criterion_group! { name = benches; config = short(); targets = checking, reading, building, sealing }
criterion_main!(benches);
