//! Batches that say which they are.

use bytes::Bytes;
use record::{BatchBuilder, CheckedBatch, Codec, Rules, TimestampType, check};
use types::{ProducerEpoch, ProducerId, Random, SeededRandom, Sequence};

use crate::failure::Failure;
use crate::model::SubmissionId;

/// What a batch is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number that its first record carries as its key.
    pub id: SubmissionId,
    /// Records.
    pub records: u64,
    /// Bytes of each value.
    pub value_bytes: usize,
    /// Producer and first sequence number.
    pub producer: Option<(i64, i32)>,
    /// The time of its records.
    pub now_ms: i64,
    /// Packed.
    pub codec: Codec,
}

impl Shape {
    /// A batch of any size: one small record up to one that is not copied into a frame.
    pub fn random(random: &mut SeededRandom, id: SubmissionId, now_ms: i64, most: usize) -> Self {
        let (records, value_bytes) = match random.below(20) {
            0 => (1, 16_384 + random.below(8_000)),
            1 => (1 + random.below(40), random.below(400)),
            2..6 => (1, 1_000 + random.below(3_000)),
            _ => (1 + random.below(4), random.below(200)),
        };
        let value_bytes = usize::try_from(value_bytes)
            .unwrap_or(0)
            .min(most.saturating_sub(200));
        let codec = if random.chance(1, 30) {
            Codec::Snappy
        } else {
            Codec::None
        };
        Self {
            id,
            records,
            value_bytes,
            producer: None,
            now_ms,
            codec,
        }
    }

    /// The batch as a connection hands it over, checked.
    ///
    /// # Errors
    /// When the record crate refuses it.
    pub fn build(&self) -> Result<CheckedBatch, Failure> {
        let refused = |error: record::BatchError| Failure(format!("{:?}: {error}", self.id));
        let bytes = self.encode().map_err(refused)?;
        let rules = Rules {
            timestamp_type: TimestampType::CreateTime,
            ..Rules::at(self.now_ms)
        };
        check(&bytes, &rules).map_err(refused)
    }

    fn encode(&self) -> Result<Bytes, record::BatchError> {
        let mut builder = BatchBuilder::new();
        if let Some((id, sequence)) = self.producer {
            builder = builder.producer(ProducerId(id), ProducerEpoch(0), Sequence(sequence));
        }
        let key = self.id.0.to_le_bytes();
        let mut fill = SeededRandom::new(u64::from(self.id.0));
        for n in 0..self.records {
            let key = (n == 0).then_some(&key[..]);
            let mut value = Vec::with_capacity(self.value_bytes + 8);
            while value.len() < self.value_bytes {
                value.extend_from_slice(&fill.next_u64().to_le_bytes());
            }
            value.truncate(self.value_bytes);
            builder.append(self.now_ms, key, Some(&value), &[])?;
        }
        builder.build(self.codec)
    }
}
