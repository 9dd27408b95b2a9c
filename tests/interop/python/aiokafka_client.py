"""aiokafka: see ../README.md for the command line and the content."""

import asyncio
import sys

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from content import PARTITIONS, STREAM_VALUE_BYTES, Acks, Job, Pace, Seen, both_null, check, headers, key, pattern, value

CANNOT = {"null key with null value": "send refuses a record without key and value"}
SILENCE_S = 30
# How long send waits for room while nothing can be sent.
OUTAGE_MS = 300_000


async def create(job):
    admin = AIOKafkaAdminClient(bootstrap_servers=job.args.bootstrap)
    await admin.start()
    response = await admin.create_topics([NewTopic(job.args.topic, PARTITIONS, 1)])
    check("errors of create_topics", [0], [topic[1] for topic in response.topic_errors])
    await admin.close()


async def write(job):
    await create(job)
    codec = None if job.args.codec == "none" else job.args.codec
    producer = AIOKafkaProducer(
        bootstrap_servers=job.args.bootstrap, acks="all", enable_idempotence=True, compression_type=codec, linger_ms=5
    )
    await producer.start()
    futures = [
        await producer.send(
            job.args.topic,
            key=b"" if both_null(n) else key(n),
            value=value(n),
            headers=headers(n),
            partition=n % PARTITIONS,
            timestamp_ms=job.timestamp(n),
        )
        for n in range(job.args.records)
    ]
    for n, future in enumerate(futures):
        check(f"offset of record {n}", n // PARTITIONS, (await future).offset)
    await producer.stop()
    job.wrote()


def plain(record):
    return Seen(record.partition, record.offset, record.key, record.value, list(record.headers), record.timestamp)


async def read_all(job, consumer):
    records = []
    while len(records) < job.args.records:
        fetched = await asyncio.wait_for(consumer.getmany(timeout_ms=1000), SILENCE_S)
        records += [plain(record) for batch in fetched.values() for record in batch]
    job.verify_all(iter(records))


async def read_one(consumer, place, offset):
    consumer.assign([place])
    consumer.seek(place, offset)
    return plain(await asyncio.wait_for(consumer.getone(place), SILENCE_S))


async def read(job):
    consumer = AIOKafkaConsumer(
        bootstrap_servers=job.args.bootstrap,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="none",
        fetch_max_wait_ms=20,
    )
    await consumer.start()
    places = [TopicPartition(job.args.topic, p) for p in range(PARTITIONS)]
    consumer.assign(places)
    await consumer.seek_to_beginning()
    await read_all(job, consumer)
    for p, offset in job.seek_points():
        seen = await read_one(consumer, places[p], offset)
        check(f"offset sought in partition {p}", offset, seen.offset)
        job.verify(seen)
    job.done("seek by offset")
    for p, timestamp, offset in job.time_points():
        found = (await consumer.offsets_for_times({places[p]: timestamp}))[places[p]]
        check(f"partition {p} at {timestamp}", offset, found and found.offset)
        if found:
            job.verify(await read_one(consumer, places[p], found.offset))
    job.done("seek by timestamp")
    await consumer.stop()


async def stream(job):
    await create(job)
    acks = Acks(job)

    def noted(n):
        def on_done(future):
            if future.exception() is not None:
                acks.failed(f"{n}: {future.exception()}")
            else:
                acks.confirmed(n, future.result().offset)

        return on_done

    # It has one request under way by itself, whatever --in-flight allows.
    producer = AIOKafkaProducer(
        bootstrap_servers=job.args.bootstrap,
        acks="all",
        enable_idempotence=True,
        linger_ms=5,
        request_timeout_ms=OUTAGE_MS,
    )
    await producer.start()
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    pace = Pace(job)
    while not ended.done():
        for n in pace.due():
            value = pattern(n, STREAM_VALUE_BYTES)
            future = await producer.send(job.args.topic, value, partition=n % PARTITIONS)
            future.add_done_callback(noted(n))
        await asyncio.sleep(0.005)
    await producer.flush()
    await producer.stop()
    acks.close()
    job.done("idempotence")


async def main():
    job = Job("aiokafka", aiokafka.__version__, cannot=CANNOT)
    await {"write": write, "read": read, "stream": stream}[job.args.mode](job)
    job.print_report()


asyncio.run(main())
