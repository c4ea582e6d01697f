// Callers: threads with a small stack, since there may be 10,000, or virtual threads.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

final class Callers {
    private final boolean virtual;

    Callers(boolean virtual) {
        this.virtual = virtual;
    }

    /** By reflection, since JDK 17 compiles this and has no virtual threads. */
    void start(Runnable work) throws ReflectiveOperationException {
        if (virtual) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
            return;
        }
        Thread thread = new Thread(null, work, "caller", 1 << 18);
        thread.setDaemon(true);
        thread.start();
    }

    /** Makes the work of each caller one after the other, and then lets all do it at once. */
    interface Work<T> {
        Callable<T> of(int number) throws Exception;
    }

    <T> List<T> together(int count, Work<T> work) throws Exception {
        List<FutureTask<T>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tasks.add(new FutureTask<>(work.of(i)));
        }
        for (FutureTask<T> task : tasks) {
            start(task);
        }
        List<T> results = new ArrayList<>();
        for (FutureTask<T> task : tasks) {
            results.add(task.get());
        }
        return results;
    }
}
