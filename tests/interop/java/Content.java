import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** The rule of the content: see ../README.md. */
final class Content {
    static final int PARTITIONS = 6;
    static final int STREAM_VALUE_BYTES = 100;

    private Content() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] key(long n) {
        if (n % 7 == 0) return null;
        if (n % 7 == 1) return new byte[0];
        byte[] text = ascii("key-" + n);
        byte[] key = Arrays.copyOf(text, text.length + 2);
        key[text.length + 1] = (byte) 0xff;
        return key;
    }

    static byte[] pattern(long n, int size) {
        byte[] bytes = ByteBuffer.allocate(size).putLong(n).array();
        long step = n % 13 + 1;
        for (int i = 8; i < size; i++) bytes[i] = (byte) (n + i * step);
        return bytes;
    }

    static byte[] value(long n) {
        if (n % 11 == 0) return null;
        if (n % 11 == 1) return new byte[0];
        return pattern(n, n % 1000 == 500 ? 20_000 : (int) (16 + n * 37 % 400));
    }

    static List<Header> headers(long n) {
        return switch ((int) (n % 5)) {
            case 0 -> List.of();
            case 1 -> List.of(header("h", ascii("v" + n)));
            case 2 -> List.of(header("same", ascii("1")), header("same", ascii("2")), header("same", null));
            case 3 -> List.of(header("empty", new byte[0]));
            default -> List.of(
                    header("bytes", new byte[] {0, (byte) 0xff, (byte) 0x80, (byte) n}),
                    header("bytes", ascii("again")),
                    header("empty", new byte[0]),
                    header("none", null));
        };
    }

    /** What a reader finds when the writer could not express everything. */
    private static List<Header> writtenHeaders(long n, Job job) {
        List<Header> full = headers(n);
        if (job.lacks("headers")) return List.of();
        List<Header> filled = new ArrayList<>();
        for (Header h : full) filled.add(h.value() == null ? header(h.key(), new byte[0]) : h);
        if (job.lacks("null-headers")) return filled;
        if (job.lacks("map-headers")) {
            TreeMap<String, Header> map = new TreeMap<>();
            for (Header h : filled) map.put(h.key(), h);
            return List.copyOf(map.values());
        }
        return full;
    }

    /** Compares one record with the rule, byte for byte. */
    static void verify(ConsumerRecord<byte[], byte[]> record, Job job) {
        long n = record.offset() * PARTITIONS + record.partition();
        String at = record.topic() + "-" + record.partition() + "@" + record.offset();
        byte[] value = value(n);
        boolean nothing = value == null || value.length == 0;
        boolean filled = value == null && job.lacks("both-null") || nothing && job.lacks("keyless-empty");
        byte[] key = key(n);
        Job.check(at + " key", key == null && filled ? new byte[0] : key, record.key());
        if (value == null && job.lacks("null-values")) value = new byte[0];
        Job.check(at + " value", value, record.value());
        List<Header> headers = writtenHeaders(n, job);
        List<Header> found = Arrays.asList(record.headers().toArray());
        if (!headers.equals(found)) {
            throw new IllegalStateException(at + " headers: expected " + headers + ", found " + found);
        }
        if (!job.lacks("timestamps")) Job.check(at + " timestamp", job.timestamp(n), record.timestamp());
    }

    private static Header header(String name, byte[] value) {
        return new RecordHeader(name, value);
    }
}
