"""confluent-kafka (librdkafka): see ../README.md for the command line and the content."""

import select
import sys

import confluent_kafka
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from content import PARTITIONS, STREAM_VALUE_BYTES, Acks, Job, Mismatch, Pace, Seen, check, headers, key, pattern, value

SILENCE_S = 30


def create(job):
    admin = AdminClient({"bootstrap.servers": job.args.bootstrap})
    for future in admin.create_topics([NewTopic(job.args.topic, PARTITIONS, 1)]).values():
        future.result(30)


def on_delivery(error, message):
    if error is not None:
        raise Mismatch(f"not delivered: {error}")


def write(job):
    create(job)
    producer = Producer(
        {
            "bootstrap.servers": job.args.bootstrap,
            # A retry must not overtake: the order is what the readers check.
            "enable.idempotence": True,
            "compression.type": job.args.codec,
            "linger.ms": 5,
            "queue.buffering.max.messages": 200_000,
        }
    )
    for n in range(job.args.records):
        while True:
            try:
                producer.produce(
                    job.args.topic,
                    key=key(n),
                    value=value(n),
                    partition=n % PARTITIONS,
                    headers=headers(n),
                    timestamp=job.timestamp(n),
                    on_delivery=on_delivery,
                )
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    check("records not flushed", 0, producer.flush(120))
    job.wrote()


def plain(message):
    return Seen(
        message.partition(),
        message.offset(),
        message.key(),
        message.value(),
        message.headers() or [],
        message.timestamp()[1],
    )


def poll(consumer):
    message = consumer.poll(SILENCE_S)
    if message is None:
        raise Mismatch(f"no record for {SILENCE_S} s")
    if message.error():
        raise Mismatch(str(message.error()))
    return plain(message)


def read(job):
    consumer = Consumer(
        {
            "bootstrap.servers": job.args.bootstrap,
            "group.id": "none",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 20,
        }
    )
    topic = job.args.topic

    def assign(*places):
        consumer.assign([TopicPartition(topic, p, offset) for p, offset in places])

    assign(*((p, 0) for p in range(PARTITIONS)))
    job.verify_all(iter(lambda: poll(consumer), None))
    for p, offset in job.seek_points():
        consumer.seek(TopicPartition(topic, p, offset))
        seen = next(seen for seen in iter(lambda: poll(consumer), None) if seen.partition == p)
        check(f"offset sought in partition {p}", offset, seen.offset)
        job.verify(seen)
    job.done("seek by offset")
    for p, timestamp, offset in job.time_points():
        [found] = consumer.offsets_for_times([TopicPartition(topic, p, timestamp)], 30)
        check(f"partition {p} at {timestamp}", confluent_kafka.OFFSET_END if offset is None else offset, found.offset)
        if offset is not None:
            assign((p, found.offset))
            job.verify(poll(consumer))
    job.done("seek by timestamp")
    consumer.close()


def stream(job):
    create(job)
    acks = Acks(job)

    def confirmed(n):
        def on_delivery(error, message):
            if error is not None:
                acks.failed(f"{n}: {error}")
            else:
                acks.confirmed(n, message.offset())

        return on_delivery

    producer = Producer(
        {
            "bootstrap.servers": job.args.bootstrap,
            "enable.idempotence": True,
            "max.in.flight.requests.per.connection": job.args.in_flight,
            "linger.ms": 5,
            "message.timeout.ms": 300_000,
            "reconnect.backoff.max.ms": 500,
            "queue.buffering.max.messages": 1_000_000,
            "log_level": 0,
        }
    )
    pace = Pace(job)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for n in pace.due():
            producer.produce(
                job.args.topic, pattern(n, STREAM_VALUE_BYTES), partition=n % PARTITIONS, on_delivery=confirmed(n)
            )
        producer.poll(0.01)
    check("records not flushed", 0, producer.flush(300))
    acks.close()
    job.done("idempotence")


def main():
    version = f"{confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})"
    job = Job("confluent-kafka", version)
    {"write": write, "read": read, "stream": stream}[job.args.mode](job)
    job.print_report()


main()
