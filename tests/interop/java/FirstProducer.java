import java.util.Properties;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** One record, by the plainest calls of the client. The system property `bootstrap` replaces localhost:9092. */
public final class FirstProducer {
    private static final String SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer";

    public static void main(String[] args) {
        Properties settings = new Properties();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, System.getProperty("bootstrap", "localhost:9092"));
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, SERIALIZER);
        settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, SERIALIZER);

        Producer<String, String> producer = new KafkaProducer<>(settings);
        producer.send(new ProducerRecord<>("my_topic", "Hello, Kafka!"), new Callback() {
            @Override
            public void onCompletion(RecordMetadata place, Exception failure) {
                if (failure == null) {
                    System.out.println("Message sent successfully: " + place);
                } else {
                    System.out.println("Failed to send message: " + failure.getMessage());
                }
            }
        });
        producer.close();
    }
}
