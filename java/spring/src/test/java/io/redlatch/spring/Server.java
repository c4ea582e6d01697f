package io.redlatch.spring;

import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A private Redis on a free port; its program is {@code redis-server} or what REDLATCH_TEST_SERVER names. */
final class Server implements AutoCloseable {
    private static final String PROGRAM = System.getenv().getOrDefault("REDLATCH_TEST_SERVER", "redis-server");
    private static Server shared;

    private final List<String> options;
    private final Path directory;
    private Process process;
    private int port;

    private Server(List<String> options) throws IOException {
        this.options = options;
        this.directory = Files.createTempDirectory("redlatch-spring");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** The server of all tests that leave it as it is. */
    static synchronized Server shared() throws Exception {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    static Server start(String... options) throws Exception {
        Server server = new Server(List.of(options));
        for (int tried = 0; tried < 10; tried++) {
            server.port = freePort();
            if (server.launch()) {
                return server;
            }
        }
        throw new IllegalStateException(PROGRAM + " does not start: " + Files.readString(server.directory.resolve("log")));
    }

    /** A sentinel that watches {@code master} as {@code mymaster}. */
    static Server sentinel(Server master) throws Exception {
        Path file = Files.createTempFile("redlatch-sentinel", ".conf");
        file.toFile().deleteOnExit();
        Files.writeString(file, "sentinel monitor mymaster 127.0.0.1 " + master.port + " 1\n");
        return start(file.toString(), "--sentinel");
    }

    static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    String url() {
        return "redis://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    void stop() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Starts again on the same port after {@link #stop}. */
    void restart() throws Exception {
        Wait.until("port " + port + " is free", this::launch);
    }

    /** Sends one command, and gives its reply as a text; an error begins with {@code -}. */
    String call(String... command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            StringBuilder request = new StringBuilder("*" + command.length + "\r\n");
            for (String word : command) {
                request.append("$").append(word.length()).append("\r\n").append(word).append("\r\n");
            }
            socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            DataInputStream in = new DataInputStream(socket.getInputStream());
            String line = line(in);
            if (!line.startsWith("$") || line.equals("$-1")) {
                return line.startsWith("-") ? line : line.substring(1);
            }
            return new String(in.readNBytes(Integer.parseInt(line.substring(1))), StandardCharsets.UTF_8);
        }
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("the server hung up");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    @Override
    public void close() {
        if (process != null) {
            stop();
        }
        delete(directory.toFile());
    }

    private static void delete(File file) {
        File[] files = file.listFiles();
        for (File each : files == null ? new File[0] : files) {
            delete(each);
        }
        file.delete();
    }

    /** False: the port is taken. */
    private boolean launch() throws Exception {
        List<String> command = new ArrayList<>(List.of(PROGRAM));
        boolean sentinel = options.contains("--sentinel");
        if (sentinel) {
            command.addAll(options);
        }
        command.addAll(List.of("--port", String.valueOf(port), "--bind", "127.0.0.1", "--dir", directory.toString()));
        if (!sentinel) {
            command.addAll(List.of("--save", "", "--appendonly", "no"));
            command.addAll(options);
        }
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
        Wait.until(PROGRAM + " answers on port " + port, () -> !process.isAlive() || answers());
        return process.isAlive();
    }

    private boolean answers() {
        try {
            String reply = call("PING");
            return reply.contains("PONG") || reply.contains("NOAUTH");
        } catch (IOException e) {
            return false;
        }
    }
}
