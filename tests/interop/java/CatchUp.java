import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads a topic from its start as fast as the broker gives it, by assignment: what Kafka's ConsumerPerformance
 * measures, which subscribes and so needs a group. Its settings are that tool's.
 */
public final class CatchUp {
    private static final Duration SILENCE = Duration.ofSeconds(30);

    public static void main(String[] args) {
        Job job = new Job(args);
        Properties properties = job.properties();
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        properties.put("receive.buffer.bytes", "2097152");
        properties.put("max.partition.fetch.bytes", "1048576");
        properties.put("check.crcs", "false");
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties, bytes, bytes)) {
            List<TopicPartition> places = consumer.partitionsFor(job.text("topic")).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(places);
            consumer.seekToBeginning(places);
            read(consumer, job.number("records"));
        }
    }

    private static void read(KafkaConsumer<byte[], byte[]> consumer, long wanted) {
        long records = 0;
        long size = 0;
        long started = System.nanoTime();
        while (records < wanted) {
            long before = records;
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(SILENCE)) {
                records++;
                size += record.value().length;
            }
            if (records == before) throw new IllegalStateException("no record for " + SILENCE);
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        System.out.printf("{\"records\": %d, \"bytes\": %d, \"seconds\": %.3f}%n", records, size, seconds);
    }
}
