//! A Produce request, written in place: batches are built where they are sent from.

use anyhow::Context;
use kafka::wire::ApiKey;

use crate::client::CLIENT_ID;

/// The last version whose lengths have fixed widths, so that they can be filled in afterwards.
pub(super) const PRODUCE_VERSION: i16 = 8;
const TIMEOUT_MS: i32 = 30_000;

/// A request that is being written for partitions of one topic.
#[derive(Debug)]
pub(super) struct RequestWriter<'a> {
    out: &'a mut Vec<u8>,
    count_at: usize,
    partitions: i32,
}

impl<'a> RequestWriter<'a> {
    /// Starts a request in an empty buffer.
    pub(super) fn new(out: &'a mut Vec<u8>, correlation_id: i32, acks: i16, topic: &str) -> Self {
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&ApiKey::Produce.code().to_be_bytes());
        out.extend_from_slice(&PRODUCE_VERSION.to_be_bytes());
        out.extend_from_slice(&correlation_id.to_be_bytes());
        put_string(out, CLIENT_ID);
        // No transactional id.
        out.extend_from_slice(&(-1_i16).to_be_bytes());
        out.extend_from_slice(&acks.to_be_bytes());
        out.extend_from_slice(&TIMEOUT_MS.to_be_bytes());
        out.extend_from_slice(&1_i32.to_be_bytes());
        put_string(out, topic);
        let count_at = out.len();
        out.extend_from_slice(&[0; 4]);
        Self {
            out,
            count_at,
            partitions: 0,
        }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Adds a partition whose batch `put` appends.
    pub(super) fn partition(
        &mut self,
        partition: i32,
        put: impl FnOnce(&mut Vec<u8>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.out.extend_from_slice(&partition.to_be_bytes());
        let length_at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        put(self.out)?;
        fill_length(self.out, length_at)?;
        self.partitions += 1;
        Ok(())
    }

    /// Fills in the counts that were not known before.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        put_at(self.out, self.count_at, self.partitions);
        fill_length(self.out, 0)
    }
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    let length = i16::try_from(text.len()).unwrap_or(i16::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Writes the number of bytes behind the length at `at`.
fn fill_length(out: &mut [u8], at: usize) -> anyhow::Result<()> {
    let length = i32::try_from(out.len() - at - 4).context("the request is too large")?;
    put_at(out, at, length);
    Ok(())
}

fn put_at(out: &mut [u8], at: usize, number: i32) {
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kafka::wire::{Request, decode_any_request};

    use super::*;

    #[test]
    fn the_codec_reads_what_was_written_in_place() {
        let mut out = Vec::new();
        let mut writer = RequestWriter::new(&mut out, 42, -1, "töpic");
        for partition in [3, 5] {
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(b"batch");
                Ok(())
            };
            writer.partition(partition, put).expect("written");
        }
        writer.finish().expect("written");
        assert_eq!(
            out[..4],
            u32::try_from(out.len() - 4).expect("small").to_be_bytes()
        );
        let (header, request) = decode_any_request(&Bytes::from(out).slice(4..)).expect("valid");
        assert_eq!(
            (header.version, header.correlation_id),
            (PRODUCE_VERSION, 42)
        );
        let Request::Produce(request) = request else {
            panic!("{request:?}")
        };
        assert_eq!((request.acks, request.transactional_id), (-1, None));
        assert_eq!(request.topic_data.len(), 1);
        assert_eq!(request.topic_data[0].name, "töpic");
        let found: Vec<_> = request.topic_data[0]
            .partition_data
            .iter()
            .map(|p| (p.index, p.records.clone().expect("records")))
            .collect();
        let batch = Bytes::from_static(b"batch");
        assert_eq!(found, [(3, batch.clone()), (5, batch)]);
    }
}
