//! What is measured.

/// One load, the same for both brokers.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub name: &'static str,
    pub load: Load,
    pub partitions: i32,
    pub record_bytes: u64,
    pub sync: Synced,
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
pub(super) enum Synced {
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

impl Measure {
    /// What is measured, for people.
    pub(super) fn what(&self) -> String {
        let load = match self.load {
            Load::StockProduce => "produce".to_owned(),
            Load::StockProduceAt(rate) => format!("produce {rate} records/s"),
            Load::StockConsume => "catch-up consume".to_owned(),
            Load::BenchProduce => "`millrace bench produce`".to_owned(),
            Load::BenchConsume => "`millrace bench consume`".to_owned(),
        };
        let sync = match self.sync {
            Synced::Defaults => "defaults",
            Synced::Both => "both synced",
        };
        format!(
            "{load}, {sync}, {} B, {} partitions",
            self.record_bytes, self.partitions
        )
    }
}

/// All measures, in the order in which they run.
pub(super) fn all() -> Vec<Measure> {
    use Load::{BenchConsume, BenchProduce, StockConsume, StockProduce, StockProduceAt};
    use Synced::{Both, Defaults};
    let rows = [
        ("produce-1k-1p", StockProduce, Defaults, 1024, 1),
        ("produce-1k-100p", StockProduce, Defaults, 1024, 100),
        ("produce-100b-1p", StockProduce, Defaults, 100, 1),
        ("produce-100b-100p", StockProduce, Defaults, 100, 100),
        ("synced-1k-100p", StockProduce, Both, 1024, 100),
        ("confirm-2k", StockProduceAt(2000), Both, 1024, 100),
        ("catch-up", StockConsume, Defaults, 1024, 100),
        ("bench-1k-100p", BenchProduce, Defaults, 1024, 100),
        ("bench-synced-1k-100p", BenchProduce, Both, 1024, 100),
        ("bench-catch-up", BenchConsume, Defaults, 1024, 100),
    ];
    let measure = |(name, load, sync, record_bytes, partitions)| Measure {
        name,
        load,
        sync,
        record_bytes,
        partitions,
    };
    rows.map(measure).to_vec()
}
