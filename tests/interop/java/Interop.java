import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Apache Kafka's Java client: see ../README.md for the command line and the content. */
public final class Interop {
    private static final Duration SILENCE = Duration.ofSeconds(30);

    public static void main(String[] args) throws Exception {
        Job job = new Job(args);
        switch (job.text("mode")) {
            case "write" -> write(job);
            case "read" -> read(job);
            case "stream" -> Stream.write(job);
            case "verify" -> Stream.verify(job);
            default -> throw new IllegalArgumentException(job.text("mode"));
        }
        job.printReport();
    }

    static void create(Job job) throws Exception {
        try (Admin admin = Admin.create(job.properties())) {
            NewTopic topic = new NewTopic(job.text("topic"), Content.PARTITIONS, (short) 1);
            admin.createTopics(List.of(topic)).all().get();
        }
    }

    static KafkaProducer<byte[], byte[]> producer(Properties properties) {
        properties.put("acks", "all");
        properties.put("linger.ms", "5");
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static void write(Job job) throws Exception {
        create(job);
        Properties properties = job.properties();
        properties.put("compression.type", job.text("codec"));
        List<Future<RecordMetadata>> sends = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = producer(properties)) {
            for (long n = 0; n < job.number("records"); n++) {
                sends.add(producer.send(new ProducerRecord<>(
                        job.text("topic"),
                        (int) (n % Content.PARTITIONS),
                        job.timestamp(n),
                        Content.key(n),
                        Content.value(n),
                        Content.headers(n))));
            }
            producer.flush();
            for (int n = 0; n < sends.size(); n++) {
                Job.check("offset of record " + n, (long) n / Content.PARTITIONS, sends.get(n).get().offset());
            }
        }
        job.done("create topic", "codec " + job.text("codec"), "null and empty keys", "null and empty values");
        job.done("null key with null value", "headers", "repeated headers", "null header values", "timestamps");
    }

    private static void read(Job job) {
        try (Reader reader = new Reader(job)) {
            reader.all();
            job.done("read in order");
            reader.byOffset();
            job.done("seek by offset");
            reader.byTimestamp();
            job.done("seek by timestamp");
        }
    }

    /** A consumer without a group, and the records it has fetched and not handed over. */
    static final class Reader implements AutoCloseable {
        private final Job job;
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final List<TopicPartition> places;
        private Iterator<ConsumerRecord<byte[], byte[]>> fetched = List.<ConsumerRecord<byte[], byte[]>>of().iterator();

        Reader(Job job) {
            this.job = job;
            Properties properties = job.properties();
            properties.put("auto.offset.reset", "none");
            properties.put("enable.auto.commit", "false");
            properties.put("fetch.max.wait.ms", "20");
            consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            places = IntStream.range(0, Content.PARTITIONS)
                    .mapToObj(p -> new TopicPartition(job.text("topic"), p))
                    .toList();
        }

        ConsumerRecord<byte[], byte[]> next() {
            if (!fetched.hasNext()) fetched = consumer.poll(SILENCE).iterator();
            if (!fetched.hasNext()) throw new IllegalStateException("no record for " + SILENCE);
            return fetched.next();
        }

        void startAtBeginning() {
            consumer.assign(places);
            consumer.seekToBeginning(places);
        }

        long end(int partition) {
            return consumer.endOffsets(List.of(places.get(partition))).get(places.get(partition));
        }

        private void all() {
            startAtBeginning();
            long[] following = new long[Content.PARTITIONS];
            for (long left = job.number("records"); left > 0; left--) {
                ConsumerRecord<byte[], byte[]> record = next();
                Job.check("next offset of " + record.partition(), following[record.partition()]++, record.offset());
                Content.verify(record, job);
            }
        }

        private void one(int partition, long offset) {
            fetched = List.<ConsumerRecord<byte[], byte[]>>of().iterator();
            consumer.assign(List.of(places.get(partition)));
            consumer.seek(places.get(partition), offset);
            ConsumerRecord<byte[], byte[]> record = next();
            Job.check("offset sought in partition " + partition, offset, record.offset());
            Content.verify(record, job);
        }

        private void byOffset() {
            for (int p = 0; p < Content.PARTITIONS; p++) {
                one(p, job.end(p) / 2);
                one(p, job.end(p) - 1);
            }
        }

        private void byTimestamp() {
            long n = job.number("records") / 3;
            for (int p = 0; p < Content.PARTITIONS; p++) {
                if (job.lacks("timestamps")) {
                    byTimestamp(p, 0, 0L);
                    continue;
                }
                byTimestamp(p, job.timestamp(n), -Math.floorDiv(p - n, (long) Content.PARTITIONS));
                byTimestamp(p, job.timestamp(job.number("records")), null);
            }
        }

        private void byTimestamp(int partition, long timestamp, Long offset) {
            OffsetAndTimestamp found =
                    consumer.offsetsForTimes(Map.of(places.get(partition), timestamp)).get(places.get(partition));
            Job.check("partition " + partition + " at " + timestamp, offset, found == null ? null : found.offset());
            if (found != null) one(partition, found.offset());
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
