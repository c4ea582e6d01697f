import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The main class of a child JVM that has no threads, or no memory, while answers come. It writes a line when it has none, waits for a line,
 * lets go, and writes the results of its requests.
 */
public final class Scarce {
    private static final int MANY = 600;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final byte[] EXHAUSTED = "exhausted\n".getBytes();

    private final FileInputStream in = new FileInputStream(FileDescriptor.in);
    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

    private Scarce() {}

    /** @param arguments an address, the name of a latch, and what is scarce: {@code threads} or {@code memory} */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setTimeout(60_000);
        RedissonClient client = Redisson.create(config);
        RCountDownLatch latch = client.getCountDownLatch(arguments[1]);
        latch.trySetCount(1);
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            all.add(latch.awaitAsync().toCompletableFuture().handle((nothing, error) -> null));
        }
        Scarce scarce = new Scarce();
        if (arguments[2].equals("threads")) {
            scarce.withoutThreads(end);
        } else {
            scarce.withoutMemory();
        }
        try {
            CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).get(20, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            System.out.print(all.stream().filter(each -> !each.isDone()).count() + " of " + MANY + " are lost, ");
        }
        CompletableFuture<Boolean> asked = client.getLock(arguments[1] + "-lock").isLockedAsync().toCompletableFuture();
        System.out.println(asked.completeOnTimeout(true, 20, TimeUnit.SECONDS).get() ? "nothing is answered any more" : "alive");
        System.exit(0);
    }

    private void withoutThreads(CountDownLatch end) throws Exception {
        List<Thread> threads = takeAllThreads(end);
        out.write(EXHAUSTED);
        awaitLine();
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Starts threads until the system gives no more; they end after {@code end}. */
    static List<Thread> takeAllThreads(CountDownLatch end) {
        List<Thread> threads = new ArrayList<>();
        try {
            while (true) {
                Thread thread = new Thread(() -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        // The thread ends.
                    }
                });
                thread.setDaemon(true);
                thread.start();
                threads.add(thread);
            }
        } catch (OutOfMemoryError e) {
            return threads;
        }
    }

    /** Returns a little later than the line comes. */
    private void awaitLine() throws Exception {
        in.read();
        pause();
    }

    /** That an answer cannot arrive is no event that could be awaited. */
    static void pause() {
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    private void withoutMemory() throws Exception {
        Object[][] room = new Object[1][];
        pause(); // the classes that it needs are loaded: it allocates nothing the second time
        fill(room); // in a frame of its own: nothing else refers to what it makes
        awaitLine();
        room[0] = null;
    }

    private void fill(Object[][] room) throws Exception {
        boolean full = false;
        while (!full || in.available() == 0) {
            try {
                room[0] = new Object[] {room[0]}; // memory that is given back meanwhile is taken again
            } catch (OutOfMemoryError e) {
                if (!full) {
                    out.write(EXHAUSTED);
                }
                full = true;
            }
        }
    }
}
