//! The thread that drives some connections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::Buf;
use kafka::wire::messages::{FetchRequest, FetchResponse, PartitionData};
use kafka::wire::{decode_response, encode_request};
use record::verify_crc;
use types::{Clock, SystemClock};

use super::{ConsumeBench, Plan};
use crate::bench::latency::Latency;
use crate::bench::progress::Counters;
use crate::bench::socket::{Socket, wait};
use crate::client::{CLIENT_ID, FetchLimits, batches, fetch_request, next_position};

/// Every broker since 2.3 serves it, by topic name.
pub(super) const FETCH_VERSION: i16 = 11;
const READ_STEP_BYTES: usize = 256 << 10;
const WAIT_MAX: Duration = Duration::from_millis(50);
/// A broker answers a fetch without data after half a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// What one thread measured.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) records: u64,
    /// As stored: batches with their headers.
    pub(super) bytes: u64,
    pub(super) batches: u64,
    pub(super) fetches: u64,
    /// From the request to its answer.
    pub(super) latency: Latency,
    /// From the start to the last answer with records.
    pub(super) span: Duration,
}

impl Measured {
    fn new() -> Self {
        Self {
            records: 0,
            bytes: 0,
            batches: 0,
            fetches: 0,
            latency: Latency::new(),
            span: Duration::ZERO,
        }
    }
}

/// Drives the connections of one thread.
#[derive(Debug)]
pub(super) struct Driver {
    lanes: Vec<Lane>,
    end: Duration,
    records_max: u64,
    check_crcs: bool,
    clock: Arc<SystemClock>,
    counters: Arc<Counters>,
}

#[derive(Debug)]
struct Lane {
    socket: Socket,
    topic: String,
    positions: BTreeMap<i32, i64>,
    ends: Option<BTreeMap<i32, i64>>,
    limits: FetchLimits,
    correlation_id: i32,
    asked: Option<Duration>,
}

impl Driver {
    /// Connects everything that the plans name.
    pub(super) fn new(
        args: &ConsumeBench,
        plans: Vec<Plan>,
        ends: Option<BTreeMap<i32, i64>>,
        clock: Arc<SystemClock>,
        counters: Arc<Counters>,
    ) -> anyhow::Result<Self> {
        let lane = |plan: Plan| -> anyhow::Result<Lane> {
            Ok(Lane {
                socket: Socket::connect(&plan.server, READ_STEP_BYTES)?,
                topic: args.topic.clone(),
                positions: plan.positions,
                ends: ends.clone(),
                limits: args.limits(),
                correlation_id: 0,
                asked: None,
            })
        };
        Ok(Self {
            lanes: plans.into_iter().map(lane).collect::<Result<_, _>>()?,
            end: args.goal().time.unwrap_or(Duration::MAX),
            records_max: args.records.unwrap_or(u64::MAX),
            check_crcs: args.check_crcs,
            clock,
            counters,
        })
    }

    /// Reads until the goal or the ends are reached.
    pub(super) fn run(mut self) -> anyhow::Result<Measured> {
        let start = self.clock.monotonic();
        let mut measured = Measured::new();
        loop {
            let now = self.clock.monotonic() - start;
            let enough = self
                .counters
                .records
                .load(std::sync::atomic::Ordering::Relaxed)
                >= self.records_max;
            if now >= self.end || enough || self.counters.is_stopped() {
                return Ok(measured);
            }
            for lane in &mut self.lanes {
                lane.ask(now)?;
            }
            if self.lanes.iter().all(|lane| lane.asked.is_none()) {
                return Ok(measured);
            }
            let readable = wait(self.lanes.iter().map(|lane| &lane.socket), WAIT_MAX)?;
            for (lane, readable) in self.lanes.iter_mut().zip(readable) {
                lane.socket.flush()?;
                if readable {
                    lane.socket.fill()?;
                    let now = self.clock.monotonic() - start;
                    lane.receive(now, self.check_crcs, &mut measured, &self.counters)?;
                }
            }
        }
    }
}

