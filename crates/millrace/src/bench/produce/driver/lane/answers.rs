//! What becomes of requests: confirmed, failed, or lost with their connection.

use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use kafka::wire::messages::{ProduceRequest, ProduceResponse};
use kafka::wire::{ErrorCode, decode_response};

use super::Lane;
use crate::bench::produce::driver::Measured;
use crate::bench::produce::driver::batch_sent::Batch;
use crate::bench::produce::driver::retry::{GIVE_UP, is_retriable};
use crate::bench::produce::request::PRODUCE_VERSION;
use crate::bench::progress::Counters;
use crate::bench::socket::{Lost, Socket};

impl Lane {
    /// Takes the answers that have arrived.
    pub(in crate::bench::produce::driver) fn receive(
        &mut self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) -> anyhow::Result<()> {
        let filled = self.socket.as_mut().map_or(Ok(()), Socket::fill);
        while let Some(socket) = &mut self.socket
            && let Some(frame) = socket.frame()?
        {
            let answer = decode_response::<ProduceRequest>(PRODUCE_VERSION, &frame);
            let (correlation_id, answer) = answer.context("an answer cannot be read")?;
            let sent = self
                .in_flight
                .pop_front()
                .context("an answer that was not asked for")?;
            ensure!(
                sent.correlation_id == correlation_id,
                "answers came out of order"
            );
            measured.requests += u64::from(now >= warmup_end);
            for batch in sent.batches {
                if self.is_confirmed(now, batch, &answer)? {
                    batch.count(now, warmup_end, measured, counters);
                }
            }
        }
        // What arrived before the end counts.
        self.unless_lost(now, filled)
    }

    /// Whether a batch was taken. One that may be taken later is kept for that.
    fn is_confirmed(
        &mut self,
        now: Duration,
        batch: Batch,
        answer: &ProduceResponse,
    ) -> anyhow::Result<bool> {
        let results = answer.responses.iter();
        let result = results
            .flat_map(|topic| &topic.partition_responses)
            .find(|result| result.index == batch.partition)
            .with_context(|| format!("no answer about partition {}", batch.partition))?;
        let code = result.error_code;
        // A broker that remembers fewer batches than were sent again since says so.
        let is_here = code == ErrorCode::DUPLICATE_SEQUENCE_NUMBER && batch.failures.any();
        if code.is_none() || is_here {
            return Ok(true);
        }
        // It came too early: one before it failed.
        let is_behind = code == ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
            && self.failed.iter().any(|b| b.partition == batch.partition);
        let error = || {
            let message = result.error_message.as_deref().unwrap_or_default();
            let index = result.index;
            format!("partition {index} refused a batch: {code} {message}")
        };
        if is_behind || is_retriable(code) {
            self.fail(now, batch, error)?;
            Ok(false)
        } else {
            bail!(error())
        }
    }

    /// Without answers, what the system took counts as done.
    pub(in crate::bench::produce::driver) fn flushed(
        &mut self,
        now: Duration,
        warmup_end: Duration,
        measured: &mut Measured,
        counters: &Counters,
    ) {
        if self.acks == 0 && self.socket.as_ref().is_some_and(Socket::is_flushed) {
            while let Some(sent) = self.in_flight.pop_front() {
                measured.requests += u64::from(now >= warmup_end);
                for batch in &sent.batches {
                    batch.count(now, warmup_end, measured, counters);
                }
            }
        }
    }

    /// A connection whose oldest request has no answer for `longest` is taken for lost.
    pub(in crate::bench::produce::driver) fn time_out(
        &mut self,
        now: Duration,
        longest: Duration,
    ) -> anyhow::Result<()> {
        let oldest = self.in_flight.front();
        if oldest.is_some_and(|sent| now.saturating_sub(sent.time) >= longest) {
            let error = anyhow!("{} did not answer within {longest:?}", self.server);
            self.lose(now, &error)?;
        }
        Ok(())
    }

    /// A lost connection is no error: what was under way on it is sent again on the next one.
    pub(super) fn unless_lost(
        &mut self,
        now: Duration,
        result: anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match result {
            Err(error) if error.is::<Lost>() => self.lose(now, &error),
            other => other,
        }
    }

    pub(super) fn lose(&mut self, now: Duration, error: &anyhow::Error) -> anyhow::Result<()> {
        self.socket = None;
        let rest = self.outage.add(now);
        let Some(rest) = rest else {
            bail!("gave up after {} s: {error:#}", GIVE_UP.as_secs());
        };
        self.rest_until = self.rest_until.max(now + rest);
        for sent in std::mem::take(&mut self.in_flight) {
            for batch in sent.batches {
                self.fail(now, batch, || format!("{error:#}"))?;
            }
        }
        Ok(())
    }

    /// Keeps a batch to be sent again after a rest.
    fn fail(
        &mut self,
        now: Duration,
        mut batch: Batch,
        error: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let Some(rest) = batch.failures.add(now) else {
            bail!("gave up after {} s: {}", GIVE_UP.as_secs(), error());
        };
        self.rest_until = self.rest_until.max(now + rest);
        self.failed.push(batch);
        Ok(())
    }
}
