import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;

/** One run: its arguments, and what it has shown. */
final class Job {
    private final Map<String, String> arguments = new TreeMap<>();
    private final Set<String> done = new LinkedHashSet<>();

    Job(String[] args) {
        for (int i = 0; i + 1 < args.length; i += 2) arguments.put(args[i], args[i + 1]);
    }

    String text(String name) {
        return Objects.requireNonNull(arguments.get("--" + name), "--" + name);
    }

    long number(String name) {
        return Long.parseLong(text(name));
    }

    boolean lacks(String what) {
        return Arrays.asList(arguments.getOrDefault("--lacks", "").split(",")).contains(what);
    }

    long timestamp(long n) {
        return number("start-ms") + n;
    }

    /** The number of records in a partition. */
    long end(int partition) {
        return (number("records") - partition + Content.PARTITIONS - 1) / Content.PARTITIONS;
    }

    Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", text("bootstrap"));
        return properties;
    }

    void done(String... capabilities) {
        done.addAll(Arrays.asList(capabilities));
    }

    void printReport() throws IOException {
        String list = done.stream().map(c -> '"' + c + '"').collect(Collectors.joining(", "));
        System.out.printf(
                "{\"client\": \"Java\", \"version\": \"%s\", \"done\": [%s], \"cannot\": {}}%n", version(), list);
    }

    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = Admin.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(file);
        }
        return properties.getProperty("version");
    }

    static void check(String what, Object expected, Object found) {
        if (!Objects.deepEquals(expected, found)) {
            throw new IllegalStateException(what + ": expected " + show(expected) + ", found " + show(found));
        }
    }

    private static String show(Object value) {
        return value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(value);
    }
}
