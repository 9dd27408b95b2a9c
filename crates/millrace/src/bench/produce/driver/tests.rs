//! A driver against a broker that answers as it is told to.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use bytes::Bytes;
use clap::Parser;
use kafka::wire::messages::{PartitionProduceResponse, ProduceResponse, TopicProduceResponse};
use kafka::wire::{ErrorCode, Request, decode_any_request, encode_response};
use record::BatchHeader;

use super::*;
use crate::bench::produce::ProduceBench;
use crate::client::Producer;

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
enum Say {
    Code(i16),
    /// The connection ends instead of an answer.
    Hang,
    /// There is no answer, and the connection stays.
    Nothing,
}
use Say::{Code, Hang, Nothing};

/// A batch that arrived: partition, base sequence and count of records.
type Arrived = (i32, i32, i32);

/// Answers one request after the other by the script; what is not in it is taken. Ends with the
/// first connection that ends by itself.
fn broker(script: &[Say]) -> (String, JoinHandle<Vec<Arrived>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("an address").to_string();
    let mut script: VecDeque<_> = script.iter().copied().collect();
    #[expect(clippy::disallowed_methods, reason = "the other side of this test")]
    let thread = std::thread::spawn(move || {
        let mut arrived = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().expect("a connection");
            if serve(&mut stream, &mut script, &mut arrived) {
                return arrived;
            }
        }
    });
    (server, thread)
}

/// True when the client has gone although it had its answers.
fn serve(stream: &mut TcpStream, script: &mut VecDeque<Say>, arrived: &mut Vec<Arrived>) -> bool {
    let mut length = [0; 4];
    let mut silent = false;
    while stream.read_exact(&mut length).is_ok() {
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut frame).expect("a frame");
        let (header, request) = decode_any_request(&Bytes::from(frame)).expect("a request");
        let Request::Produce(request) = request else {
            panic!("{request:?}")
        };
        let data = request.topic_data[0].partition_data.iter();
        let batches: Vec<Arrived> = data
            .map(|data| {
                let header = BatchHeader::parse(data.records.as_ref().expect("records"));
                let header = header.expect("a batch");
                (data.index, header.base_sequence.0, header.count)
            })
            .collect();
        arrived.extend(&batches);
        let code = match script.pop_front().unwrap_or(Code(0)) {
            Code(code) => code,
            Hang => return false,
            Nothing => {
                silent = true;
                continue;
            }
        };
        let result = |(index, _, _): &Arrived| PartitionProduceResponse {
            index: *index,
            error_code: ErrorCode(code),
            ..PartitionProduceResponse::default()
        };
        let response = ProduceResponse {
            responses: vec![TopicProduceResponse {
                name: "t".to_owned(),
                partition_responses: batches.iter().map(result).collect(),
                ..TopicProduceResponse::default()
            }],
            ..ProduceResponse::default()
        };
        let answer = encode_response(header.version, header.correlation_id, &response);
        let answer = answer.expect("an answer").to_bytes();
        stream.write_all(&answer).expect("sent");
    }
    !silent
}

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    bench: ProduceBench,
}

/// Sends four batches of two records to one partition, two at a time.
fn run(script: &[Say]) -> (anyhow::Result<Measured>, Vec<Arrived>) {
    let (server, broker) = broker(script);
    let measured = driver(server).run();
    (measured, broker.join().expect("no panic"))
}

fn driver(server: String) -> Driver {
    let words = [
        "bench",
        "t",
        "--records",
        "8",
        "--record-bytes",
        "50",
        "--batch-bytes",
        "200",
        "--in-flight",
        "2",
        "--idempotent",
    ];
    let args = Command::parse_from(words).bench;
    let plan = Plan {
        server,
        partitions: vec![0],
        producer: Some(Producer { id: 1, epoch: 0 }),
        number: 0,
        records: 8,
    };
    let (clock, counters) = (Arc::new(SystemClock::new()), Arc::new(Counters::default()));
    Driver::new(&args, vec![plan], clock, counters).expect("connected")
}

