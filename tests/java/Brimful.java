import io.redlatch.Job;
import io.redlatch.Lease;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The main class of a child JVM whose heap is full to the brim when the server grants a lock. It writes a line when it may begin and one when
 * the heap is full, and then how the acquire has ended. If its caller has the lock, the caller releases it before that.
 */
public final class Brimful {
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);
    private static final byte[] EXHAUSTED = "exhausted\n".getBytes();
    /** The first tickets of requests are objects that the JVM has anyway. */
    private static final int WARM = 300;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final int LARGE = 8 * 8 * 8 * 8;

    private static final int RUNS = 0;
    private static final int TAKEN = 1;
    private static final int NO_MEMORY = 2;

    private static volatile int outcome = RUNS;
    private static volatile boolean hasRoom;

    /** Something to acquire. What it needs for the release is made before the acquire. */
    private abstract static class Use {
        abstract void take() throws Exception;

        abstract void release();
    }

    private Brimful() {}

    /**
     * @param arguments an address, a name, and what is acquired: {@code lock}, {@code token}, {@code permit}, {@code lease}, {@code job},
     *        {@code interrupted}
     */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setTimeout(60_000);
        RedissonClient client = Redisson.create(config);
        Use warm = use(client, arguments[1] + "-warm", arguments[2]);
        Objects.requireNonNull(Throwable.class); // an error is caught only by a class that need not be looked up
        hasRoom = true;
        for (int i = 0; i < WARM; i++) {
            acquire(warm);
        }
        hasRoom = false;
        outcome = RUNS;
        boolean isInterrupted = arguments[2].equals("interrupted");
        Use use = use(client, arguments[1], arguments[2]);
        Object[][] room = new Object[1][];
        OUT.write("ready\n".getBytes());
        System.in.read();
        Thread caller = new Thread(() -> acquire(use));
        caller.start();
        Wait.until("the request is on its way", () -> isInterrupted ? caller.getState() == Thread.State.WAITING : isInside(caller));
        fill(room, isInterrupted ? caller : null);
        room[0] = null;
        hasRoom = true;
        caller.join(20_000);
        System.out.println(caller.isAlive() ? "hangs" : outcome == TAKEN ? "taken, and released" : "no memory");
        System.in.read();
        System.exit(0);
    }

    private static Use use(RedissonClient client, String name, String kind) {
        RFencedLock lock = client.getFencedLock(name);
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        switch (kind) {
            case "permit":
                semaphore.trySetPermits(1);
                return new Use() {
                    private String id;

                    @Override
                    void take() {
                        id = semaphore.tryAcquire();
                    }

                    @Override
                    void release() {
                        semaphore.release(id);
                    }
                };
            case "lease":
                return new Use() {
                    private Lease lease;

                    @Override
                    void take() {
                        lease = Lease.lock(lock);
                    }

                    @Override
                    void release() {
                        lease.close();
                    }
                };
            case "job":
                Job job = Job.of(client, name, Duration.ofMinutes(1));
                return new Use() {
                    @Override
                    void take() {
                        job.run(() -> {});
                    }

                    @Override
                    void release() {
                        // The run has ended.
                    }
                };
            default:
                return new Use() {
                    @Override
                    void take() throws Exception {
                        if (kind.equals("token")) {
                            lock.lockAndGetToken();
                        } else if (kind.equals("interrupted")) {
                            lock.lockInterruptibly();
                        } else {
                            lock.lock();
                        }
                    }

                    @Override
                    void release() {
                        lock.unlock();
                    }
                };
        }
    }

    private static boolean isInside(Thread caller) {
        StackTraceElement[] stack = caller.getStackTrace();
        return stack.length > 0 && stack[0].getClassName().equals("io.redlatch.internal.Native") && stack[0].getMethodName().equals("start");
    }

    private static void acquire(Use use) {
        int ended = NO_MEMORY;
        try {
            use.take();
            ended = TAKEN;
        } catch (Throwable e) {
            // For want of memory, or it was interrupted and there was memory for that news: then nothing may be held.
        }
        outcome = ended;
        while (!hasRoom) {
            LockSupport.parkNanos(1_000_000);
        }
        if (ended == TAKEN) {
            use.release();
        }
    }

    /** Takes all memory, in ever smaller pieces, and keeps it until the acquire has ended, or for long. Interrupts {@code caller} meanwhile. */
    private static void fill(Object[][] room, Thread caller) throws Exception {
        int size = LARGE;
        long end = 0;
        while (end == 0 || outcome == RUNS && System.nanoTime() < end) {
            try {
                Object[] more = new Object[size];
                more[0] = room[0];
                room[0] = more; // memory that is given back meanwhile is taken again
            } catch (OutOfMemoryError e) {
                if (size > 1) {
                    size /= 8;
                } else if (end == 0) {
                    if (caller != null) {
                        caller.interrupt();
                    }
                    OUT.write(EXHAUSTED);
                    end = System.nanoTime() + PATIENCE_NANOS;
                }
            }
        }
    }
}
