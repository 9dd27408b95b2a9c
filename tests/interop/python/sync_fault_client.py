"""confluent-kafka against a broker whose disk fails: see ../README.md.

`stream` sends without retries until --refused records were refused, or until --records were confirmed where nothing may be
refused. `verify` reads everything back. The file --acks holds a line `number offset` for each confirmed record.
"""

import argparse
import os
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from content import STREAM_VALUE_BYTES, Mismatch, check, pattern

PARTITIONS = 3
TIME_LIMIT_S = 120
# Enough to have several requests under way at any time.
RATE = 2000


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["stream", "verify"], required=True)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--acks", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--refused", type=int, default=0)
    return parser.parse_args()


class Outcomes:
    """What became of the records, in the order in which the client was told."""

    def __init__(self, acks):
        self.acks = acks
        self.confirmed = 0
        self.refused = 0

    def of(self, n):
        def on_delivery(error, message):
            if error is None:
                if self.refused:
                    raise Mismatch(f"record {n} was confirmed after others were refused")
                self.confirmed += 1
                self.acks.write(f"{n} {message.offset()}\n")
                self.acks.flush()
            elif error.code() != KafkaError.KAFKA_STORAGE_ERROR:
                raise Mismatch(f"record {n}: {error}")
            else:
                self.refused += 1

        return on_delivery


def stream(args):
    if not os.path.exists(args.acks):
        admin = AdminClient({"bootstrap.servers": args.bootstrap})
        admin.create_topics([NewTopic(args.topic, PARTITIONS, 1)])[args.topic].result(30)
    with open(args.acks, "a", encoding="ascii") as acks:
        outcomes = Outcomes(acks)
        producer = Producer(
            {
                "bootstrap.servers": args.bootstrap,
                "acks": "all",
                # The broker's own answer is wanted.
                "message.send.max.retries": 0,
                "linger.ms": 2,
            }
        )
        sent, started = args.first, time.monotonic()

        def is_done():
            return outcomes.refused >= args.refused if args.refused else sent == args.first + args.records

        while not is_done():
            if time.monotonic() - started > TIME_LIMIT_S:
                raise Mismatch(f"{outcomes.confirmed} confirmed and {outcomes.refused} refused within {TIME_LIMIT_S} s")
            due = args.first + int((time.monotonic() - started) * RATE)
            for n in range(sent, due if args.refused else min(due, args.first + args.records)):
                value = pattern(n, STREAM_VALUE_BYTES)
                producer.produce(args.topic, value, partition=n % PARTITIONS, on_delivery=outcomes.of(n))
                sent = n + 1
            producer.poll(0.005)
        check("records without an outcome", 0, producer.flush(60))
    if not args.refused:
        check("refused records", 0, outcomes.refused)
    check("records with an outcome", sent - args.first, outcomes.confirmed + outcomes.refused)
    print(f"{sent} {outcomes.confirmed} {outcomes.refused}")


def verify(args):
    with open(args.acks, encoding="ascii") as acks:
        confirmed = dict(map(int, line.split()) for line in acks)
    consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": "none", "enable.auto.commit": False})
    unconfirmed = 0
    for partition in range(PARTITIONS):
        place = TopicPartition(args.topic, partition, 0)
        low, high = consumer.get_watermark_offsets(place, 30)
        check(f"first offset of partition {partition}", 0, low)
        consumer.assign([place])
        last = -1
        for offset in range(high):
            message = consumer.poll(30)
            if message is None or message.error():
                raise Mismatch(f"partition {partition} at {offset}: {message and message.error()}")
            check(f"offset in partition {partition}", offset, message.offset())
            n = int.from_bytes(message.value()[:8], "big")
            check(f"record {n}", pattern(n, STREAM_VALUE_BYTES), message.value())
            check(f"partition of record {n}", partition, n % PARTITIONS)
            if n <= last:
                raise Mismatch(f"partition {partition}: record {n} stands behind {last}")
            last = n
            if n in confirmed:
                check(f"offset of record {n}", confirmed.pop(n), offset)
            else:
                unconfirmed += 1
    consumer.close()
    check("confirmed records that are gone", {}, confirmed)
    print(unconfirmed)


def main():
    args = arguments()
    {"stream": stream, "verify": verify}[args.mode](args)


main()
