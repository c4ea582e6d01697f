import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;

/** Locks in the tasks of fork/join pools, whose workers have queues of tasks and may get spare threads beside them. */
class PoolTest extends LockTest {
    @Test
    void more_tasks_than_the_common_pool_has_threads_all_get_the_lock_and_leave_nothing_held() throws Exception {
        assertEquals("0 failed, 1 inside at most, free\nended by itself", run("many"));
    }

    @Test
    void a_worker_that_waits_runs_no_other_task_inside_the_lock() throws Exception {
        assertEquals("0 failed, 1 inside at most, free\nended by itself", run("children"));
    }

    @Test
    void a_worker_that_closes_a_lease_runs_no_other_task_meanwhile() throws Exception {
        assertEquals("0 failed, 0 inside at most, free\nended by itself", run("closing"));
    }

    @Test
    void a_task_of_a_pool_without_a_spare_thread_waits_all_the_same() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 1, MINUTES);
        lock.lock();
        CompletableFuture<Integer> task = CompletableFuture.supplyAsync(() -> {
            lock.lock();
            return lock.getHoldCount();
        }, pool);
        Wait.until("it waits or has failed", () -> server.listeners(name) == 1 || task.isDone());
        lock.unlock();
        assertEquals(1, task.get(20, SECONDS));
        CompletableFuture.runAsync(lock::unlock, pool).get(20, SECONDS);
        pool.shutdown();
        assertTrue(pool.awaitTermination(20, SECONDS));
        assertFalse(lock.isLocked());
    }

    private String run(String work) throws Exception {
        return new Child().option("-Djava.util.concurrent.ForkJoinPool.common.parallelism=4").run(PoolTasks.class, server.url(), work);
    }
}
