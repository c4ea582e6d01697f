import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** A private ZooKeeper on a free port, as {@code tests/zookeeper/server} starts it. Its ticks are short, so sessions from 0.2 s on are possible. */
final class TestZookeeper implements AutoCloseable {
    private static final Path PROGRAM = Path.of("tests", "zookeeper", "server").toAbsolutePath();
    /** The request by which a client ends its session. */
    private static final int END_SESSION = -11;
    private static TestZookeeper shared;

    private final List<String> settings;
    private final Path directory;
    private Process process;
    private int port;

    private TestZookeeper(List<String> settings) throws IOException {
        this.settings = settings;
        this.directory = Files.createTempDirectory("redlatch-test");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** The server of all tests that leave it as it is. */
    static synchronized TestZookeeper shared() throws Exception {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    /** @param settings further lines of the configuration, such as {@code minSessionTimeout=4000} */
    static TestZookeeper start(String... settings) throws Exception {
        TestZookeeper server = new TestZookeeper(List.of(settings));
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
        return "zookeeper://127.0.0.1:" + port + (options.isEmpty() ? "" : "?" + options);
    }

    /** A started client of another program, whose session lives for ten seconds without a sign of life. */
    CuratorFramework curator() throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 10_000, 10_000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** The session with which a node ends; 0: no session, or there is no such node. */
    static long owner(CuratorFramework client, String path) throws Exception {
        Stat stat = client.checkExists().forPath(path);
        return stat == null ? 0 : stat.getEphemeralOwner();
    }

    /** The names of a node's children; none: it has none, or there is no such node, because an empty container soon goes. */
    static List<String> children(CuratorFramework client, String path) throws Exception {
        try {
            return client.getChildren().forPath(path);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    /** The sessions that have not ended, whether a client is connected or not. */
    TreeSet<Long> sessions() throws IOException {
        TreeSet<Long> sessions = new TreeSet<>();
        // Behind this line come the sessions with nodes of theirs, a second time.
        for (String word : ask("dump").split("ephemeral nodes dump")[0].split("\\s+")) {
            if (word.startsWith("0x")) {
                sessions.add(Long.parseUnsignedLong(word.substring(2), 16));
            }
        }
        return sessions;
    }

    /** The nodes that end with the sessions of clients. */
    TreeSet<String> nodes() throws IOException {
        TreeSet<String> nodes = new TreeSet<>();
        for (String word : ask("dump").split("ephemeral nodes dump")[1].split("Connections dump")[0].split("\\s+")) {
            if (word.startsWith("/")) {
                nodes.add(word);
            }
        }
        return nodes;
    }

    /** Ends a session of any client, as the server does when its time is over. */
    void expire(long session) throws Exception {
        ByteBuffer packets = ByteBuffer.allocate(61);
        packets.putInt(45).putInt(0).putLong(0).putInt(10_000).putLong(session).putInt(16).put(password(session)).put((byte) 0);
        packets.putInt(8).putInt(1).putInt(END_SESSION);
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            // At once: its client, which is cut off then, would enter the session again.
            socket.getOutputStream().write(packets.array());
            socket.getInputStream().readAllBytes();
        }
    }

    /** The answer to a command of four letters, such as {@code mntr}. */
    String ask(String command) throws IOException {
        return ask(command, 5000);
    }

    private String ask(String command, int milliseconds) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(milliseconds);
            socket.getOutputStream().write(command.getBytes());
            return new String(socket.getInputStream().readAllBytes());
        }
    }

    /** Kills the server, as a loss of power does. */
    void stop() {
        TestServer.end(process);
    }

    /** Starts again on the same port, with its data, after {@link #stop}. */
    void restart() throws Exception {
        Wait.until("port " + port + " is free", this::launch);
    }

    /** The process stands still: connections stay open and nothing is answered, until {@link #thaw}. */
    void freeze() throws Exception {
        TestServer.signal(process, "STOP");
    }

    void thaw() throws Exception {
        TestServer.signal(process, "CONT");
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
        List<String> command = new ArrayList<>(List.of(PROGRAM.toString(), directory.toString(), String.valueOf(port)));
        command.addAll(settings);
        long begun = System.nanoTime();
        File log = directory.resolve("log").toFile();
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
        Wait.until("ZooKeeper answers on port " + port, () -> !process.isAlive() || answers(begun));
        return process.isAlive();
    }

    private boolean answers(long begun) {
        try {
            // A server that is not quite ready leaves a question without an answer, for ever. One that starts slowly answers slowly, too.
            int patience = (int) Math.min(Math.max((System.nanoTime() - begun) / 4_000_000, 100), 5000);
            return ask("conf", patience).contains("dataDir=" + directory) && ask("srvr", patience).contains("Mode: ");
        } catch (IOException e) {
            return false;
        }
    }

    /** The secret by which a client enters a session. The server draws it from the session's number. */
    private static byte[] password(long session) {
        byte[] password = new byte[16];
        new Random(session ^ 0xB3415C00L).nextBytes(password);
        return password;
    }
}
