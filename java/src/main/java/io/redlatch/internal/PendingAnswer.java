package io.redlatch.internal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The answer that threads wait for. No {@link java.util.concurrent.CompletableFuture}: while a worker of a fork/join pool waits for a future,
 * it runs other tasks, which have its thread id and so would enter the lock that it waits for.
 */
final class PendingAnswer implements ForkJoinPool.ManagedBlocker, Consumer<Answer> {
    private static final long LOOK_MS = 10;

    final Long ticket;
    private final CountDownLatch came = new CountDownLatch(1);
    private volatile Answer answer;
    /** The next step with the answer; guarded by this. */
    private Consumer<Answer> next;

    PendingAnswer(Long ticket) {
        this.ticket = ticket;
    }

    boolean isDone() {
        return answer != null;
    }

    @Override
    public void accept(Answer answer) {
        complete(answer);
    }

    /** The first answer counts. Wakes all waiting threads, then runs what {@link #then} was given; if that throws, calling this again repeats it. */
    void complete(Answer answer) {
        Consumer<Answer> work;
        synchronized (this) {
            if (this.answer == null) {
                this.answer = answer;
            }
            work = next;
        }
        came.countDown();
        if (work != null) {
            work.accept(this.answer);
            synchronized (this) {
                next = null;
            }
        }
    }

    /** Has {@code work} run once with the answer, on the thread that brings it or on this one. Only one work can be given. */
    void then(Consumer<Answer> work) {
        synchronized (this) {
            if (answer == null) {
                next = work;
                return;
            }
        }
        work.accept(answer);
    }

    /** Waits until the answer is there. */
    Answer awaitInterruptibly() throws InterruptedException {
        if (Thread.currentThread() instanceof ForkJoinWorkerThread) {
            try {
                ForkJoinPool.managedBlock(this); // the pool may get a spare thread
            } catch (InterruptedException e) {
                throw e;
            } catch (Throwable e) {
                came.await(); // the pool, or the system, has no spare thread: the wait goes on without one
            }
        } else {
            came.await();
        }
        return answer;
    }

    /** Waits through interrupts and sets the thread's flag again. */
    Answer await() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return awaitInterruptibly();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits through interrupts until the answer is there or {@code looks} times {@link #LOOK_MS} have passed, and sets the thread's flag
     * again. The time is counted in looks: a machine that stands still uses up one of them, and not all.
     */
    void awaitAtMost(int looks) {
        boolean interrupted = false;
        for (int left = looks; left > 0 && !isDone(); left--) {
            try {
                came.await(LOOK_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
                left++;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean block() throws InterruptedException {
        came.await();
        return true;
    }

    @Override
    public boolean isReleasable() {
        return isDone();
    }
}
