package io.redlatch.internal;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The threads {@code redlatch-callbacks-…}, on which users' code runs: continuations of futures, listeners, logs.
 *
 * <p>A few threads do the work of many short tasks. A task that runs for long is taken to block, and another thread comes in its place, so
 * that no task waits for another one to end. The news that a lock is lost overtakes all other tasks. One thread is kept as long as there are
 * clients; the others end soon.
 */
final class Callbacks {
    static final Callbacks THREADS = new Callbacks();

    /** So many tasks that may be short run at the same time; as many as those that block, if these are more. */
    private static final int FEW = Math.max(2, Runtime.getRuntime().availableProcessors());
    /** A task that runs for longer is taken to block. */
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private final ArrayDeque<Task> urgent = new ArrayDeque<>();
    /** The tasks that run and may be short, in the order of their beginning. */
    private final ArrayDeque<Task> young = new ArrayDeque<>();
    private long names;
    private int threads;
    /** Threads without a task. While tasks wait there is one at least, which sees to it that they begin, unless one is missing. */
    private int idle;
    /** Whether the system had no thread for tasks that wait. {@link Completions} asks it again until it has one. */
    private volatile boolean isMissing;

    private Callbacks() {}

    /**
     * Runs {@code work} soon on one of the threads, with that context class loader.
     *
     * <p>If the system has no further thread, {@code work} waits until it has one, or until one of ours has nothing to do.
     *
     * @throws OutOfMemoryError if none of the threads lives and the system gives none, or for want of memory; {@code work} will not run then
     */
    void execute(Runnable work, ClassLoader loader) {
        add(tasks, new Task(work, loader));
    }

    /** As {@link #execute}, before all other tasks. */
    void executeFirst(Runnable work, ClassLoader loader) {
        add(urgent, new Task(work, loader));
    }

    /** Starts the thread that is kept. */
    void open() {
        lock.lock();
        try {
            if (threads == 0) {
                startOne();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread that is kept if the last client was closed. */
    void closed() {
        lock.lock();
        try {
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether tasks wait for a thread that the system has not given yet. */
    boolean isMissing() {
        return isMissing;
    }

    /** Starts the thread that is missing, if the system has one now. False: it is still missing. */
    boolean startMissing() {
        lock.lock();
        try {
            if (idle == 0 && isAnyWaiting()) {
                startOne();
            }
            isMissing = false;
            return true;
        } catch (Throwable e) { // the system has none, or the JVM no memory
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void add(ArrayDeque<Task> queue, Task task) {
        lock.lock();
        try {
            queue.addLast(task);
            try {
                if (idle == 0) {
                    startOrMiss();
                }
                more.signal();
            } catch (Throwable e) {
                queue.removeLast();
                throw e;
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isAnyWaiting() {
        return !urgent.isEmpty() || !tasks.isEmpty();
    }

    /** Starts a thread for tasks that wait. Where the system has none, the threads there are do without it until {@link #startMissing}. */
    private void startOrMiss() {
        if (isMissing) {
            return;
        }
        try {
            startOne();
        } catch (Throwable e) {
            if (threads == 0) {
                throw e;
            }
            isMissing = true;
            try {
                Completions.waitForThread();
            } catch (Throwable unseen) {
                isMissing = false;
                throw unseen;
            }
        }
    }

    private void startOne() {
        OwnThreads.make("redlatch-callbacks-" + (names + 1), new Worker()).start();
        names++;
        threads++;
        idle++;
    }

    static final class Task {
        final Runnable work;
        final ClassLoader loader;
        long begun;

        Task(Runnable work, ClassLoader loader) {
            this.work = work;
            this.loader = loader;
        }

        void run() {
            Thread thread = Thread.currentThread();
            try {
                Thread.interrupted(); // meant for a task that has ended
                thread.setContextClassLoader(loader);
                UserCode.run(work);
            } catch (Throwable e) {
                // The handler of uncaught exceptions has failed as well, so that no handler is left for this exception.
            } finally {
                thread.setContextClassLoader(null);
            }
        }
    }

    final class Worker implements Runnable {
        /** Null: this thread is idle. */
        private Task running;

        @Override
        public void run() {
            while (true) {
                try {
                    Task task = next();
                    if (task == null) {
                        return;
                    }
                    task.run();
                } catch (Throwable e) { // of the JVM, for want of memory
                    LockSupport.parkNanos(SHORT_NANOS);
                }
            }
        }

        /** The next task; null: the thread ends. */
        private Task next() {
            lock.lock();
            try {
                if (running != null) {
                    young.removeFirstOccurrence(running);
                    running = null;
                    idle++;
                }
                long end = System.nanoTime() + KEPT_NANOS;
                while (true) {
                    if (begin(System.nanoTime())) {
                        return running;
                    }
                    long now = System.nanoTime();
                    if (isAnyWaiting()) {
                        sleep(young.peekFirst().begun + SHORT_NANOS - now);
                    } else if (threads == 1 && Completions.hasClients()) {
                        more.awaitUninterruptibly();
                    } else if (end > now && Completions.hasClients()) {
                        sleep(end - now);
                    } else {
                        idle--;
                        threads--;
                        return null;
                    }
                }
            } finally {
                lock.unlock();
            }
        }

        /** False: there is no task, or it has to wait. */
        private boolean begin(long now) {
            ArrayDeque<Task> queue = urgent.isEmpty() ? tasks : urgent;
            if (queue.isEmpty() || queue == tasks && !mayBegin(now)) {
                return false;
            }
            if (urgent.size() + tasks.size() > 1 && idle == 1) {
                startOrMiss(); // this one's task might keep the others waiting for ever
            }
            Task task = queue.peekFirst();
            task.begun = now;
            young.addLast(task);
            queue.pollFirst();
            running = task;
            idle--;
            if (isAnyWaiting()) {
                more.signal();
            }
            return true;
        }

        private boolean mayBegin(long now) {
            while (!young.isEmpty() && now - young.peekFirst().begun >= SHORT_NANOS) {
                young.pollFirst();
            }
            int blocked = threads - idle - young.size();
            return young.size() < Math.max(FEW, blocked);
        }

        private void sleep(long nanos) {
            try {
                more.awaitNanos(nanos);
            } catch (InterruptedException e) {
                // The interrupt was meant for a task that has ended.
            }
        }
    }
}
