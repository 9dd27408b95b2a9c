//! What is measured.

/// One load, the same for both brokers.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub name: &'static str,
    pub what: &'static str,
    pub load: Load,
    pub partitions: i32,
    pub record_bytes: u64,
    pub sync: Sync,
}

/// Who makes the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// Kafka's ProducerPerformance, as fast as it can
    StockProduce,
    /// Kafka's ProducerPerformance at so many records per second
    StockProduceAt(u64),
    /// Our reader on Kafka's consumer, after a load that is not measured
    StockConsume,
    /// `millrace bench produce`
    BenchProduce,
    /// `millrace bench consume`, after a load that is not measured
    BenchConsume,
}

/// When a record is confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// As each product comes: ours after the sync, Kafka before it.
    Defaults,
    /// After the sync in both.
    Both,
}

impl Load {
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::StockConsume | Self::BenchConsume)
    }
}

/// All measures, in the order in which they run.
pub(super) fn all() -> Vec<Measure> {
    use Load::{BenchConsume, BenchProduce, StockConsume, StockProduce, StockProduceAt};
    let measure = |name, what, load, partitions, record_bytes, sync| Measure {
        name,
        what,
        load,
        partitions,
        record_bytes,
        sync,
    };
    vec![
        measure(
            "produce-1k-1p",
            "produce, defaults, 1 KiB, 1 partition",
            StockProduce,
            1,
            1024,
            Sync::Defaults,
        ),
        measure(
            "produce-1k-100p",
            "produce, defaults, 1 KiB, 100 partitions",
            StockProduce,
            100,
            1024,
            Sync::Defaults,
        ),
        measure(
            "produce-100b-1p",
            "produce, defaults, 100 B, 1 partition",
            StockProduce,
            1,
            100,
            Sync::Defaults,
        ),
        measure(
            "produce-100b-100p",
            "produce, defaults, 100 B, 100 partitions",
            StockProduce,
            100,
            100,
            Sync::Defaults,
        ),
        measure(
            "synced-1k-100p",
            "produce, both synced, 1 KiB, 100 partitions",
            StockProduce,
            100,
            1024,
            Sync::Both,
        ),
        measure(
            "confirm-2k",
            "confirm at 2,000/s, both synced, 1 KiB, 100 partitions",
            StockProduceAt(2000),
            100,
            1024,
            Sync::Both,
        ),
        measure(
            "catch-up",
            "catch-up consume, 1 KiB, 100 partitions",
            StockConsume,
            100,
            1024,
            Sync::Defaults,
        ),
        measure(
            "bench-1k-100p",
            "millrace bench, defaults, 1 KiB, 100 partitions",
            BenchProduce,
            100,
            1024,
            Sync::Defaults,
        ),
        measure(
            "bench-synced-1k-100p",
            "millrace bench, both synced, 1 KiB, 100 partitions",
            BenchProduce,
            100,
            1024,
            Sync::Both,
        ),
        measure(
            "bench-catch-up",
            "millrace bench, catch-up consume, 1 KiB, 100 partitions",
            BenchConsume,
            100,
            1024,
            Sync::Defaults,
        ),
    ]
}
