// The measuring program for Java, over org.redisson only: `Program <platform|virtual> <plain|fair|spin> <url>` carries out what comes as
// lines, see bench/README.md. Compiled against our jar and against Redisson's.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class Program {
    private final RedissonClient client;
    private final boolean virtual;
    private final String kind;
    private final List<RLock> held = new ArrayList<>();
    private final Map<String, String> order = new HashMap<>();
    private List<FutureTask<Long>> waiting = List.of();

    Program(RedissonClient client, boolean virtual, String kind) {
        this.client = client;
        this.virtual = virtual;
        this.kind = kind;
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        String[] url = args[2].split("[?]watchdog=");
        config.useSingleServer().setAddress(url[0]);
        config.setLockWatchdogTimeout(1000 * Long.parseLong(url.length > 1 ? url[1] : "30"));
        Program program = new Program(Redisson.create(config), args[0].equals("virtual"), args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String what = program.read(line);
            System.out.println(program.start(() -> program.carryOut(what)).get());
            System.out.flush();
        }
        System.exit(0);
    }

    /** On a thread of the kind that is measured; JDK 17, which knows no virtual ones, compiles this. */
    private <T> FutureTask<T> start(Callable<T> work) throws ReflectiveOperationException {
        FutureTask<T> task = new FutureTask<>(work);
        if (virtual) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } else {
            new Thread(task).start();
        }
        return task;
    }

    private String read(String line) {
        String[] words = line.trim().split(" +");
        order.clear();
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            order.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        return words[0];
    }

    private String carryOut(String what) throws Exception {
        switch (what) {
            case "first": return first(lock(order.get("name")));
            case "solo": return report(List.of(pairs(lock(order.get("name")))));
            case "own": return own();
            case "crowd": return crowd(lock(order.get("name")));
            case "readers": return readers(client.getReadWriteLock(order.get("name")));
            case "permits": return permits(client.getSemaphore(order.get("name")));
            case "handover": return handover(lock(order.get("name")));
            case "wait": return await();
            case "woken": return woken();
            case "hold": return hold();
            case "held": return "held=" + held.stream().filter(RLock::isLocked).count();
            default: return "cannot=1";
        }
    }

    private RLock lock(String name) {
        switch (kind) {
            case "plain": return client.getLock(name);
            case "fair": return client.getFairLock(name);
            case "spin": return client.getSpinLock(name);
            default: throw new IllegalArgumentException("there is no kind `" + kind + "`");
        }
    }

    private static String first(RLock lock) {
        lock.lock();
        lock.unlock();
        return "pairs=1";
    }

    private long[] pairs(RLock lock) throws InterruptedException {
        long until = number("until");
        long[] took = new long[1 << 12];
        int count = 0;
        sleepUntil(number("from"));
        for (long last = System.nanoTime(); last < until || count == 0; count++) {
            lock.lock();
            lock.unlock();
            long now = System.nanoTime();
            if (count == took.length) {
                took = Arrays.copyOf(took, 2 * count);
            }
            took[count] = now - last;
            last = now;
        }
        return Arrays.copyOf(took, count);
    }

    private static String report(List<long[]> all) {
        long[] took = all.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        return "pairs=" + took.length + " p50=" + took[(took.length - 1) / 2] + " p99=" + took[(int) ((took.length - 1) * 0.99)];
    }

    private String own() throws Exception {
        List<FutureTask<long[]>> callers = new ArrayList<>();
        for (int i = 0; i < number("callers"); i++) {
            RLock lock = lock(order.get("name") + ":" + i);
            callers.add(start(() -> pairs(lock)));
        }
        return report(results(callers));
    }

    private static <T> List<T> results(List<FutureTask<T>> tasks) throws InterruptedException, ExecutionException {
        List<T> results = new ArrayList<>();
        for (FutureTask<T> task : tasks) {
            results.add(task.get());
        }
        return results;
    }

    private interface Turn {
        void run(long number) throws InterruptedException;
    }

    /** What one of several workers got. */
    private static final class Share {
        long taken;
        long longest;
    }

    /** Workers take and give again and again, and do nothing in between; each counts its turns from 0. */
    private String contend(Turn take, Turn give) throws Exception {
        long from = number("from");
        long until = number("until");
        List<FutureTask<Share>> workers = new ArrayList<>();
        for (int i = 0; i < number("workers"); i++) {
            workers.add(start(() -> worker(take, give, from, until)));
        }
        List<Share> shares = results(workers);
        String taken = shares.stream().map(share -> String.valueOf(share.taken)).collect(Collectors.joining(","));
        return "taken=" + taken + " longest=" + shares.stream().mapToLong(share -> share.longest).max().getAsLong();
    }

    private static Share worker(Turn take, Turn give, long from, long until) throws InterruptedException {
        Share share = new Share();
        sleepUntil(from);
        for (long asked = System.nanoTime(); asked < until; asked = System.nanoTime()) {
            take.run(share.taken);
            share.longest = Math.max(share.longest, System.nanoTime() - asked);
            give.run(share.taken);
            share.taken++;
        }
        return share;
    }

    private String crowd(RLock lock) throws Exception {
        return contend(number -> lock.lock(), number -> lock.unlock());
    }

    private String readers(RReadWriteLock lock) throws Exception {
        if (!kind.equals("plain")) {
            return "cannot=1";
        }
        long writes = number("writes");
        RLock[] halves = {lock.readLock(), lock.writeLock()};
        return contend(number -> halves[number % writes == 0 ? 1 : 0].lock(), number -> halves[number % writes == 0 ? 1 : 0].unlock());
    }

    private String permits(RSemaphore semaphore) throws Exception {
        if (!kind.equals("plain")) {
            return "cannot=1";
        }
        semaphore.trySetPermits((int) number("permits"));
        return contend(number -> semaphore.acquire(), number -> semaphore.release());
    }

    private String handover(RLock lock) throws InterruptedException {
        List<String> taken = new ArrayList<>();
        List<String> released = new ArrayList<>();
        for (long i = number("times"); i > 0; i--) {
            lock.lock();
            taken.add(String.valueOf(System.nanoTime()));
            Thread.sleep(number("hold"));
            released.add(String.valueOf(System.nanoTime()));
            lock.unlock();
            Thread.sleep(number("gap"));
        }
        return "taken=" + String.join(",", taken) + " released=" + String.join(",", released);
    }

    private String await() throws Exception {
        RLock lock = lock(order.get("name"));
        waiting = new ArrayList<>();
        for (long i = number("waiters"); i > 0; i--) {
            waiting.add(start(() -> {
                lock.lock();
                lock.unlock();
                return System.nanoTime();
            }));
        }
        return "waiting=" + waiting.size();
    }

    private String woken() throws Exception {
        List<Long> times = results(waiting);
        return "woken=" + times.size() + " last=" + times.stream().mapToLong(time -> time).max().orElse(0);
    }

    private String hold() {
        for (long i = number("locks"); i > 0; i--) {
            RLock lock = lock(order.get("name") + ":" + i);
            lock.lock();
            held.add(lock);
        }
        return "held=" + held.size();
    }

    private long number(String name) {
        return Long.parseLong(order.get(name));
    }

    private static void sleepUntil(long time) throws InterruptedException {
        Thread.sleep(Math.max(0, time - System.nanoTime()) / 1_000_000);
    }
}
