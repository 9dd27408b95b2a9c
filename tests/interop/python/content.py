"""The rule of the content (see ../README.md) and what the Python programs share."""

import argparse
import json
import threading
import time
from dataclasses import dataclass

PARTITIONS = 6
STREAM_VALUE_BYTES = 100


def key(n):
    if n % 7 == 0:
        return None
    return b"" if n % 7 == 1 else b"key-%d\x00\xff" % n


def pattern(n, size):
    step = n % 13 + 1
    return n.to_bytes(8, "big") + bytes((n + i * step) & 0xFF for i in range(8, size))


def both_null(n):
    return n % 77 == 0


def value(n):
    if n % 11 == 0:
        return None
    if n % 11 == 1:
        return b""
    return pattern(n, 20_000 if n % 1000 == 500 else 16 + n * 37 % 400)


def headers(n):
    return [
        [],
        [("h", b"v%d" % n)],
        [("same", b"1"), ("same", b"2"), ("same", None)],
        [("empty", b"")],
        [("bytes", bytes([0, 0xFF, 0x80, n & 0xFF])), ("bytes", b"again"), ("empty", b""), ("none", None)],
    ][n % 5]


@dataclass
class Seen:
    """A record as a client handed it over, in plain types."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: list
    timestamp_ms: int


class Mismatch(Exception):
    pass


def check(what, expected, actual):
    if expected != actual:
        raise Mismatch(f"{what}: expected {expected!r}, found {actual!r}")


class Acks:
    """The file that names the confirmed records, complete at every line; threads may share it."""

    def __init__(self, job):
        self.file = open(job.args.acks, "a", buffering=1, encoding="ascii")
        self.lock = threading.Lock()
        self.failures = []

    def confirmed(self, n, offset):
        with self.lock:
            self.file.write(f"{n} {offset}\n")

    def failed(self, what):
        self.failures.append(what)

    def close(self):
        self.file.close()
        check("failed records", [], self.failures)


class Pace:
    """Which records are due at the rate that was asked for."""

    def __init__(self, job):
        self.rate = job.args.rate
        self.started = time.monotonic()
        self.sent = 0

    def due(self):
        """The numbers that have become due since the last call."""
        first = self.sent
        self.sent = max(first, int((time.monotonic() - self.started) * self.rate))
        return range(first, self.sent)


class Job:
    """One run: the arguments and the record of what was done."""

    def __init__(self, client, version, **extra):
        parser = argparse.ArgumentParser()
        parser.add_argument("--mode", required=True, choices=["write", "read", "stream"])
        parser.add_argument("--bootstrap", required=True)
        parser.add_argument("--topic", required=True)
        parser.add_argument("--records", type=int, default=100_000)
        parser.add_argument("--codec", default="none")
        parser.add_argument("--start-ms", type=int, required=True)
        parser.add_argument("--lacks", default="")
        parser.add_argument("--acks")
        parser.add_argument("--rate", type=int, default=1000)
        parser.add_argument("--in-flight", type=int, default=5)
        self.args = parser.parse_args()
        self.lacks = set(filter(None, self.args.lacks.split(",")))
        self.report = {"client": client, "version": version, "done": [], "cannot": extra.get("cannot", {})}

    def done(self, *capabilities):
        self.report["done"] += capabilities

    def wrote(self):
        """Everything that a complete writer has shown."""
        self.done("create topic", f"codec {self.args.codec}", "null and empty keys", "null and empty values")
        self.done("null key with null value", "headers", "repeated headers", "null header values", "timestamps")

    def print_report(self):
        cannot = self.report["cannot"]
        self.report["done"] = [c for c in dict.fromkeys(self.report["done"]) if c not in cannot]
        print(json.dumps(self.report))

    def numbers(self, partition):
        return range(partition, self.args.records, PARTITIONS)

    def timestamp(self, n):
        return self.args.start_ms + n

    def end(self, partition):
        """The number of records in a partition."""
        return len(self.numbers(partition))

    def expected_key(self, n):
        if key(n) is None and not value(n) and "keyless-empty" in self.lacks:
            return b""
        if both_null(n) and "both-null" in self.lacks:
            return b""
        return key(n)

    def expected_headers(self, n):
        full = headers(n)
        if "headers" in self.lacks:
            return []
        if "null-headers" in self.lacks:
            return [(name, value or b"") for name, value in full]
        if "map-headers" in self.lacks:
            return sorted({name: value or b"" for name, value in full}.items())
        return full

    def verify(self, seen):
        """Compares one record with the rule, byte for byte."""
        n = seen.offset * PARTITIONS + seen.partition
        at = f"{self.args.topic}-{seen.partition}@{seen.offset}"
        check(f"{at} key", self.expected_key(n), seen.key)
        wanted = value(n)
        if wanted is None and "null-values" in self.lacks:
            wanted = b""
        check(f"{at} value", wanted, seen.value)
        check(f"{at} headers", self.expected_headers(n), [(k, v) for k, v in seen.headers])
        if "timestamps" not in self.lacks:
            check(f"{at} timestamp", self.timestamp(n), seen.timestamp_ms)

    def verify_all(self, records):
        """Takes an iterator over all records; each partition must come complete and in order."""
        following = [0] * PARTITIONS
        missing = self.args.records
        for seen in records:
            check(f"{self.args.topic}-{seen.partition} next offset", following[seen.partition], seen.offset)
            self.verify(seen)
            following[seen.partition] += 1
            missing -= 1
            if missing == 0:
                break
        check("records missing", 0, missing)
        self.done("read in order")

    def seek_points(self):
        """(partition, offset) pairs to seek to: the middle and the last record of each partition."""
        for p in range(PARTITIONS):
            yield p, self.end(p) // 2
            yield p, self.end(p) - 1

    def time_points(self):
        """(partition, timestamp, offset expected or None) for the search by timestamp."""
        if "timestamps" in self.lacks:
            return [(p, 0, 0) for p in range(PARTITIONS)]
        n = self.args.records // 3
        inner = [(p, self.timestamp(n), -(-(n - p) // PARTITIONS)) for p in range(PARTITIONS)]
        past = [(p, self.timestamp(self.args.records), None) for p in range(PARTITIONS)]
        return inner + past