fn sequences(arrived: &[Arrived]) -> Vec<i32> {
    arrived.iter().map(|(_, sequence, _)| *sequence).collect()
}

#[test]
fn what_fails_for_a_time_is_sent_again_in_its_order_with_its_sequences() {
    for code in [14, 6, 5, 3, 7, 56] {
        // The second came behind the first, and so does not fit.
        let (measured, arrived) = run(&[Code(code), Code(45), Code(code), Code(45)]);
        let measured = measured.expect("all confirmed");
        assert_eq!((measured.records, measured.batches), (8, 4), "{code}");
        assert_eq!(measured.retries, 4);
        assert_eq!(sequences(&arrived), [0, 2, 0, 2, 0, 2, 4, 6]);
        assert!(arrived.iter().all(|(_, _, count)| *count == 2));
    }
}

#[test]
fn a_lost_connection_is_made_anew_and_what_had_no_answer_is_sent_again() {
    let (measured, arrived) = run(&[Code(0), Hang, Hang]);
    let measured = measured.expect("all confirmed");
    assert_eq!((measured.records, measured.batches), (8, 4));
    // The first connection's second request had no answer; the broker may not have read the third.
    assert!(measured.retries >= 2, "{}", measured.retries);
    let mut seen = sequences(&arrived);
    assert_eq!(seen[..2], [0, 2]);
    assert_eq!(seen[2], 2);
    assert_eq!(seen[3], 2);
    seen.dedup();
    assert_eq!(seen, [0, 2, 4, 6]);
}

#[test]
fn a_batch_that_the_broker_has_already_is_confirmed_when_it_was_sent_again() {
    let (measured, arrived) = run(&[Code(7), Code(45), Code(46)]);
    assert_eq!(measured.expect("all confirmed").records, 8);
    assert_eq!(sequences(&arrived), [0, 2, 0, 2, 4, 6]);
    let (measured, _) = run(&[Code(46)]);
    let error = format!("{:#}", measured.expect_err("nothing was sent before"));
    assert!(error.contains("DUPLICATE_SEQUENCE_NUMBER (46)"), "{error}");
}

#[test]
fn an_error_for_good_ends_the_run_and_is_named() {
    for (code, name) in [
        (10, "MESSAGE_TOO_LARGE (10)"),
        (45, "OUT_OF_ORDER_SEQUENCE_NUMBER (45)"),
        (47, "INVALID_PRODUCER_EPOCH (47)"),
    ] {
        let (measured, _) = run(&[Code(0), Code(code)]);
        let error = format!("{:#}", measured.expect_err("refused"));
        assert!(error.contains(name), "{error}");
        assert!(error.contains("partition 0 refused a batch"), "{error}");
    }
}

#[test]
fn a_request_without_an_answer_is_sent_again_on_a_new_connection() {
    let (server, broker) = broker(&[Code(0), Nothing, Nothing]);
    let mut driver = driver(server);
    driver.timeouts.answer = Duration::from_millis(200);
    let measured = driver.run().expect("all confirmed");
    assert_eq!((measured.records, measured.batches), (8, 4));
    assert!(measured.retries >= 2, "{}", measured.retries);
    broker.join().expect("no panic");
}

#[test]
fn an_interrupt_ends_the_wait_for_answers_with_what_was_measured() {
    let (server, _) = broker(&[Code(0), Nothing, Nothing, Nothing]);
    let mut driver = driver(server);
    driver.timeouts.interrupt = Duration::from_millis(100);
    let counters = driver.counters.clone();
    #[expect(clippy::disallowed_methods, reason = "the person of this test")]
    let person = std::thread::spawn(move || {
        while counters.records.load(std::sync::atomic::Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        counters
            .stop
            .store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let measured = driver.run().expect("ended");
    assert_eq!((measured.records, measured.batches), (2, 1));
    person.join().expect("no panic");
}
