// Locks of MariaDB and PostgreSQL. They belong to a connection and have no lease, so every caller has a connection, and a lock is its own
// until the connection ends.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

final class Database implements Engine {
    /** Each statement has one parameter, the name, and one answer: 1, or 0 for no. */
    private record Statements(String acquire, String release) {
        /** PostgreSQL's locks have numbers, not names. */
        static Statements ofPostgres(String way) {
            String name = way + "(hashtextextended(?, 0))";
            return new Statements(
                    "SELECT 1 FROM pg_advisory_lock" + name,
                    "SELECT pg_advisory_unlock" + name + "::int");
        }
    }

    // GET_LOCK wants a limit: a day.
    private static final Statements MARIADB = new Statements("SELECT GET_LOCK(?, 86400)", "SELECT RELEASE_LOCK(?)");
    private static final Statements POSTGRES = Statements.ofPostgres("");
    private static final Statements POSTGRES_SHARED = Statements.ofPostgres("_shared");

    private final String url;
    private final boolean mariadb;
    private final List<Connection> connections = new ArrayList<>();

    /** Without a password; MariaDB's client wants TLS unless told otherwise. */
    Database(String address, boolean mariadb) {
        this.mariadb = mariadb;
        url = mariadb
                ? "jdbc:mariadb://" + address + "/?user=root&sslMode=disable"
                : "jdbc:postgresql://" + address + "/postgres?user=postgres";
    }

    @Override
    public Lock lock(String name, int caller) throws Exception {
        return lock(mariadb ? MARIADB : POSTGRES, name, caller);
    }

    @Override
    public ReadWrite readWrite(String name, int caller) throws Exception {
        if (mariadb) {
            throw new Cannot();
        }
        return new ReadWrite(lock(POSTGRES_SHARED, name, caller), lock(POSTGRES, name, caller));
    }

    @Override
    public void hold(String name) throws Exception {
        lock(name, 0).acquire();
    }

    private Lock lock(Statements statements, String name, int caller) throws Exception {
        PreparedStatement acquire = prepared(statements.acquire, name, caller);
        PreparedStatement release = prepared(statements.release, name, caller);
        return new Lock() {
            @Override
            public void acquire() throws Exception {
                must(acquire);
            }

            @Override
            public void release() throws Exception {
                must(release);
            }
        };
    }

    private PreparedStatement prepared(String text, String name, int caller) throws Exception {
        PreparedStatement statement = connection(caller).prepareStatement(text);
        statement.setString(1, name);
        return statement;
    }

    private Connection connection(int caller) throws Exception {
        while (connections.size() <= caller) {
            connections.add(connect());
        }
        return connections.get(caller);
    }

    private Connection connect() throws Exception {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            if ("53300".equals(e.getSQLState()) || e.getErrorCode() == 1040) {
                throw new Cannot(); // the server takes no more
            }
            throw e;
        }
    }

    private static void must(PreparedStatement statement) throws SQLException {
        long answer = ask(statement);
        if (answer != 1) {
            throw new IllegalStateException(statement + " answers " + answer);
        }
    }

    private static long ask(PreparedStatement statement) throws SQLException {
        try (ResultSet answer = statement.executeQuery()) {
            answer.next();
            return answer.getLong(1);
        }
    }
}
