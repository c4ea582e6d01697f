import io.redlatch.Hold;
import io.redlatch.Holds;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The main class of a child JVM whose one callback thread is occupied when another callback comes, for which the system has no thread. It
 * writes the results of the two.
 */
public final class Occupied {
    /** Owners that are no threads of this JVM. */
    private static final long FIRST = 1_000_000_001;
    private static final long SECOND = 1_000_000_002;
    private static final long PATIENCE_S = 20;

    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch next = new CountDownLatch(1);
    private final RedissonClient client;
    private final String name;

    private Occupied(RedissonClient client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * @param arguments an address, a name for locks, what the first callback waits for, {@code answer} of a server or {@code next} callback,
     *        and what the next callback is: {@code continuation} of a future or {@code loss}
     */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setTimeout(60_000);
        Occupied occupied = new Occupied(Redisson.create(config), arguments[1]);
        System.out.println(occupied.run(arguments[2].equals("answer"), arguments[3].equals("loss")));
        System.exit(0);
    }

    private String run(boolean forAnAnswer, boolean isLoss) throws Exception {
        RLock wanted = client.getLock(name + "-wanted");
        wanted.lock();
        occupy(forAnAnswer ? () -> awaitAnswer(wanted) : this::awaitNext);
        CountDownLatch enough = new CountDownLatch(1);
        List<Thread> taken = Scarce.takeAllThreads(enough);
        if (isLoss) {
            lose();
        } else {
            completeNext();
        }
        Scarce.pause(); // that the next callback cannot begin is no event that could be awaited
        if (callbackThreads() != 1) {
            return callbackThreads() + " callback threads, which proves nothing";
        }
        if (forAnAnswer) {
            wanted.unlock();
        } else {
            enough.countDown();
            for (Thread thread : taken) {
                thread.join();
            }
        }
        return (ended.await(PATIENCE_S, TimeUnit.SECONDS) ? "the first callback ended" : "the first callback still waits")
                + (next.await(PATIENCE_S, TimeUnit.SECONDS) ? ", the next one ran" : ", the next one never ran");
    }

    private void occupy(Runnable work) throws InterruptedException {
        RLock gate = client.getLock(name + "-gate");
        gate.lock();
        gate.lockAsync(FIRST).thenRun(work);
        gate.unlock();
        began.await();
    }

    private void awaitAnswer(RLock wanted) {
        began.countDown();
        wanted.lock();
        wanted.unlock();
        ended.countDown();
    }

    private void awaitNext() {
        began.countDown();
        try {
            next.await();
            ended.countDown();
        } catch (InterruptedException e) {
            // The callback has not ended.
        }
    }

    private void completeNext() throws Exception {
        RLock behind = client.getLock(name + "-behind");
        behind.lock();
        behind.lockAsync(SECOND).thenRun(next::countDown);
        behind.unlock();
        Wait.until("the next answer is on its way", () -> behind.isHeldByThread(SECOND));
    }

    private void lose() throws Exception {
        RLock lost = client.getLock(name + "-lost");
        lost.lock(50, TimeUnit.MILLISECONDS);
        Hold hold = Holds.of(lost);
        hold.onLost(loss -> next.countDown());
        Wait.until("the hold is lost", hold::isLost);
    }

    private static long callbackThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("redlatch-callbacks-")).count();
    }
}
