import io.redlatch.Redlatch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/**
 * A store of objects, as S3 and its like, that refuses a writer whose lock is over. Such a store compares no numbers, but writes on
 * the condition that the object still has the version that was read.
 */
public final class Documents {
    private static final class Document {
        private final String text;
        /** The fencing token of its writer. */
        private final long token;
        private final int version;

        private Document(String text, long token, int version) {
            this.text = text;
            this.token = token;
            this.version = version;
        }
    }

    private final Map<String, Document> objects = new ConcurrentHashMap<>();

    private Documents() {}

    private Document get(String key) {
        return objects.getOrDefault(key, new Document("", 0, 0));
    }

    /** Stands for the {@code put} of S3 with {@code If-Match}. */
    private synchronized boolean put(String key, String text, long token, int ifMatch) {
        if (get(key).version != ifMatch) {
            return false;   // 412 Precondition Failed
        }
        objects.put(key, new Document(text, token, ifMatch + 1));
        return true;
    }

    /** Whether the store took it. The token is in the object; the version makes comparing and writing one step. */
    private boolean write(String key, String text, long token) {
        while (true) {
            Document read = get(key);
            if (read.token > token) {
                return false;   // a later holder has written
            }
            if (put(key, text, token, read.version)) {
                return true;
            }
        }
    }

    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379");
        RedissonClient first = Redlatch.connect(url);
        RedissonClient second = Redlatch.connect(url);
        try {
            Documents store = new Documents();
            long old = first.getFencedLock("example:document").lockAndGetToken();

            // Lost while the first process stands still.
            RFencedLock lock = second.getFencedLock("example:document");
            lock.forceUnlock();
            long token = lock.lockAndGetToken();
            try {
                System.out.println("the new writer is taken: " + store.write("report", "new", token));
            } finally {
                lock.unlock();
            }

            System.out.println("the old writer is refused: " + !store.write("report", "old", old));
            if (!store.get("report").text.equals("new")) {
                throw new IllegalStateException("the report is " + store.get("report").text);
            }
        } finally {
            first.shutdown();
            second.shutdown();
        }
    }
}
