import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A private MariaDB on a free port, from a data directory that was prepared once; its program is {@code mariadbd} or what REDLATCH_TEST_MARIADB names. */
final class TestMariadb implements AutoCloseable {
    /** The statements that make the system's own tables, in their order. */
    private static final List<String> TABLES = List.of("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql");
    /** Each server has this from its start. Clients of this library are {@code app}; {@link Sql} is another user, so the sessions can be told apart. */
    private static final List<String> INIT = List.of("CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY 'secret';",
            "CREATE USER IF NOT EXISTS 'another'@'%' IDENTIFIED BY 'secret';", "GRANT ALL ON *.* TO 'app'@'%';", "GRANT ALL ON *.* TO 'another'@'%';",
            "CREATE SCHEMA IF NOT EXISTS app;", "CREATE SCHEMA IF NOT EXISTS bare;",
            "CREATE TABLE IF NOT EXISTS app.redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB;",
            "CREATE TABLE IF NOT EXISTS app.redlatch_leader (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL, holder VARBINARY(255) NOT NULL, "
                    + "value MEDIUMBLOB NOT NULL) ENGINE=InnoDB;");
    private static TestMariadb shared;

    private final List<String> options;
    private final Path directory;
    private Process process;
    private int port;

    private TestMariadb(List<String> options) throws IOException {
        this.options = options;
        this.directory = Files.createTempDirectory("redlatch-test");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** The server of all tests that leave it as it is. */
    static synchronized TestMariadb shared() throws Exception {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    static TestMariadb start(String... options) throws Exception {
        TestMariadb server = new TestMariadb(List.of(options));
        copy(prepared(), server.directory.resolve("data"));
        Files.write(server.directory.resolve("init.sql"), INIT);
        do {
            server.port = TestServer.freePort();
        } while (!server.launch());
        return server;
    }

    int port() {
        return port;
    }

    String url() {
        return url("");
    }

    /** @param options as they stand behind the {@code ?} */
    String url(String options) {
        return "mariadb://app:secret@127.0.0.1:" + port + "/app" + (options.isEmpty() ? "" : "?" + options);
    }

    /** A connection of another program. */
    Sql sql() throws SQLException {
        return new Sql(port);
    }

    /** Kills the server, as a loss of power does. */
    void stop() {
        TestServer.end(process);
    }

    /** Starts again on the same port after {@link #stop}. */
    void restart() throws Exception {
        Wait.until("port " + port + " is free", this::launch);
    }

    @Override
    public void close() {
        if (process != null) {
            stop();
        }
        TestServer.delete(directory.toFile());
    }

    /** False: the port is taken. */
    private boolean launch() throws Exception {
        List<String> command = program();
        // A server that starts deletes the temporary tables that it finds, also those of other servers.
        command.add("--tmpdir=" + directory);
        command.addAll(List.of("--datadir=" + directory.resolve("data"), "--port=" + port, "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("socket"), "--pid-file=" + directory.resolve("pid"), "--init-file=" + directory.resolve("init.sql"),
                "--innodb-flush-log-at-trx-commit=0"));
        command.addAll(options);
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
        Wait.until("MariaDB answers on port " + port, () -> !process.isAlive() || answers());
        return process.isAlive();
    }

    private boolean answers() {
        try (Sql sql = sql()) {
            return sql.ask("SELECT 1").equals("1");
        } catch (SQLException e) {
            return false;
        }
    }

    /** The program and the words that every run of it has. */
    private static List<String> program() {
        String found = Stream.of("/usr/sbin/mariadbd", "/usr/local/sbin/mariadbd").filter(path -> new File(path).exists()).findFirst().orElse("mariadbd");
        List<String> words = new ArrayList<>(List.of(System.getenv().getOrDefault("REDLATCH_TEST_MARIADB", found), "--no-defaults",
                "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--skip-log-bin", "--performance-schema=OFF", "--skip-name-resolve"));
        if (System.getProperty("user.name").equals("root")) { // the server refuses that unless it is told to
            words.add("--user=root");
        }
        return words;
    }

    /** The data directory that every server begins with. The first program of a machine that needs it prepares it, for those in Rust as well. */
    private static Path prepared() throws Exception {
        Process version = new ProcessBuilder(program().get(0), "--version").start();
        String words = new String(version.getInputStream().readAllBytes()).replaceAll("[^A-Za-z0-9]", "");
        Path ready = Paths.get(System.getProperty("java.io.tmpdir"), "redlatch-mariadb-" + words);
        if (Files.exists(ready.resolve("mysql"))) {
            return ready;
        }
        Path begun = Files.createTempDirectory("redlatch-mariadb");
        List<String> command = program();
        command.addAll(List.of("--bootstrap", "--log-warnings=0", "--datadir=" + begun, "--tmpdir=" + begun));
        List<String> statements = new ArrayList<>(List.of("CREATE DATABASE IF NOT EXISTS mysql;", "USE mysql;", "SET @auth_root_socket=NULL;"));
        for (String table : TABLES) {
            statements.addAll(Files.readAllLines(Paths.get("/usr/share/mysql", table)));
        }
        File input = Files.write(Files.createTempFile("redlatch-mariadb", ".sql"), statements).toFile();
        File log = Files.createTempFile("redlatch-mariadb", ".log").toFile();
        int end = new ProcessBuilder(command).redirectInput(input).redirectErrorStream(true).redirectOutput(log).start().waitFor();
        if (end != 0) {
            throw new IllegalStateException("the server did not make its tables: " + Files.readString(log.toPath()));
        }
        input.delete();
        log.delete();
        if (!begun.toFile().renameTo(ready.toFile())) { // another program was faster
            TestServer.delete(begun.toFile());
        }
        return ready;
    }

    private static void copy(Path from, Path to) throws IOException {
        List<Path> paths;
        try (Stream<Path> all = Files.walk(from)) {
            paths = all.collect(Collectors.toList());
        }
        for (Path path : paths) {
            Files.copy(path, to.resolve(from.relativize(path)));
        }
    }
}
