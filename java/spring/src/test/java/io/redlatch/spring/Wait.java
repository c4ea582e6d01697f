package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits until a condition holds. */
final class Wait {
    private static final long AT_MOST = TimeUnit.SECONDS.toNanos(20);

    private Wait() {}

    static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + AT_MOST;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                fail("still not so: " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }
}
