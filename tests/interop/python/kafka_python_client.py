"""kafka-python: see ../README.md for the command line and the content."""

import select
import sys

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from content import PARTITIONS, STREAM_VALUE_BYTES, Acks, Job, Pace, Seen, both_null, check, headers, key, pattern, value

CANNOT = {
    "null key with null value": "send refuses a record without key and value",
    "null header values": "send refuses a header value that is not bytes",
}
SILENCE_MS = 30_000
OUTAGE_MS = 300_000


def create(job):
    admin = KafkaAdminClient(bootstrap_servers=job.args.bootstrap)
    topics = {job.args.topic: {"num_partitions": PARTITIONS, "replication_factor": 1}}
    admin.create_topics(topics, wait_for_metadata=True)
    admin.close()


def write(job):
    topic = job.args.topic
    create(job)
    codec = None if job.args.codec == "none" else job.args.codec
    producer = KafkaProducer(bootstrap_servers=job.args.bootstrap, acks="all", compression_type=codec, linger_ms=5)
    futures = [
        producer.send(
            topic,
            key=b"" if both_null(n) else key(n),
            value=value(n),
            headers=[(name, value or b"") for name, value in headers(n)],
            partition=n % PARTITIONS,
            timestamp_ms=job.timestamp(n),
        )
        for n in range(job.args.records)
    ]
    producer.flush(120)
    for n, future in enumerate(futures):
        check(f"offset of record {n}", n // PARTITIONS, future.get(30).offset)
    producer.close()
    job.wrote()


def plain(record):
    return Seen(record.partition, record.offset, record.key, record.value, list(record.headers), record.timestamp)


def read(job):
    consumer = KafkaConsumer(
        bootstrap_servers=job.args.bootstrap,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="none",
        consumer_timeout_ms=SILENCE_MS,
        fetch_max_wait_ms=20,
    )
    places = [TopicPartition(job.args.topic, p) for p in range(PARTITIONS)]
    consumer.assign(places)
    consumer.seek_to_beginning()
    job.verify_all(map(plain, consumer))
    for p, offset in job.seek_points():
        consumer.assign([places[p]])
        consumer.seek(places[p], offset)
        seen = plain(next(consumer))
        check(f"offset sought in partition {p}", offset, seen.offset)
        job.verify(seen)
    job.done("seek by offset")
    for p, timestamp, offset in job.time_points():
        found = consumer.offsets_for_times({places[p]: timestamp})[places[p]]
        check(f"partition {p} at {timestamp}", offset, found and found.offset)
        if found:
            consumer.assign([places[p]])
            consumer.seek(places[p], found.offset)
            job.verify(plain(next(consumer)))
    job.done("seek by timestamp")
    consumer.close()


def stream(job):
    topic = job.args.topic
    create(job)
    acks = Acks(job)
    producer = KafkaProducer(
        bootstrap_servers=job.args.bootstrap,
        acks="all",
        enable_idempotence=True,
        max_in_flight_requests_per_connection=job.args.in_flight,
        linger_ms=5,
        delivery_timeout_ms=OUTAGE_MS,
        max_block_ms=OUTAGE_MS,
        reconnect_backoff_max_ms=500,
    )
    pace = Pace(job)
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        for n in pace.due():
            future = producer.send(topic, value=pattern(n, STREAM_VALUE_BYTES), partition=n % PARTITIONS)
            future.add_callback(lambda metadata, n=n: acks.confirmed(n, metadata.offset))
            future.add_errback(lambda error, n=n: acks.failed(f"{n}: {error}"))
    producer.flush(300)
    producer.close()
    acks.close()
    job.done("idempotence")


def main():
    job = Job("kafka-python", kafka.__version__, cannot=CANNOT)
    {"write": write, "read": read, "stream": stream}[job.args.mode](job)
    job.print_report()


main()
