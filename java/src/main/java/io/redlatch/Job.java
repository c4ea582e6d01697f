package io.redlatch;

import io.redlatch.internal.JobSource;
import io.redlatch.internal.OwnKinds;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import org.redisson.api.RedissonClient;

/**
 * Work that a timer starts on every node, and that one of them does: once a period, among all nodes.
 *
 * <pre>{@code
 * Job report = Job.of(client, "report", Duration.ofMinutes(10)).atLeast(Duration.ofSeconds(50));
 * JobRun<Void> run = report.run(this::sendReport); // RAN here; SKIPPED on the other nodes
 * }</pre>
 *
 * <p>A job takes a lock that no node waits for. The node that gets it runs the work, and the others skip. While the work runs, its client renews the
 * lock. A job that calls itself is skipped inside. Any number of objects and threads may run jobs of one name: one at a time does.
 *
 * <p>The lock is the token lock {@code job-lock:<env>:<name>}, as the Redis providers of ShedLock write it: a node with ShedLock and one with this
 * class exclude each other. ShedLock without its {@code safeUpdate} may delete the key of another node; the run hears of that as a loss.
 *
 * <p>An interrupt ends no run: the thread's flag stays set, and the work heeds it or not. However the work ends, the lock is let go. Failures
 * are the exceptions of {@code org.redisson}, as for locks. A server that cannot be asked at the end of a run is none: the client logs a warning, and
 * goes on to free the key. The shutdown of the client ends the locks of its runs.
 */
public final class Job {
    /** A shorter time would be over before the client believed in the lock. */
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final String PREFIX = "job-lock:";
    /** The environment of jobs that name none. */
    private static final String ENV = "default";

    private final OwnKinds client;
    private final String name;
    private final String env;
    private final Duration atMost;
    private final Duration atLeast;
    private final JobSource source;
    private final LongAdder ran = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private final LongAdder lost = new LongAdder();

    private Job(OwnKinds client, String name, String env, Duration atMost, Duration atLeast) {
        Objects.requireNonNull(atLeast, "the least time of the job `" + name + "` is null; leave it out, or give a time");
        if (atLeast.isNegative()) {
            throw new IllegalArgumentException("the least time of the job `" + name + "` is " + atLeast + "; give zero or more");
        }
        if (atLeast.compareTo(atMost) > 0) {
            throw new IllegalArgumentException("the job `" + name + "` is to keep its lock for at least " + atLeast + " and at most " + atMost
                    + "; let atLeast be no longer than atMost");
        }
        this.client = client;
        this.name = name;
        this.env = env;
        this.atMost = atMost;
        this.atLeast = atLeast;
        this.source = client.job(PREFIX + env + ":" + name);
    }

    /**
     * The job of that name, in the environment {@code default}. Asks nothing of the server.
     *
     * @param atMost for how long the server keeps the lock of a node that dies in the middle, 100 ms or more. While the node lives, it renews the lock
     *        every third of this time, so the work may take longer
     * @throws IllegalArgumentException if the name is empty, {@code atMost} is shorter than 100 ms, or {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     * @throws UnsupportedOperationException if the client's server is no Redis
     */
    public static Job of(RedissonClient client, String name, Duration atMost) {
        OwnKinds own = OwnKinds.of(client, Job.class);
        Objects.requireNonNull(name, "the name of a job is null; give a text");
        Objects.requireNonNull(atMost, "the longest time of the job `" + name + "` is null; give a time");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of a job is empty; give it a text");
        }
        if (atMost.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("the longest time of the job `" + name + "` is " + atMost + "; give 100 ms or more");
        }
        return new Job(own, name, ENV, atMost, Duration.ZERO);
    }

    /**
     * The same job, which keeps its lock for this time, counted from the beginning of a run, even if the work ends before: nodes whose clocks are apart
     * by less do not run it twice. It counts after an exception of the work as well. Default: zero. The new object counts from zero.
     *
     * @throws IllegalArgumentException if it is longer than {@code atMost}, or negative
     */
    public Job atLeast(Duration atLeast) {
        return new Job(client, name, env, atMost, atLeast);
    }

    /**
     * The same job in another environment: jobs of one name in two environments do not exclude each other. Default: {@code default}, as ShedLock's.
     * The new object counts from zero.
     *
     * @throws IllegalArgumentException if it is empty
     */
    public Job env(String env) {
        Objects.requireNonNull(env, "the environment of the job `" + name + "` is null; leave it out, or give a text");
        if (env.isEmpty()) {
            throw new IllegalArgumentException("the environment of the job `" + name + "` is empty; give it a text");
        }
        return new Job(client, name, env, atMost, atLeast);
    }

    /** The job's name. */
    public String getName() {
        return name;
    }

    /** Runs {@code work} unless another run of the job has the lock; otherwise as {@link #call(JobWork)}. */
    public JobRun<Void> run(Runnable work) {
        Objects.requireNonNull(work, "the work of a job is null");
        return call(hold -> {
            work.run();
            return null;
        });
    }

    /** Runs {@code work} unless another run of the job has the lock; otherwise as {@link #call(JobWork)}. */
    public <T> JobRun<T> call(Callable<T> work) throws Exception {
        Objects.requireNonNull(work, "the work of a job is null");
        return call(hold -> work.call());
    }

    /**
     * Runs {@code work} on this thread unless another run of the job has the lock, and returns at once if one has. The work gets the hold of the lock,
     * of which {@link Hold#ensure} and {@link Hold#onLost} tell a loss: the library does not stop it.
     *
     * @throws E as the work throws it, after the lock was let go; a loss is a suppressed exception of it
     * @throws IllegalArgumentException if the server cannot keep such a lock: the name or {@code atMost} is too long for it
     * @throws org.redisson.client.RedisException if the server cannot be asked for the lock, or refuses it; the work does not run
     * @throws org.redisson.RedissonShutdownException if the client was shut down
     */
    public <T, E extends Exception> JobRun<T> call(JobWork<T, E> work) throws E {
        Objects.requireNonNull(work, "the work of a job is null");
        JobSource.Run run;
        try {
            run = source.begin(Lease.saturated(atMost), Lease.saturated(atLeast));
        } catch (LockLostException loss) { // before the work began
            lost.increment();
            return new JobRun<>(JobOutcome.LOST, null, loss);
        }
        if (run == null) {
            skipped.increment();
            return new JobRun<>(JobOutcome.SKIPPED, null, null);
        }
        T value;
        try {
            value = work.run(run.hold().seenBy(Hold::new));
        } catch (Throwable failure) {
            endAfter(failure, run);
            throw failure;
        }
        LockLostException loss = end(run);
        return new JobRun<>(loss == null ? JobOutcome.RAN : JobOutcome.LOST, value, loss);
    }

    /** What this object's runs have answered so far. */
    public JobStats stats() {
        return new JobStats(ran.sum(), skipped.sum(), lost.sum());
    }

    private void endAfter(Throwable failure, JobSource.Run run) {
        try {
            LockLostException loss = end(run);
            if (loss != null && !(failure instanceof LockLostException)) {
                failure.addSuppressed(loss);
            }
        } catch (Throwable atEnd) {
            failure.addSuppressed(atEnd);
        }
    }

    /** Null: it was not lost. */
    private LockLostException end(JobSource.Run run) {
        LockLostException loss = null;
        try {
            loss = run.end();
            return loss;
        } finally {
            (loss == null ? ran : lost).increment();
        }
    }
}
