"""kcat, the command-line tool on Debian's librdkafka: see ../README.md for the command line and the content.

It writes with one call per partition, keys and values cut by delimiters that the content never holds.
"""

import subprocess

from confluent_kafka.admin import AdminClient, NewTopic

from content import PARTITIONS, Job, Seen, check, key, value

NO_HEADERS = "-H sets the same headers for all records of a call"
KEY_END = b"|key|"
RECORD_END = b"|end|\n"
# %K, %R and %S print lengths, -1 for null; lengths and not delimiters tell where a field ends.
FORMAT = "%p %o %T %K %S\n%k%s%h\n"
CANNOT = {
    "headers": NO_HEADERS,
    "repeated headers": NO_HEADERS,
    "null header values": NO_HEADERS,
    "timestamps": "no option sets them",
    "null key with null value": "a line without key and value is no record",
    "create topic": "only by the broker's automatic creation, with its number of partitions",
}


def kcat(job, *words, **more):
    command = ["kcat", "-q", "-b", job.args.bootstrap, *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300, **more).stdout


def version():
    line = subprocess.run(["kcat", "-V"], check=True, stdout=subprocess.PIPE, text=True).stdout
    words = line.split()
    return f"{words[words.index('Version') + 1]} (librdkafka {words[words.index('librdkafka') + 1]})"


def create_topic(job):
    admin = AdminClient({"bootstrap.servers": job.args.bootstrap})
    for future in admin.create_topics([NewTopic(job.args.topic, PARTITIONS, 1)]).values():
        future.result(30)


def line(n):
    text = value(n) or b""
    if key(n) is None and text:
        return text + RECORD_END
    return (key(n) or b"") + KEY_END + text + RECORD_END


def write(job):
    create_topic(job)
    codec = [] if job.args.codec == "none" else ["-z", job.args.codec]
    for p in range(PARTITIONS):
        lines = b"".join(map(line, job.numbers(p)))
        ends = ["-K", KEY_END.decode(), "-D", RECORD_END.decode()]
        kcat(job, "-P", "-t", job.args.topic, "-p", str(p), "-X", "enable.idempotence=true", *codec, *ends, input=lines)
    job.wrote()


def consume(job, partition, start, count):
    """The output for `count` records of one partition."""
    words = ["-C", "-e", "-t", job.args.topic, "-p", str(partition), "-o", str(start), "-f", FORMAT]
    return kcat(job, *words, "-X", "fetch.wait.max.ms=20", "-c", str(count))


def parse(job, output):
    """Cuts kcat's output into records, each verified in passing: its headers are known by what they must be."""
    while output:
        first, _, rest = output.partition(b"\n")
        partition, offset, timestamp, key_size, value_size = map(int, first.split())
        found_key, rest = cut(rest, key_size)
        found_value, rest = cut(rest, value_size)
        headers = job.expected_headers(offset * PARTITIONS + partition)
        text = b",".join(map(printed, headers)) + b"\n"
        check(f"headers at {partition}@{offset}", text, rest[: len(text)])
        output = rest[len(text) :]
        yield Seen(partition, offset, found_key, found_value, headers, timestamp)


def printed(header):
    """A header as kcat prints it: the value only up to its first zero byte."""
    name, data = header
    return name.encode() + b"=" + (b"NULL" if data is None else data.partition(b"\0")[0])


def cut(data, size):
    return (None, data) if size < 0 else (data[:size], data[size:])


def all_records(job):
    for p in range(PARTITIONS):
        yield from parse(job, consume(job, p, "beginning", job.end(p)))


def read_one(job, partition, start):
    [seen] = parse(job, consume(job, partition, start, 1))
    job.verify(seen)
    return seen


def read(job):
    job.verify_all(all_records(job))
    for p, offset in job.seek_points():
        check(f"offset sought in partition {p}", offset, read_one(job, p, offset).offset)
    job.done("seek by offset")
    for p, timestamp, offset in job.time_points():
        found = kcat(job, "-Q", "-t", f"{job.args.topic}:{p}:{timestamp}").decode()
        # A search that finds nothing answers with the end, which librdkafka calls -1.
        check(f"partition {p} at {timestamp}", -1 if offset is None else offset, int(found.rsplit(" ", 1)[1]))
        if offset is not None:
            check(f"offset sought in partition {p}", offset, read_one(job, p, f"s@{timestamp}").offset)
    job.done("seek by timestamp")


def main():
    job = Job("kcat", version(), cannot=CANNOT)
    {"write": write, "read": read}[job.args.mode](job)
    job.print_report()


main()
