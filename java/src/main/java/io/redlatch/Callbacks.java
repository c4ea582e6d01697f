package io.redlatch;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The threads {@code redlatch-callbacks-…}, on which users' code runs: continuations of futures, listeners, logs.
 *
 * <p>A few threads do the work of many short tasks. When tasks block, more threads are started, so that no task waits for another one to
 * end. The news that a lock is lost overtakes all other tasks. One thread is kept as long as there are clients; the others end soon.
 */
final class Callbacks {
    static final Callbacks THREADS = new Callbacks();

    /** So many tasks run at the same time as long as they end soon. */
    private static final int FEW = Math.max(2, Runtime.getRuntime().availableProcessors());
    /** If fewer tasks have ended for so long than run, while others wait, the running ones block: twice as many may run. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private final ArrayDeque<Task> urgent = new ArrayDeque<>();
    private long names;
    private int threads;
    /** Threads without a task. */
    private int idle;
    private int allowed = FEW;
    /** How many tasks have ended since the last look, and when the next one is due. */
    private int ended;
    private long look;

    private Callbacks() {}

    /**
     * Runs {@code work} soon on one of the threads, with that context class loader.
     *
     * @throws OutOfMemoryError if there is no thread and the system gives none; {@code work} will not run then
     */
    void execute(Runnable work, ClassLoader loader) {
        add(tasks, new Task(work, loader));
    }

    /** As {@link #execute}, before everything else. */
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

    /** The last client may have been closed. */
    void closed() {
        lock.lock();
        try {
            more.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void add(ArrayDeque<Task> queue, Task task) {
        lock.lock();
        try {
            if (threads == 0) {
                startOne();
            }
            if (tasks.isEmpty()) {
                ended = 0;
                look = System.nanoTime() + LOOK_NANOS;
            }
            queue.addLast(task);
            callHelp();
        } finally {
            lock.unlock();
        }
    }

    /** Has a thread without a task look at what waits. */
    private void callHelp() {
        if (idle > 0) {
            more.signal();
            return;
        }
        try {
            startOne();
        } catch (Throwable e) {
            // The other threads come to it as soon as they can.
        }
    }

    private void startOne() {
        OwnThreads.make("redlatch-callbacks-" + (names + 1), new Worker()).start();
        names++;
        threads++;
        idle++;
    }

    private static final class Task {
        final Runnable work;
        final ClassLoader loader;

        Task(Runnable work, ClassLoader loader) {
            this.work = work;
            this.loader = loader;
        }

        void run() {
            Thread thread = Thread.currentThread();
            try {
                thread.setContextClassLoader(loader);
                UserCode.run(work);
            } catch (Throwable e) {
                // The handler of uncaught exceptions has failed as well: no place is left to tell of it.
            } finally {
                thread.setContextClassLoader(null);
            }
        }
    }

    private final class Worker implements Runnable {
        private boolean isIdle = true;

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
                    LockSupport.parkNanos(LOOK_NANOS);
                }
            }
        }

        /** Null: the thread is to end. */
        private Task next() {
            lock.lock();
            try {
                if (!isIdle) {
                    isIdle = true;
                    idle++;
                    ended++;
                }
                long end = System.nanoTime() + KEPT_NANOS;
                while (true) {
                    Task task = take();
                    if (task != null) {
                        isIdle = false;
                        idle--;
                        if (!urgent.isEmpty() || !tasks.isEmpty()) {
                            callHelp();
                        }
                        return task;
                    }
                    long now = System.nanoTime();
                    if (!tasks.isEmpty()) {
                        sleep(look - now);
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

        /** Null: nothing is to be done, or the others do it. */
        private Task take() {
            if (!urgent.isEmpty()) {
                return urgent.pollFirst();
            }
            int busy = threads - idle;
            if (tasks.isEmpty()) {
                allowed = FEW;
            } else if (busy >= allowed && System.nanoTime() >= look) {
                allowed = ended < busy ? 2 * busy : allowed;
                ended = 0;
                look = System.nanoTime() + LOOK_NANOS;
            }
            return busy < allowed ? tasks.pollFirst() : null;
        }

        private void sleep(long nanos) {
            try {
                more.awaitNanos(nanos);
            } catch (InterruptedException e) {
                // An interrupt was meant for a task that has ended.
            }
        }
    }
}
