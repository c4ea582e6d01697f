import io.redlatch.Redlatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** At most three downloads at once, however many processes there are: each takes a permit, which ends by itself if its process dies. */
public final class Downloads {
    private Downloads() {}

    private static void download(RPermitExpirableSemaphore downloads, int file) {
        try {
            String permit = downloads.acquire(60, TimeUnit.SECONDS);   // the id by which any program can release it
            try {
                System.out.println("file " + file + " under permit " + permit);
                Thread.sleep(20);
            } finally {
                downloads.release(permit);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient client = Redlatch.connect(System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379"));
        try {
            RPermitExpirableSemaphore downloads = client.getPermitExpirableSemaphore("example:downloads");
            downloads.trySetPermits(3);   // without this there are none, and every acquire waits
            Thread[] threads = IntStream.rangeClosed(1, 9)
                    .mapToObj(file -> new Thread(() -> download(downloads, file)))
                    .toArray(Thread[]::new);
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(downloads.availablePermits() + " of " + downloads.getPermits() + " permits are there again");
            if (downloads.availablePermits() != downloads.getPermits()) {
                throw new IllegalStateException("a permit is missing");
            }
        } finally {
            client.shutdown();
        }
    }
}
