import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.RowLock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks in a transaction of the program's own. */
class RowLockTest {
    private final List<Connection> connections = new ArrayList<>();
    private TestMariadb server;
    private Sql sql;

    @BeforeEach
    void make_the_table() throws Exception {
        server = TestMariadb.shared();
        sql = server.sql();
        sql.ask("CREATE TABLE IF NOT EXISTS redlatch_rows (name VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB");
        sql.ask("DELETE FROM redlatch_rows");
    }

    @AfterEach
    void close() throws SQLException {
        for (Connection connection : connections) {
            connection.close();
        }
        sql.close();
    }

    private Connection transaction(String schema) throws SQLException {
        Connection connection = DriverManager.getConnection(Sql.url(server.port(), schema), "another", "secret");
        connections.add(connection);
        connection.setAutoCommit(false);
        return connection;
    }

    @Test
    void a_row_is_locked_until_its_transaction_ends() throws Exception {
        for (boolean commits : new boolean[] {true, false, true}) {
            Connection first = transaction("app");
            Connection second = transaction("app");
            RowLock.lock(first, "n");
            RowLock.lock(first, "n");
            RowLock.lock(second, "another");
            Worker<Boolean> waiting = Worker.start(() -> {
                RowLock.lock(second, "n");
                return true;
            });
            Wait.until("a transaction waits", () -> "1".equals(sql.ask("SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'")));
            if (commits) {
                first.commit();
            } else {
                first.rollback();
            }
            assertTrue(waiting.get());
            second.rollback();
        }
    }

    @Test
    void a_wait_that_is_over_is_the_drivers_error() throws Exception {
        Connection first = transaction("app");
        Connection second = transaction("app");
        RowLock.lock(first, "n");
        second.createStatement().execute("SET innodb_lock_wait_timeout = 1");
        assertEquals(1205, assertThrows(SQLException.class, () -> RowLock.lock(second, "n")).getErrorCode());
        first.rollback();
        RowLock.lock(second, "n");
    }

    @Test
    void a_connection_that_commits_by_itself_is_refused() throws Exception {
        Connection connection = transaction("app");
        connection.setAutoCommit(true);
        String told = assertThrows(IllegalStateException.class, () -> RowLock.lock(connection, "n")).getMessage();
        assertEquals("the connection is in no transaction, so the lock of row `n` would end at once; call setAutoCommit(false) first", told);
        assertEquals("0", sql.ask("SELECT COUNT(*) FROM redlatch_rows"));
    }

    @Test
    void a_schema_without_the_table_is_refused_with_the_statement_that_makes_it() throws Exception {
        sql.ask("CREATE SCHEMA IF NOT EXISTS rowless");
        Connection connection = transaction("rowless");
        String told = assertThrows(UnsupportedOperationException.class, () -> RowLock.lock(connection, "n")).getMessage();
        connection.createStatement().execute(told.substring(told.indexOf("make it by: ") + "make it by: ".length()));
        RowLock.lock(connection, "n");
        connection.rollback();
        sql.ask("DROP SCHEMA rowless");
    }

    @Test
    void a_name_that_cannot_be_used_is_refused() throws Exception {
        Connection connection = transaction("app");
        RowLock.lock(connection, "é".repeat(127));
        String told = assertThrows(IllegalArgumentException.class, () -> RowLock.lock(connection, "é".repeat(128))).getMessage();
        assertFalse(told.contains("é".repeat(41)), told);
        told = assertThrows(NullPointerException.class, () -> RowLock.lock(connection, null)).getMessage();
        assertTrue(told.contains("the name of the row is null; give"), told);
        told = assertThrows(NullPointerException.class, () -> RowLock.lock(null, "n")).getMessage();
        assertTrue(told.contains("the connection is null; give"), told);
    }
}