impl Lane {
    /// Asks for more unless an answer is awaited or all is read.
    fn ask(&mut self, now: Duration) -> anyhow::Result<()> {
        if let Some(asked) = self.asked {
            ensure!(
                now - asked < ANSWER_TIMEOUT,
                "no answer within {} s",
                ANSWER_TIMEOUT.as_secs()
            );
            return Ok(());
        }
        if let Some(ends) = &self.ends {
            self.positions
                .retain(|p, at| ends.get(p).is_some_and(|end| *at < *end));
        }
        if self.positions.is_empty() {
            return Ok(());
        }
        let positions: Vec<_> = self
            .positions
            .iter()
            .map(|(p, offset)| (*p, *offset))
            .collect();
        let request = fetch_request(&self.topic, &positions, self.limits);
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let mut frame = encode_request(
            FETCH_VERSION,
            self.correlation_id,
            Some(CLIENT_ID),
            &request,
        )?;
        let out = self.socket.start();
        while frame.has_remaining() {
            out.extend_from_slice(frame.chunk());
            frame.advance(frame.chunk().len());
        }
        self.asked = Some(now);
        self.socket.flush()
    }

    fn receive(
        &mut self,
        now: Duration,
        check_crcs: bool,
        measured: &mut Measured,
        counters: &Counters,
    ) -> anyhow::Result<()> {
        let Some(frame) = self.socket.frame()? else {
            return Ok(());
        };
        let answer = decode_response::<FetchRequest>(FETCH_VERSION, &frame);
        let (id, answer) = answer.context("an answer cannot be read")?;
        ensure!(
            id == self.correlation_id,
            "an answer that was not asked for"
        );
        let asked = self.asked.take().unwrap_or(now);
        let before = measured.records;
        let bytes_before = measured.bytes;
        self.count(&answer, check_crcs, measured)?;
        let records = measured.records - before;
        counters.add(records, measured.bytes - bytes_before);
        measured.fetches += 1;
        if records > 0 {
            measured.span = now;
            measured.latency.record(now.saturating_sub(asked), records);
        }
        Ok(())
    }

    fn count(
        &mut self,
        answer: &FetchResponse,
        check_crcs: bool,
        measured: &mut Measured,
    ) -> anyhow::Result<()> {
        ensure!(
            answer.error_code.is_none(),
            "the fetch was refused: {}",
            answer.error_code
        );
        for data in answer.responses.iter().flat_map(|topic| &topic.partitions) {
            if !data.error_code.is_none() {
                bail!(
                    "partition {} cannot be read: {}",
                    data.partition_index,
                    data.error_code
                );
            }
            if let Some(at) = self.positions.get_mut(&data.partition_index) {
                *at = read_on(data, *at, check_crcs, measured)?;
            }
        }
        Ok(())
    }
}

/// Counts whole batches by their headers; gives the offset to read on from.
fn read_on(
    data: &PartitionData,
    at: i64,
    check_crcs: bool,
    measured: &mut Measured,
) -> anyhow::Result<i64> {
    let mut next = None;
    for (header, batch) in batches(data) {
        if check_crcs {
            verify_crc(batch).with_context(|| {
                let (partition, offset) = (data.partition_index, header.base_offset);
                format!("cannot read partition {partition} at offset {offset}")
            })?;
        }
        measured.records += u64::try_from(header.count).unwrap_or(0);
        measured.bytes += u64::try_from(batch.len()).unwrap_or(0);
        measured.batches += 1;
        next = Some(header.next_offset().0);
    }
    Ok(next_position(data, at, next)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fetch_tests::{answer, batch};

    #[test]
    fn a_batch_that_is_not_whole_and_good_ends_the_run_where_it_stands() {
        let mut measured = Measured::new();
        let mut read = |bytes: &[u8], crcs| read_on(&answer(bytes), 7, crcs, &mut measured);
        assert_eq!(read(&batch(7), true).expect("good"), 8);
        assert_eq!(read(b"", true).expect("nothing new"), 7);
        let mut old = batch(7);
        old[16] = 1;
        let mut broken = batch(7);
        broken[30] ^= 1;
        assert_eq!(read(&broken, false).expect("not looked at"), 8);
        for bytes in [&old, &broken] {
            let said = format!("{:#}", read(bytes, true).expect_err("refused"));
            assert!(
                said.contains("cannot read partition 3 at offset 7"),
                "{said}"
            );
        }
        assert_eq!(measured.batches, 2);
    }
}
