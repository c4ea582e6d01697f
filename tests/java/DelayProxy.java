import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A way to a server on which everything takes a millisecond, there and back. */
final class DelayProxy implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final int server;

    DelayProxy(int server) throws IOException {
        this.server = server;
        start(() -> {
            while (true) {
                Socket client = socket.accept();
                Socket upstream = new Socket(InetAddress.getLoopbackAddress(), server());
                client.setTcpNoDelay(true);
                upstream.setTcpNoDelay(true);
                open.addAll(List.of(client, upstream));
                start(() -> pump(client, upstream));
                start(() -> pump(upstream, client));
            }
        });
    }

    String url() {
        return "redis://127.0.0.1:" + socket.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        socket.close();
        for (Socket each : open) {
            each.close();
        }
    }

    private int server() {
        return server;
    }

    private static void pump(Socket from, Socket to) throws IOException {
        ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(DelayProxy::daemon);
        InputStream in = from.getInputStream();
        byte[] buffer = new byte[64 * 1024];
        for (int read = in.read(buffer); read > 0; read = in.read(buffer)) {
            byte[] bytes = Arrays.copyOf(buffer, read);
            later.schedule(() -> {
                to.getOutputStream().write(bytes);
                return null;
            }, 1, TimeUnit.MILLISECONDS);
        }
        later.shutdown();
    }

    /** Work that ends when its sockets are closed. */
    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        daemon(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // Closed.
            }
        }).start();
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "delay-proxy");
        thread.setDaemon(true);
        return thread;
    }
}
