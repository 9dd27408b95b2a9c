//! What an append and a fetch cost between a protocol and the device: owner, writer and syncer, and
//! the reader, all on one thread and a real disk.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod node;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use log::read::Mode;
use types::Offset;

use node::{Node, batch};

/// Batches of an append that shares one sync.
const TOGETHER: usize = 64;
const READ_BYTES: usize = 1 << 20;

fn append(c: &mut Criterion) {
    let batch = batch();
    let mut group = c.benchmark_group("append/16KiB");
    for (name, durability, count) in [
        ("sync/1", "sync", 1),
        ("sync/64", "sync", TOGETHER),
        ("async/64", "async", TOGETHER),
    ] {
        let node = RefCell::new(Node::open(
            256 << 20,
            64 << 20,
            &[("durability", durability)],
        ));
        group.throughput(Throughput::Bytes((batch.total_bytes() * count) as u64));
        group.bench_function(name, |b| {
            let batches = || {
                node.borrow_mut().background();
                vec![batch.clone(); count]
            };
            let append = |batches| node.borrow_mut().append(batches);
            b.iter_batched(batches, append, BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn fetch(c: &mut Criterion) {
    let filled = |log_file_bytes, tail_bytes| {
        let mut node = Node::open(log_file_bytes, tail_bytes, &[("durability", "async")]);
        node.fill(16 * READ_BYTES);
        node
    };
    let (tail, unsealed, sealed) = (
        filled(64 << 20, 64 << 20),
        filled(64 << 20, 0),
        filled(1 << 20, 0),
    );
    assert_eq!((tail.segments(), unsealed.segments()), (0, 0));
    assert!(sealed.segments() >= 10, "{} segments", sealed.segments());
    let recent = Offset(tail.end().0 - 1_100);
    let mut group = c.benchmark_group("fetch");
    for (place, node, from) in [
        ("tail", &tail, recent),
        ("page cache", &unsealed, Offset(0)),
        ("page cache sealed", &sealed, Offset(0)),
    ] {
        for (size, max_bytes) in [("16KiB", 1), ("1MiB", READ_BYTES)] {
            // The first read brings the index of a segment, which later ones find in memory.
            let bytes = node.read(from, max_bytes, Mode::Blocking).bytes;
            assert!(
                bytes >= max_bytes * 3 / 4,
                "{place}: {bytes} of {max_bytes} bytes"
            );
            group.throughput(Throughput::Bytes(bytes as u64));
            group.bench_function(format!("{place}/{size}"), |b| {
                b.iter(|| {
                    let batches = node.read(black_box(from), max_bytes, Mode::Cached);
                    assert_eq!(batches.bytes, bytes);
                    batches
                });
            });
        }
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
}

criterion_group! { name = benches; config = short(); targets = append, fetch }
criterion_main!(benches);
