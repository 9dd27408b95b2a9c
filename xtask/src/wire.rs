//! The little of the Kafka protocol that the harness speaks itself: is a broker ready, and how is a batch compressed.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

const TIMEOUT: Duration = Duration::from_secs(10);
const FETCH: i16 = 1;
const METADATA: i16 = 3;
const CREATE_TOPICS: i16 = 19;
const INIT_PRODUCER_ID: i16 = 22;
const TIMEOUT_MS: i32 = 30_000;
const FETCH_BYTES: i32 = 8 << 20;
const FRAME_BYTES_MAX: usize = 64 << 20;
/// The bytes of a record batch before its attributes: offset, length, epoch, magic, CRC.
const ATTRIBUTES_AT: usize = 8 + 4 + 4 + 1 + 4;
const LAST_DELTA_AT: usize = ATTRIBUTES_AT + 2;
const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

/// Whether the broker answers Metadata, names itself, and hands out producer ids: Kafka does that last.
pub(crate) fn is_ready(bootstrap: &str) -> Result<bool> {
    // Version 1: a null array asks for all topics, an empty one for none.
    let metadata = call(bootstrap, METADATA, 1, &0_i32.to_be_bytes())?;
    let mut no_transaction = (-1_i16).to_be_bytes().to_vec();
    no_transaction.extend(TIMEOUT_MS.to_be_bytes());
    let producer = call(bootstrap, INIT_PRODUCER_ID, 0, &no_transaction)?;
    let mut producer = Reader(&producer);
    producer.take(4)?;
    Ok(Reader(&metadata).i32()? > 0 && producer.i16()? == 0)
}

/// Creates a topic with one replica.
pub(crate) fn create_topic(
    bootstrap: &str,
    topic: &str,
    partitions: i32,
    settings: &[(&str, &str)],
) -> Result<()> {
    let mut body = 1_i32.to_be_bytes().to_vec();
    string(&mut body, topic)?;
    body.extend(partitions.to_be_bytes());
    body.extend(1_i16.to_be_bytes());
    body.extend(0_i32.to_be_bytes());
    body.extend(i32::try_from(settings.len())?.to_be_bytes());
    for (key, value) in settings {
        string(&mut body, key)?;
        string(&mut body, value)?;
    }
    body.extend(TIMEOUT_MS.to_be_bytes());
    body.push(0);
    let answer = call(bootstrap, CREATE_TOPICS, 2, &body)?;
    let mut answer = Reader(&answer);
    answer.take(4 + 4)?;
    let name = answer.i16()?;
    answer.take(usize::try_from(name)?)?;
    let error = answer.i16()?;
    ensure!(error == 0, "create topic {topic}: error {error}");
    Ok(())
}

/// How many batches of a partition are compressed how.
pub(crate) fn codecs(
    bootstrap: &str,
    topic: &str,
    partition: i32,
) -> Result<BTreeMap<&'static str, usize>> {
    let mut counts = BTreeMap::new();
    let mut offset = 0;
    loop {
        let (high_watermark, batches) = fetch(bootstrap, topic, partition, offset)?;
        let start = offset;
        let mut rest = Reader(&batches);
        while let Some((next, codec)) = batch(&mut rest)? {
            *counts.entry(codec).or_default() += 1;
            offset = next;
        }
        if offset >= high_watermark {
            return Ok(counts);
        }
        ensure!(
            offset > start,
            "a fetch of {topic}-{partition} at {offset} brought no whole batch"
        );
    }
}

/// Reads one batch: the offset after it, and its codec. None when what is left is not a whole one.
fn batch(rest: &mut Reader) -> Result<Option<(i64, &'static str)>> {
    let Some(length) = rest.0.get(8..12) else {
        return Ok(None);
    };
    let length = usize::try_from(i32::from_be_bytes(length.try_into()?))?;
    let Some(mut whole) = rest.0.get(..12 + length).map(Reader) else {
        return Ok(None);
    };
    rest.take(12 + length)?;
    let base_offset = Reader(whole.0).i64()?;
    let last_delta = Reader(
        whole
            .0
            .get(LAST_DELTA_AT..)
            .context("a batch without its header")?,
    )
    .i32()?;
    whole.take(ATTRIBUTES_AT)?;
    let codec = usize::try_from(whole.i16()? & 7)?;
    let codec = CODECS
        .get(codec)
        .with_context(|| format!("codec {codec}"))?;
    Ok(Some((base_offset + i64::from(last_delta) + 1, codec)))
}

/// Fetch version 4: the high watermark and the bytes of the record batches.
fn fetch(bootstrap: &str, topic: &str, partition: i32, offset: i64) -> Result<(i64, Vec<u8>)> {
    let mut body = Vec::new();
    for number in [-1, 100, 1, FETCH_BYTES] {
        body.extend(number.to_be_bytes());
    }
    body.push(0);
    body.extend(1_i32.to_be_bytes());
    string(&mut body, topic)?;
    body.extend(1_i32.to_be_bytes());
    body.extend(partition.to_be_bytes());
    body.extend(offset.to_be_bytes());
    body.extend(FETCH_BYTES.to_be_bytes());
    let answer = call(bootstrap, FETCH, 4, &body)?;
    let mut answer = Reader(&answer);
    answer.take(4 + 4)?;
    let name = answer.i16()?;
    answer.take(usize::try_from(name)? + 4 + 4)?;
    let error = answer.i16()?;
    ensure!(
        error == 0,
        "fetch of {topic}-{partition} at {offset}: error {error}"
    );
    let high_watermark = answer.i64()?;
    answer.i64()?;
    let aborted = usize::try_from(answer.i32()?.max(0))?;
    answer.take(aborted * 16)?;
    let bytes = usize::try_from(answer.i32()?.max(0))?;
    Ok((high_watermark, answer.take(bytes)?.to_vec()))
}

fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    out.extend(i16::try_from(text.len())?.to_be_bytes());
    out.extend(text.as_bytes());
    Ok(())
}

/// Sends one request on a connection of its own, and returns the body of the answer.
fn call(bootstrap: &str, key: i16, version: i16, body: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(bootstrap)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut request = Vec::new();
    request.extend(key.to_be_bytes());
    request.extend(version.to_be_bytes());
    request.extend(0_i32.to_be_bytes());
    string(&mut request, "xtask")?;
    request.extend(body);
    stream.write_all(&u32::try_from(request.len())?.to_be_bytes())?;
    stream.write_all(&request)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(i32::from_be_bytes(length))?;
    ensure!(
        (4..FRAME_BYTES_MAX).contains(&length),
        "an answer of {length} bytes"
    );
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok(answer.split_off(4))
}

/// Reads big-endian integers off the front of a slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (front, back) = self
            .0
            .split_at_checked(count)
            .context("an answer that ends early")?;
        self.0 = back;
        Ok(front)
    }

    fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.take(2)?.try_into()?))
    }

    fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.take(4)?.try_into()?))
    }

    fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.take(8)?.try_into()?))
    }
}
