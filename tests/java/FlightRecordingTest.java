import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RFuture;

/** The events of the JDK Flight Recorder. */
class FlightRecordingTest extends LockTest {
    private static final String WAIT = "io.redlatch.LockWait";
    private static final String HOLD = "io.redlatch.LockHold";
    private static final String LOSS = "io.redlatch.LockLoss";
    /** An owner that is no thread of this JVM. */
    private static final long OTHER = 1_000_000_007;

    @TempDir
    Path directory;

    @Test
    void waits_and_holds_of_threads_are_recorded() throws Exception {
        try (Recording recording = recording()) {
            lock.lock();
            assertFalse(Worker.elsewhere(() -> lock.tryLock(30, TimeUnit.MILLISECONDS)));
            Worker<Boolean> waiter = Worker.start(() -> lock.tryLock(30, TimeUnit.SECONDS));
            waiter.awaitWaiting(server, name);
            waiter.interrupt();
            assertThrows(InterruptedException.class, waiter::get);
            lock.unlock();
            List<RecordedEvent> events = events(recording, 1);
            assertEquals(List.of("acquired", "cancelled", "not acquired"), outcomes(events));
            RecordedEvent hold = of(HOLD, events).get(0);
            assertEquals(Thread.currentThread().getName(), hold.getThread("holder").getJavaName());
            assertEquals(Thread.currentThread().getId(), hold.getLong("owner"));
            assertEquals(client.getId(), hold.getString("client"));
            assertEquals("plain", hold.getString("kind"));
            assertFalse(hold.getBoolean("lost"));
            assertTrue(hold.getDuration().compareTo(Duration.ofMillis(30)) >= 0, hold::toString);
            RecordedEvent inVain = of(WAIT, events).stream().filter(event -> event.getString("outcome").equals("not acquired")).findFirst().orElseThrow();
            assertTrue(inVain.getDuration().compareTo(Duration.ofMillis(30)) >= 0, inVain::toString);
            assertEquals(List.of(), of(LOSS, events));
        }
    }

    @Test
    void a_loss_is_recorded_with_its_reason_and_ends_the_hold() throws Exception {
        try (Recording recording = recording()) {
            RFuture<Void> locked = lock.lockAsync(OTHER);
            locked.get(20, TimeUnit.SECONDS);
            assertTrue(lock.forceUnlock());
            List<RecordedEvent> events = events(recording, 2);
            RecordedEvent loss = of(LOSS, events).get(0);
            assertEquals("deleted", loss.getString("reason"));
            assertEquals(OTHER, loss.getLong("owner"));
            assertNull(loss.getThread("holder"));
            assertTrue(of(HOLD, events).get(0).getBoolean("lost"));
        }
    }

    @Test
    void permits_are_waited_for_and_have_no_holder() throws Exception {
        client.getSemaphore(name).trySetPermits(1);
        try (Recording recording = recording()) {
            client.getSemaphore(name).acquire();
            lock = client.getLock(name + "-after");
            lock.lock();
            lock.unlock();
            List<RecordedEvent> events = events(recording, 1);
            assertEquals(List.of(name + "-after"), of(HOLD, events).stream().map(event -> event.getString("lock")).collect(Collectors.toList()));
            assertEquals(2, of(WAIT, events).size());
        }
    }

    @Test
    void a_latch_is_waited_for_and_takes_nothing() throws Exception {
        try (Recording recording = recording()) {
            assertTrue(client.getCountDownLatch(name).await(20, TimeUnit.SECONDS));
            lock = client.getLock(name + "-after");
            lock.lock();
            lock.unlock();
            List<RecordedEvent> events = events(recording, 1);
            assertEquals(Set.of(name + "-after"), events.stream().map(event -> event.getString("lock")).collect(Collectors.toSet()));
        }
    }

    private static Recording recording() {
        Recording recording = new Recording();
        for (String event : List.of(WAIT, HOLD, LOSS)) {
            recording.enable(event).withoutThreshold();
        }
        recording.start();
        return recording;
    }

    /** The events of this test's object, once there are so many holds and losses: they are recorded beside the caller. */
    private List<RecordedEvent> events(Recording recording, int ends) throws Exception {
        List<RecordedEvent> found = new ArrayList<>();
        Wait.until("the end of the hold is recorded", () -> {
            Path file = directory.resolve("recording.jfr");
            recording.dump(file);
            found.clear();
            RecordingFile.readAllEvents(file).stream().filter(event -> event.getEventType().getName().startsWith("io.redlatch.")
                    && event.getString("lock").startsWith(name)).forEach(found::add);
            return of(HOLD, found).size() + of(LOSS, found).size() >= ends;
        });
        return found;
    }

    private static List<String> outcomes(List<RecordedEvent> events) {
        return of(WAIT, events).stream().map(event -> event.getString("outcome")).sorted().collect(Collectors.toList());
    }

    private static List<RecordedEvent> of(String type, List<RecordedEvent> events) {
        return events.stream().filter(event -> event.getEventType().getName().equals(type)).collect(Collectors.toList());
    }
}
