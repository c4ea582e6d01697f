import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A session of another program by plain JDBC: it uses the server's own locks and knows nothing of this library. */
final class Sql implements AutoCloseable {
    private final Connection connection;

    Sql(int port) throws SQLException {
        connection = DriverManager.getConnection(url(port, "app"), "another", "secret");
    }

    static String url(int port, String schema) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + schema;
    }

    /** The first value of the first row as a text; null for NULL and for no row. */
    String ask(String statement, Object... values) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            for (int i = 0; i < values.length; i++) {
                prepared.setObject(i + 1, values[i]);
            }
            boolean hasRows = prepared.execute();
            ResultSet rows = prepared.getResultSet();
            return hasRows && rows.next() ? rows.getString(1) : null;
        }
    }

    /** Waits so many seconds for a lock, and tells whether it has it. */
    boolean lock(String name, int seconds) throws SQLException {
        return "1".equals(ask("SELECT GET_LOCK(?, ?)", name, seconds));
    }

    boolean unlock(String name) throws SQLException {
        return "1".equals(ask("SELECT RELEASE_LOCK(?)", name));
    }

    /** The number of the session that has a lock; null if it is free. */
    String holder(String name) throws SQLException {
        return ask("SELECT IS_USED_LOCK(?)", name);
    }

    /** How many sessions wait for a lock of the server. */
    long waiting() throws SQLException {
        return Long.parseLong(ask("SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"));
    }

    /** Whether a session waits for this lock by a statement that names it. */
    boolean isWaitedFor(String name) throws SQLException {
        return !"0".equals(ask("SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock' AND LOCATE(?, info) > 0", name));
    }

    /** How many sessions the clients of this library have. */
    long sessionsOfClients() throws SQLException {
        return Long.parseLong(ask("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'app'"));
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
