"""kcat, the command-line tool on Debian's librdkafka: see ../README.md for the command line and the content.

It writes with one call per partition, keys and values cut by delimiters that the content never holds. So it streams as well:
six calls, each an idempotent producer that lives from the first record to the last.
"""

import re
import select
import subprocess
import sys
import threading

from confluent_kafka.admin import AdminClient, NewTopic

from content import PARTITIONS, STREAM_VALUE_BYTES, Acks, Job, Pace, Seen, check, key, pattern, value

NO_HEADERS = "-H sets the same headers for all records of a call"
KEY_END = b"|key|"
RECORD_END = b"|end|\n"
# %K, %R and %S print lengths, -1 for null; lengths and not delimiters tell where a field ends.
FORMAT = "%p %o %T %K %S\n%k%s%h\n"
DELIVERED = re.compile(rb"% Message delivered to partition (\d+) \(offset (\d+)\)")
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


def note(acks, partition, said):
    """Takes down what a call says of its deliveries: one line each, in the order in which it read the records."""
    n = partition
    for line in said:
        if found := DELIVERED.match(line):
            check("partition of a delivery", partition, int(found[1]))
            acks.confirmed(n, int(found[2]))
            n += PARTITIONS
        elif b"Delivery failed" in line:
            acks.failed(f"partition {partition}: {line.decode(errors='replace')}")


class Call:
    """A call of kcat that produces to one partition what it is handed."""

    def __init__(self, job, partition, acks):
        words = ["-P", "-E", "-v", "-v", "-b", job.args.bootstrap, "-t", job.args.topic, "-p", str(partition)]
        settings = {
            "enable.idempotence": "true",
            "max.in.flight.requests.per.connection": job.args.in_flight,
            "linger.ms": 5,
            "message.timeout.ms": 300_000,
            "reconnect.backoff.max.ms": 500,
        }
        options = [word for name, setting in settings.items() for word in ("-X", f"{name}={setting}")]
        command = ["kcat", *words, "-D", RECORD_END.decode(), *options]
        self.program = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.notes = threading.Thread(target=note, args=(acks, partition, self.program.stderr), daemon=True)
        self.notes.start()

    def end(self):
        """Waits until everything is delivered."""
        self.program.stdin.close()
        self.notes.join(300)
        check("status of kcat", 0, self.program.wait(10))


def stream(job):
    create_topic(job)
    acks = Acks(job)
    calls = [Call(job, p, acks) for p in range(PARTITIONS)]
    pace = Pace(job)
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        for n in pace.due():
            calls[n % PARTITIONS].program.stdin.write(pattern(n, STREAM_VALUE_BYTES) + RECORD_END)
    for call in calls:
        call.end()
    acks.close()
    with open(job.args.acks, encoding="ascii") as lines:
        check("confirmed records", pace.sent, sum(1 for _ in lines))
    job.done("idempotence")


def main():
    job = Job("kcat", version(), cannot=CANNOT)
    {"write": write, "read": read, "stream": stream}[job.args.mode](job)
    job.print_report()


main()
