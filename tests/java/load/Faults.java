import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Servers that stand still, die and come back, and connections that are cut. */
final class Faults implements Runnable {
    /** A renewal is due after a third of the watchdog's time, and may be repeated until its end. */
    private static final long SILENT_NANOS = TimeUnit.MILLISECONDS.toNanos(Clients.WATCHDOG_MS / 3);
    /** Connections come back, and callers are answered, so long after a fault at the latest. */
    private static final long ECHO_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final int PROBE_MS = 100;
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final TestServer[] servers;
    private final Load load;
    private final Random random;
    private final List<Window> windows = new ArrayList<>();

    /** A time without answers. */
    private static final class Window {
        private final int server;
        private final long begin;
        private long end;

        private Window(int server, long begin, long end) {
            this.server = server;
            this.begin = begin;
            this.end = end;
        }
    }

    Faults(TestServer[] servers, Load load, long seed) {
        this.servers = servers;
        this.load = load;
        this.random = new Random(seed);
    }

    /** Whether a server of {@code parties} gave no answers at some time between {@code begun} and {@code until}. */
    synchronized boolean explain(List<Party> parties, long begun, long until) {
        return windows.stream().anyMatch(each -> concerns(each, parties) && until - each.begin > 0
                && (each.end == Long.MAX_VALUE || each.end + ECHO_NANOS - begun > 0));
    }

    /** Whether they gave none for so long, all in all, that a renewed hold may have ended. */
    synchronized boolean explainLoss(List<Party> parties, long taken, long until) {
        long silent = windows.stream().filter(each -> concerns(each, parties))
                .mapToLong(each -> Math.max(0, (each.end == Long.MAX_VALUE ? until : Math.min(until, each.end)) - Math.max(each.begin, taken))).sum();
        return silent > SILENT_NANOS;
    }

    @Override
    public void run() {
        try {
            while (load.goesOn(4000 + random.nextInt(16_000))) {
                int server = random.nextInt(servers.length);
                int draw = random.nextInt(18);
                if (draw < 6) {
                    freeze(server, 100 + random.nextInt(3000));
                } else if (draw < 9) {
                    restart(server);
                } else if (draw < 10) {
                    freeze(server, 11_000 + random.nextInt(3000));
                } else {
                    cut(server, draw % 2 == 0 ? "normal" : "pubsub");
                }
            }
        } catch (Exception e) {
            load.verdict.fail("the faults ended: " + e);
        }
    }

    /** Answers that are late because this machine has more to do than it can are a fault as well, be it the server's process or this one. */
    Runnable watch(int server) {
        return () -> {
            long begin = System.nanoTime();
            while (load.goesOn(PROBE_MS)) {
                try {
                    servers[server].call("PING");
                } catch (IOException e) {
                    // It is down, or late; the clock tells.
                }
                long end = System.nanoTime();
                long late = end - begin - TimeUnit.MILLISECONDS.toNanos(PROBE_MS);
                if (late > LATE_NANOS && isUnexpected(server, begin, end)) {
                    load.verdict.count("machine", "late answers");
                    load.verdict.count("machine", "ms in all", TimeUnit.NANOSECONDS.toMillis(late));
                }
                begin = end;
            }
        };
    }

    private synchronized boolean isUnexpected(int server, long begin, long end) {
        boolean expected = windows.stream().anyMatch(each -> each.server == server && each.end - begin > 0);
        windows.add(new Window(server, begin, end));
        return !expected;
    }

    private void freeze(int server, long ms) throws Exception {
        Window window = begin(server);
        try {
            servers[server].freeze();
            load.goesOn(ms);
        } finally {
            servers[server].thaw();
            end(window);
        }
        load.verdict.count("faults", ms > 5000 ? "long freezes" : "freezes");
    }

    private void restart(int server) throws Exception {
        Window window = begin(server);
        servers[server].stop();
        load.goesOn(random.nextInt(2000));
        while (!isBack(server)) {
            load.verdict.count("machine", "a server took longer than 20 s to begin");
            servers[server].stop();
        }
        end(window);
        load.verdict.count("faults", "restarts");
    }

    private void cut(int server, String type) throws Exception {
        try {
            servers[server].call("CLIENT", "KILL", "TYPE", type);
            load.verdict.count("faults", "cuts of " + type);
        } catch (IOException e) {
            load.verdict.count("machine", "late answers to an operator");
        }
    }

    private boolean isBack(int server) throws Exception {
        try {
            servers[server].restart();
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    private synchronized Window begin(int server) {
        Window window = new Window(server, System.nanoTime(), Long.MAX_VALUE);
        windows.add(window);
        return window;
    }

    private synchronized void end(Window window) {
        window.end = System.nanoTime();
        windows.removeIf(each -> each.end != Long.MAX_VALUE && System.nanoTime() - each.end > TimeUnit.MINUTES.toNanos(10));
    }

    private static boolean concerns(Window window, List<Party> parties) {
        return parties.stream().anyMatch(each -> each.server == window.server);
    }
}
