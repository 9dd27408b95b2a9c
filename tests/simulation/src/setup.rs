//! Sizes and speeds of one run, all by its seed: small, so that little data meets every rule.

use std::path::{Path, PathBuf};
use std::time::Duration;

use broker::NodeConfig;
use broker::owner::OwnerConfig;
use broker::topic_config::BrokerDefaults;
use types::limits::LOG_FILE_BYTES_MIN;
use types::{Random, SeededRandom};

/// Sizes and speeds of one run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Settings of the node.
    pub node: NodeConfig,
    /// How often each machine is stepped, relative to the others.
    pub weights: Weights,
    /// Topics that may exist at once.
    pub topics_max: u64,
}

/// How often each thing happens, relative to the others.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each is what it is named after")]
pub struct Weights {
    pub owner: u64,
    pub writer: u64,
    pub assembler: u64,
    pub syncer: u64,
    pub background: u64,
    pub client: u64,
    pub reader: u64,
    pub clock: u64,
}

impl Weights {
    /// Sum of all.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.owner
            + self.writer
            + self.assembler
            + self.syncer
            + self.background
            + self.client
            + self.reader
            + self.clock
    }
}

/// The data directory on every simulated disk.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from("/data")
}

impl Setup {
    /// Another size of log files, as an operator may choose between two starts.
    pub fn resize(&mut self, random: &mut SeededRandom) {
        let file = LOG_FILE_BYTES_MIN << random.below(3);
        self.node = node_config(random, file, &root());
    }

    /// The setup of a seed.
    #[must_use]
    pub fn random(random: &mut SeededRandom) -> Self {
        let file = LOG_FILE_BYTES_MIN << random.below(3);
        let speed = |random: &mut SeededRandom| [1, 4, 4, 10][pick(random, 4)];
        Self {
            node: node_config(random, file, &root()),
            weights: Weights {
                owner: speed(random),
                writer: speed(random),
                assembler: speed(random),
                syncer: speed(random),
                background: speed(random),
                client: 2 + random.below(4),
                reader: 1 + random.below(2),
                clock: 1 + random.below(3),
            },
            topics_max: 1 + random.below(5),
        }
    }
}

fn node_config(random: &mut SeededRandom, file: u64, root: &Path) -> NodeConfig {
    NodeConfig {
        root: root.to_path_buf(),
        log_file_bytes: file,
        tail_bytes: [0, 20_000, 1 << 20][pick(random, 3)],
        extents_bytes: [0, 2_000, 1 << 20][pick(random, 3)],
        owner: OwnerConfig {
            defaults: BrokerDefaults::default(),
            retention_check: Duration::from_millis(100 << random.below(5)),
            producer_expiration_ms: i64::MAX / 4,
            entry_bytes_max: usize::try_from(file / 2).unwrap_or(usize::MAX),
            unsealed_bytes_max: file * (4 + random.below(5)),
            unsealed_batches_max: [400, 6_000_000][pick(random, 2)],
            checkpoint_bytes: file * (1 + random.below(3)),
            node_id: 1,
            partitions_default: 1,
        },
    }
}

/// A number below `bound`, as an index.
pub(crate) fn pick(random: &mut SeededRandom, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or(0)
}
