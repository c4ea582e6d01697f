package io.redlatch;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;

/**
 * A lock in a transaction of the program's own, on its own connection to MariaDB or MySQL.
 *
 * <p>The lock is a row of the table {@code redlatch_rows}, in the schema of the connection. It ends with the transaction, at the same moment as the
 * transaction's writes take effect: no lease, no network and no pause can come in between. So it is the stronger one where the guarded data is in
 * that database. Locks of a client, such as {@code client.getLock("orders:42")}, know nothing of it. On Galera, and in a group with several primaries,
 * it excludes only transactions of the same node.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * RowLock.lock(connection, "orders:42");
 * charge(connection, 42);
 * connection.commit();
 * }</pre>
 *
 * <p>The table is made once: {@code CREATE TABLE redlatch_rows (name VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB}. Each name leaves a row of its own
 * there, which the first transaction with that name makes. If that one rolls back, or another one deletes the row, while several wait for it, the
 * server ends all of these but one with its error of a deadlock (1213): begin such a transaction again, as after any deadlock. Rows that are there
 * before know no such error.
 *
 * <p>Lock before the transaction reads anything: at the usual isolation level, REPEATABLE READ, it goes on to see what was there at its first read.
 * Python has the same lock: {@code redlatch.rows.lock_row}.
 */
public final class RowLock {
    private static final int LONGEST = 255;
    /**
     * One statement: it takes the row's lock at once, whether it finds the row or makes it. To make the row first and lock it then would take two
     * locks, and transactions that do so at the same time would wait for each other.
     */
    private static final String LOCK = "INSERT INTO redlatch_rows (name) VALUES (?) ON DUPLICATE KEY UPDATE name = name";
    private static final int NO_TABLE = 1146;

    private RowLock() {}

    /**
     * Locks a name until the connection's transaction ends, by a commit or a rollback. A transaction may lock a name again: that changes nothing.
     *
     * <p>A name that another transaction has locked is waited for: for {@code innodb_lock_wait_timeout} of the connection, 50 s unless the program
     * sets it. Then the driver throws the server's error 1205, and the transaction goes on without the lock. Two transactions that lock the same names
     * in different orders may wait for each other: then the server ends one of them, and the driver throws error 1213.
     *
     * @throws IllegalStateException if the connection commits by itself, so that the lock would end at once
     * @throws NullPointerException without a connection or a name
     * @throws IllegalArgumentException for a name that is longer than 255 bytes of UTF-8
     * @throws UnsupportedOperationException if the schema has no table {@code redlatch_rows}; the text has the statement that makes it
     * @throws SQLException every other error of the driver
     */
    public static void lock(Connection connection, String name) throws SQLException {
        Objects.requireNonNull(connection, "the connection is null; give the one whose transaction is to have the lock");
        byte[] key = Objects.requireNonNull(name, "the name of the row is null; give the name to lock").getBytes(StandardCharsets.UTF_8);
        if (key.length > LONGEST) {
            throw new IllegalArgumentException("a row's name may have " + LONGEST + " bytes, and `" + name.substring(0, 40) + "…` has " + key.length
                    + "; shorten it");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("the connection is in no transaction, so the lock of row `" + name
                    + "` would end at once; call setAutoCommit(false) first");
        }
        try (PreparedStatement lock = connection.prepareStatement(LOCK)) {
            lock.setBytes(1, key);
            lock.execute();
        } catch (SQLException error) {
            if (error.getErrorCode() != NO_TABLE) {
                throw error;
            }
            throw new UnsupportedOperationException("the lock of row `" + name + "` needs a table in the schema of the connection; make it by: CREATE TABLE"
                    + " redlatch_rows (name VARBINARY(" + LONGEST + ") PRIMARY KEY) ENGINE=InnoDB", error);
        }
    }
}
