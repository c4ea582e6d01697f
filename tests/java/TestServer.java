import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A private Redis on a free port; its program is {@code redis-server} or what REDLATCH_TEST_SERVER names. */
final class TestServer implements AutoCloseable {
    private static final String PROGRAM = System.getenv().getOrDefault("REDLATCH_TEST_SERVER", "redis-server");
    /** Each JVM starts at a place of its own, so that suites beside each other rarely meet. */
    private static final AtomicInteger nextPort = new AtomicInteger((int) (ProcessHandle.current().pid() * 53 % 10_000));
    private static TestServer shared;

    private final List<String> options;
    private final Path directory;
    private Process process;
    private int port;

    private TestServer(List<String> options) throws IOException {
        this.options = options;
        this.directory = Files.createTempDirectory("redlatch-test");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** The server of all tests that leave it as it is. */
    static synchronized TestServer shared() throws Exception {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    static TestServer start(String... options) throws Exception {
        TestServer server = new TestServer(List.of(options));
        do {
            server.port = freePort();
        } while (!server.launch());
        return server;
    }

    /** A port on which no process listens now. Each call gives another one. */
    static int freePort() {
        for (int tried = 0; tried < 10_000; tried++) {
            int port = 20_000 + nextPort.getAndIncrement() % 10_000;
            try (ServerSocket probe = new ServerSocket()) {
                probe.setReuseAddress(true);
                probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException e) {
                // A process listens there.
            }
        }
        throw new IllegalStateException("no port from 20000 to 29999 is free");
    }

    /** Starts again on the same port after {@link #stop}. */
    void restart() throws Exception {
        Wait.until("port " + port + " is free", this::launch);
    }

    void stop() {
        end(process);
    }

    /** Kills a server's process, and returns when it has ended. */
    static void end(Process process) {
        process.destroyForcibly();
        boolean interrupted = false;
        // Not onExit(): while the JVM ends, its threads may be gone.
        while (process.isAlive()) {
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Deletes a file, or a folder with all that is in it. */
    static void delete(File file) {
        File[] inside = file.listFiles();
        for (File each : inside == null ? new File[0] : inside) {
            delete(each);
        }
        file.delete();
    }

    /** The process stands still: connections stay open and nothing is answered, until {@link #thaw}. */
    void freeze() throws Exception {
        signal(process, "STOP");
    }

    void thaw() throws Exception {
        signal(process, "CONT");
    }

    static void signal(Process process, String name) throws Exception {
        // The shell's own: a small Debian has no other.
        if (new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start().waitFor() != 0) {
            throw new IllegalStateException("the server has ended");
        }
    }

    String url() {
        return "redis://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    /**
     * A configuration of a client of this server that gives up sooner than others when the server is gone, and not where only the machine
     * has much to do.
     */
    Config config() {
        Config config = new Config();
        config.useSingleServer().setAddress(url()).setTimeout(5000).setConnectTimeout(5000).setRetryAttempts(1);
        return config;
    }

    RedissonClient connect() {
        return Redisson.create(config());
    }

    /** Sends one command of an operator, and gives the reply. */
    Object call(String... command) throws IOException {
        try (Resp resp = new Resp(port)) {
            return resp.call(command);
        }
    }

    /** As {@link #call}. A server that was just started is asked again until it has loaded its data. */
    Object ask(String... command) throws IOException {
        Object reply = call(command);
        while (reply instanceof String && ((String) reply).startsWith("LOADING ")) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            reply = call(command);
        }
        return reply;
    }

    /** How many connections listen to the lock's channel. */
    long listeners(String lock) throws IOException {
        return listenersOf("redisson_lock__channel:{" + lock + "}");
    }

    /** How many connections listen to a channel. */
    long listenersOf(String channel) throws IOException {
        return (Long) ((List<?>) call("PUBSUB", "NUMSUB", channel)).get(1);
    }

    @Override
    public void close() {
        if (process != null) {
            stop();
        }
        delete(directory.toFile());
    }

    /** False: the port is taken. */
    private boolean launch() throws Exception {
        List<String> command = new ArrayList<>(List.of(PROGRAM, "--port", String.valueOf(port), "--bind", "127.0.0.1", "--save", "",
                "--appendonly", "no", "--dir", directory.toString()));
        command.addAll(options);
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
        Wait.until(PROGRAM + " answers on port " + port, () -> !process.isAlive() || answers());
        return process.isAlive();
    }

    private boolean answers() {
        try {
            String reply = String.valueOf(call("PING"));
            return Stream.of("PONG", "NOAUTH").anyMatch(reply::contains);
        } catch (IOException e) {
            return false;
        }
    }
}
