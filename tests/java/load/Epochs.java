import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.redisson.api.RLock;

/** The names of the moment. What was used before is looked for on the servers: there must be nothing but what never ends by design. */
final class Epochs {
    private static final long LASTS_NANOS = TimeUnit.SECONDS.toNanos(120);
    /** Leases, latches of releases and queues of waiters that were shut down have ended by then, if no client renews them. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(90);

    /** A key of a fair lock's queue as {@link #left} has it: the server and the name. */
    private static final Pattern QUEUE = Pattern.compile("([0-9])/redisson_lock_(?:queue|timeout):[{](.*)[}] .*");

    private final TestServer[] servers;
    private final Load load;
    private final List<Epoch> past = new ArrayList<>();
    private int number;
    private Epoch present = new Epoch(0);
    private long begun = System.nanoTime();

    Epochs(TestServer[] servers, Load load) {
        this.servers = servers;
        this.load = load;
    }

    /** The epoch of a new use, which ends with {@link Use#end}. */
    synchronized Epoch use() {
        present.uses.incrementAndGet();
        return present;
    }

    /** Judges the epochs whose uses have all ended. Blocks while keys are left that may still end by themselves. */
    void pass(boolean last) throws Exception {
        Epoch due = null;
        synchronized (this) {
            if (last || System.nanoTime() - begun > LASTS_NANOS) {
                past.add(present);
                present = new Epoch(++number);
                begun = System.nanoTime();
            }
            for (Epoch each : past) {
                due = each.uses.get() == 0 ? each : due;
            }
            past.remove(due);
        }
        if (due != null) {
            judge(due);
        }
    }

    synchronized int unjudged() {
        return past.size();
    }

    private void judge(Epoch epoch) throws Exception {
        long end = System.nanoTime() + PATIENCE_NANOS;
        long swept = System.nanoTime() + PATIENCE_NANOS / 3;
        List<String> left;
        do {
            Thread.sleep(1000);
            left = left(epoch);
            if (System.nanoTime() > swept) {
                left.forEach(this::sweep);
            }
        } while (!left.isEmpty() && System.nanoTime() < end);
        load.verdict.count("names", "judged");
        load.verdict.count("names", "permits whose fate is unknown", epoch.unknownPermits.get() + epoch.unknownIds.get());
        if (!left.isEmpty()) {
            load.verdict.fail("left behind: " + left);
        }
        load.ledger.forgetTokens(epoch.prefix);
    }

    /**
     * A waiter whose client is shut down while its server is silent leaves its place in a fair lock's queue, which has no end of its own. The next
     * caller passes it over, and the queue goes with it.
     */
    private void sweep(String left) {
        Matcher queue = QUEUE.matcher(left);
        if (queue.matches()) {
            Party party = load.clients.any(ThreadLocalRandom.current(), Integer.parseInt(queue.group(1)));
            RLock lock = party.client.getFairLock(queue.group(2));
            try {
                if (lock.tryLock(1, TimeUnit.SECONDS)) {
                    lock.unlock();
                    load.verdict.count("names", "queues of waiters that are gone");
                }
            } catch (InterruptedException | RuntimeException e) {
                // A fault; it is tried again.
            }
        }
    }

    /** Each key of the epoch that must not be there. */
    private List<String> left(Epoch epoch) throws Exception {
        List<String> left = new ArrayList<>();
        for (int server = 0; server < servers.length; server++) {
            try {
                for (String key : keys(server, epoch)) {
                    String why = wrong(server, key, epoch);
                    if (why != null) {
                        left.add(server + "/" + key + " " + why);
                    }
                }
            } catch (IOException e) {
                left.add("server " + server + " does not answer: " + e);
            }
        }
        for (int server = 0; left.isEmpty() && server < servers.length; server++) {
            try {
                for (String key : keys(server, epoch)) {
                    servers[server].ask("DEL", key);
                }
            } catch (IOException e) {
                left.add("server " + server + " does not answer: " + e);
            }
        }
        return left;
    }

    private List<String> keys(int server, Epoch epoch) throws Exception {
        Object keys = servers[server].ask("KEYS", "*" + epoch.prefix + "*");
        if (!(keys instanceof List)) {
            throw new IOException("the server says " + keys);
        }
        // `e1:` is a part of `e11:` as well.
        return ((List<?>) keys).stream().map(String::valueOf).filter(key -> key.matches("(.*[^0-9a-z])?" + epoch.prefix + ".*")).collect(Collectors.toList());
    }

    /** Why the key must not be there; null if it may. */
    private String wrong(int server, String key, Epoch epoch) throws Exception {
        if (key.startsWith("redisson_lock_token:")) {
            return null;
        }
        if (key.startsWith(epoch.prefix + "semaphore") || key.startsWith(epoch.prefix + "permits")) {
            int unknown = (key.startsWith(epoch.prefix + "semaphore") ? epoch.unknownPermits : epoch.unknownIds).get();
            String available = String.valueOf(servers[server].ask("GET", key));
            boolean right = available.matches("-?[0-9]+") && Integer.parseInt(available) <= Epoch.PERMITS
                    && Integer.parseInt(available) >= Epoch.PERMITS - unknown;
            return right ? null : "has " + available + " permits, " + unknown + " unknown";
        }
        if (key.contains("timeout") && key.contains("permits") && epoch.unknownIds.get() > 0) {
            return null;
        }
        Object type = servers[server].ask("TYPE", key);
        return "(" + type + ", PTTL " + servers[server].ask("PTTL", key)
                + (type.equals("hash") ? ", " + servers[server].ask("HGETALL", key) : "") + ")";
    }
}
