import java.io.FileWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The streamed topic: an idempotent producer that outlives the broker, and the proof that nothing was lost or doubled. */
final class Stream {
    private Stream() {}

    static void write(Job job) throws Exception {
        Interop.create(job);
        Properties properties = job.properties();
        properties.put("enable.idempotence", "true");
        properties.put("max.in.flight.requests.per.connection", job.text("in-flight"));
        properties.put("delivery.timeout.ms", "300000");
        properties.put("max.block.ms", "300000");
        properties.put("reconnect.backoff.max.ms", "500");
        Queue<String> acks = new ConcurrentLinkedQueue<>();
        Queue<String> failures = new ConcurrentLinkedQueue<>();
        try (Writer file = new FileWriter(job.text("acks"));
                KafkaProducer<byte[], byte[]> producer = Interop.producer(properties)) {
            long started = System.nanoTime();
            long sent = 0;
            Thread input = stdin();
            while (input.isAlive()) {
                long due = (System.nanoTime() - started) / 1_000 * job.number("rate") / 1_000_000;
                for (; sent < due; sent++) send(producer, job.text("topic"), sent, acks, failures);
                drain(acks, file);
                TimeUnit.MILLISECONDS.sleep(5);
            }
            producer.flush();
            drain(acks, file);
        }
        Job.check("failed records", List.of(), List.copyOf(failures));
        job.done("idempotence");
    }

    /** A thread that lives until standard input ends. */
    private static Thread stdin() {
        Thread thread = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void send(
            KafkaProducer<byte[], byte[]> producer, String topic, long n, Queue<String> acks, Queue<String> failures) {
        byte[] value = Content.pattern(n, Content.STREAM_VALUE_BYTES);
        int partition = (int) (n % Content.PARTITIONS);
        producer.send(new ProducerRecord<>(topic, partition, null, value), (metadata, error) -> {
            if (error != null) failures.add(n + ": " + error);
            else acks.add(n + " " + metadata.offset() + "\n");
        });
    }

    private static void drain(Queue<String> acks, Writer file) throws Exception {
        for (String line = acks.poll(); line != null; line = acks.poll()) file.write(line);
        file.flush();
    }

    /** Every record that the file names is at its offset, every partition is gapless and in order, nothing comes twice. */
    static void verify(Job job) throws Exception {
        long[] confirmed = new long[Content.PARTITIONS];
        for (String line : Files.readAllLines(Path.of(job.text("acks")))) {
            String[] parts = line.split(" ");
            long n = Long.parseLong(parts[0]);
            long offset = Long.parseLong(parts[1]);
            Job.check("confirmed offset of " + n, n / Content.PARTITIONS, offset);
            confirmed[(int) (n % Content.PARTITIONS)]++;
        }
        try (Interop.Reader reader = new Interop.Reader(job)) {
            long left = 0;
            for (int p = 0; p < Content.PARTITIONS; p++) {
                Job.check("records in partition " + p, confirmed[p], reader.end(p));
                left += confirmed[p];
            }
            reader.startAtBeginning();
            long[] following = new long[Content.PARTITIONS];
            for (; left > 0; left--) {
                ConsumerRecord<byte[], byte[]> record = reader.next();
                Job.check("next offset of " + record.partition(), following[record.partition()]++, record.offset());
                long n = record.offset() * Content.PARTITIONS + record.partition();
                Job.check("value at " + record.offset(), Content.pattern(n, Content.STREAM_VALUE_BYTES), record.value());
            }
        }
        job.done("read in order");
    }
}
