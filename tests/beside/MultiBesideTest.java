import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Holds;
import io.redlatch.beside.Beside;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;

/** Locks of several: ours, Redisson's own of ours, and of both. */
class MultiBesideTest extends BesideTest {
    @ParameterizedTest
    @ValueSource(strings = {"ours", "redissons", "mixed", "red", "red of redisson"})
    void all_are_taken_and_given_back(String kind) throws Exception {
        RLock all = all(kind);
        all.lock();
        for (int i = 0; i < 3; i++) {
            assertTrue(isThere(name + i), kind);
            RLock part = plain.getLock(name + i);
            assertFalse(Worker.elsewhere(() -> part.tryLock()));
        }
        all.unlock();
        awaitFree();
        plain.getLock(name + 1).lockAsync(OTHER).get();
        assertEquals(kind.startsWith("red") && !kind.equals("redissons"), all.tryLock(), "a majority is enough for a red lock alone");
        plain.getLock(name + 1).unlockAsync(OTHER).get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ours", "redissons", "mixed"})
    void a_lease_is_that_of_each(String kind) throws Exception {
        RLock all = all(kind);
        // Redisson takes the locks for 40 s and sets the lease then.
        assertTrue(all.tryLock(20, 9, SECONDS));
        assertTimes(9_000);
        all.unlock();
        awaitFree();
        assertTrue(all.tryLock(1, 50, SECONDS));
        assertTimes(50_000);
        if (!kind.equals("ours")) {
            long believed = Holds.of(Beside.lock(part(0))).remaining().toMillis();
            assertTrue(believed > 30_000, "the holder believes in it as long: " + believed + " ms");
        }
        all.unlock();
        awaitFree();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redissons", "mixed"})
    void a_lease_that_is_set_on_another_thread_is_that_of_each(String kind) throws Exception {
        RLock all = all(kind);
        assertTrue(all.tryLockAsync(20, 9, SECONDS, OTHER).get(20, SECONDS));
        assertTimes(9_000);
        for (int i : kind.equals("mixed") ? new int[] {0, 2} : new int[] {0, 1, 2}) {
            long believed = Holds.of(Beside.lock(part(i)), OTHER).remaining().toMillis();
            assertTrue(believed > 4_000 && believed <= 9_000, "the holder believes in it as long: " + believed + " ms");
        }
        all.unlockAsync(OTHER).get(20, SECONDS);
        awaitFree();
    }

    @Test
    void a_multi_lock_of_ours_has_its_own_calls() throws Exception {
        RLock all = all("ours");
        all.lock();
        assertFalse(Holds.of(Beside.lock(all)).isLost());
        assertTrue(all.isHeldByCurrentThread());
        all.unlock();
    }

    private final RLock[] parts = new RLock[3];

    private RLock part(int number) {
        if (parts[number] == null) {
            parts[number] = client.getLock(name + number);
        }
        return parts[number];
    }

    @SuppressWarnings("deprecation")
    private RLock all(String kind) {
        switch (kind) {
            case "ours":
                return client.getMultiLock(part(0), part(1), part(2));
            case "redissons":
                return new RedissonMultiLock(part(0), part(1), part(2));
            case "mixed":
                return client.getMultiLock(part(0), plain.getLock(name + 1), part(2));
            case "red":
                return client.getRedLock(part(0), part(1), part(2));
            default:
                return new RedissonRedLock(part(0), part(1), part(2));
        }
    }

    private void assertTimes(long lease) throws Exception {
        for (String key : List.of(name + 0, name + 1, name + 2)) {
            long left = (Long) server.call("PTTL", key);
            assertTrue(left > lease - 5_000 && left <= lease, key + " has " + left + " ms");
        }
    }

    private void awaitFree() throws Exception {
        Wait.until("all are free", () -> !isThere(name + 0) && !isThere(name + 1) && !isThere(name + 2));
    }
}
