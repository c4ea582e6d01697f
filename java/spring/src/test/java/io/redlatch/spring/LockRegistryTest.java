package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.integration.support.locks.LockRegistry;

/** The registry for Spring Integration. */
@SuppressWarnings({"rawtypes", "unchecked"})
class LockRegistryTest extends LockedTest {
    @Test
    void keys_are_locks_that_applications_share() throws Exception {
        try (var one = Apps.start(Whole.class, "redlatch.url=" + server.url(), "redlatch.lock-registry.prefix=order:");
                var other = Apps.start(Whole.class, "redlatch.url=" + server.url(), "redlatch.lock-registry.prefix=order:")) {
            Lock held = one.getBean(LockRegistry.class).obtain(id);
            held.lock();
            assertTrue(lock.isLocked());
            assertFalse(other.getBean(LockRegistry.class).obtain(id).tryLock());
            held.unlock();
            assertFalse(lock.isLocked());

            int[] counter = new int[1];
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (ConfigurableApplicationContext each : List.of(one, other, one, other)) {
                calls.add(call(() -> {
                    for (int time = 0; time < 50; time++) {
                        each.getBean(LockRegistry.class).executeLocked(id, () -> counter[0]++);
                    }
                    return null;
                }));
            }
            for (CompletableFuture<Void> each : calls) {
                end(each);
            }
            assertEquals(200, counter[0]);
            String told = assertThrows(IllegalArgumentException.class, () -> one.getBean(LockRegistry.class).obtain(new Object())).getMessage();
            assertTrue(told.contains("java.lang.Object"), told);
        }
    }
}
