package io.redlatch.spring;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of the sample application in examples/spring, on this JDK and on the class path of this generation of Boot. */
final class RunningShop implements AutoCloseable {
    /** The first Java that warns of native libraries unless it is told that they are meant. */
    private static final int WARNS = 24;
    private static final Pattern OPEN = Pattern.compile("the shop is open at (\\S+)");
    private static final Pattern CLIENT = Pattern.compile("\"clientId\":\"([^\"]+)\"");
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Process process;
    private final Path log;
    private URI url;
    private String client;

    /** Starts it; {@link #open} awaits that it serves. */
    RunningShop(Path folder, String redis) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= WARNS) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", System.getProperty("shop.classpath"), "shop.Shop", "--redlatch.url=" + redis, "--shop.folder=" + folder,
                "--management.endpoint.health.show-details=always"));
        log = Files.createTempFile(folder, "instance", ".log");
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    }

    RunningShop open() throws Exception {
        Wait.until("the shop is open", () -> {
            Matcher line = OPEN.matcher(Files.readString(log));
            if (line.find()) {
                url = URI.create(line.group(1));
            } else if (!process.isAlive()) {
                throw new AssertionError("the shop ended: " + Files.readString(log));
            }
            return url != null;
        });
        Matcher id = CLIENT.matcher(health());
        if (!id.find()) {
            throw new AssertionError("no client in " + health());
        }
        client = id.group(1);
        return this;
    }

    /** The id of its client, which begins the name of each owner. */
    String client() {
        return client;
    }

    /** The body of the answer, behind its status if that is not 200. A connection that broke is an answer as well: it begins with {@code broken}. */
    CompletableFuture<String> post(String path) {
        return send(request(path).POST(BodyPublishers.noBody()));
    }

    CompletableFuture<String> put(String path, String body) {
        return send(request(path).header("Content-Type", "text/plain").PUT(BodyPublishers.ofString(body)));
    }

    String health() {
        return get("/actuator/health");
    }

    String get(String path) {
        return send(request(path)).join();
    }

    /** The number of threads whose name the library has given, in process and JVM; -1 where there is no /proc. */
    long threads() throws IOException {
        File[] all = new File("/proc/" + process.pid() + "/task").listFiles();
        long ours = all == null ? -1 : 0;
        for (File thread : all == null ? new File[0] : all) {
            ours += Files.readString(thread.toPath().resolve("comm")).startsWith("redlatch") ? 1 : 0;
        }
        return ours;
    }

    /** As {@code kill -STOP} and {@code kill -CONT} do. */
    void signal(String name) throws Exception {
        if (new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).inheritIO().start().waitFor() != 0) {
            throw new IOException("kill -" + name + " failed");
        }
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Ends it as an operator does; returns its exit code. */
    int end() throws Exception {
        process.destroy();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the shop does not end: " + Files.readString(log));
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        kill();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(url.resolve(path)).timeout(Duration.ofSeconds(30));
    }

    private static CompletableFuture<String> send(HttpRequest.Builder request) {
        return HTTP.sendAsync(request.build(), BodyHandlers.ofString()).handle((answer, error) -> error == null ? text(answer) : "broken: " + error);
    }

    private static String text(HttpResponse<String> answer) {
        return (answer.statusCode() == 200 ? "" : answer.statusCode() + " ") + answer.body();
    }
}
