import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RLock;

/** Programs beside ours that use MariaDB's own locks: they exclude each other on one name, wait for each other and wake each other. */
class EnginesBesideTest extends MariadbTest {
    private static final String SCHEMA = "migrated";

    @Test
    void a_program_with_plain_jdbc_and_ours_exclude_each_other_by_any_name() throws Exception {
        for (String each : new String[] {name, name + ":42", name + " käse:€", name + " a b'c\\\"d"}) {
            RLock lock = client.getLock(each);
            lock.lock();
            assertFalse(sql.lock(each, 0), each);
            lock.unlock();
            assertTrue(sql.lock(each, 0), each);
            assertFalse(lock.tryLock(), each);
            assertTrue(lock.isLocked(), each);
            assertEquals(-1, lock.remainTimeToLive(), "another program's session has no end that the server would tell");
            assertTrue(sql.unlock(each), each);
        }
    }

    @Test
    void each_wakes_the_other_when_it_lets_go() throws Exception {
        RLock lock = client.getLock(name);
        try (Sql theirs = server.sql()) {
            assertTrue(theirs.lock(name, 0));
            Worker<Boolean> ours = Worker.start(() -> {
                boolean has = lock.tryLock(20, SECONDS);
                lock.unlock();
                return has;
            });
            Wait.until("ours waits", () -> sql.waiting() == 1);
            assertTrue(theirs.unlock(name));
            assertTrue(ours.get());
            lock.lock();
            Worker<Boolean> jdbc = Worker.start(() -> theirs.lock(name, 20));
            Wait.until("theirs waits", () -> sql.waiting() == 1);
            lock.unlock();
            assertTrue(jdbc.get());
            assertTrue(theirs.unlock(name));
        }
    }

    @Test
    void a_waiter_of_another_program_gets_its_turn_however_many_threads_of_ours_wait() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (int thread = 0; thread < 8; thread++) {
            RLock lock = client.getLock(name);
            CompletableFuture<Void> one = new CompletableFuture<>();
            Worker.start(() -> {
                while (!over.get()) {
                    lock.lock();
                    lock.unlock();
                }
                return one.complete(null);
            });
            all = all.thenCombine(one, (first, second) -> null);
        }
        for (int turn = 0; turn < 20; turn++) {
            assertTrue(sql.lock(name, 20), "it is shut out");
            assertTrue(sql.unlock(name));
        }
        over.set(true);
        all.get(20, SECONDS);
    }

    /** Flyway keeps migrations apart by a lock of the server's, which is named after the hash of its table. */
    @Test
    void a_migration_of_flyway_and_a_holder_of_its_name_wait_for_each_other(@TempDir Path scripts) throws Exception {
        Logger.getLogger("org.flywaydb").setLevel(Level.WARNING);
        sql.ask("CREATE SCHEMA " + SCHEMA);
        Flyway flyway = Flyway.configure().dataSource(Sql.url(server.port(), SCHEMA), "another", "secret").locations("filesystem:" + scripts).load();
        Files.writeString(scripts.resolve("V1__first.sql"), "SELECT GET_LOCK('" + name + "', 20);\nSELECT RELEASE_LOCK('" + name + "');\n");
        RLock migrations = client.getLock("Flyway-" + ("`" + SCHEMA + "`.`flyway_schema_history`").hashCode());
        migrations.lock();
        assertTrue(sql.lock(name, 0));
        Worker<Integer> migration = Worker.start(() -> flyway.migrate().migrationsExecuted);
        Wait.until("Flyway waits for ours", () -> sql.waiting() == 1);
        assertEquals("0", sql.ask("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'flyway_schema_history'"));
        migrations.unlock();
        // Flyway takes the lock more than once: before this it may be between two of these.
        Wait.until("the migration is under way, and waits for its gate", () -> sql.isWaitedFor(name));
        assertFalse(migrations.tryLock());
        Worker<Boolean> ours = Worker.start(() -> {
            boolean has = migrations.tryLock(20, SECONDS);
            migrations.unlock();
            return has;
        });
        Wait.until("ours waits for Flyway", () -> sql.waiting() == 2);
        assertTrue(sql.unlock(name));
        assertEquals(1, migration.get());
        assertTrue(ours.get());
        sql.ask("DROP SCHEMA " + SCHEMA);
    }
}
