// The measuring program for Java, over org.redisson only: `Program <platform|virtual> <url>` carries out what comes as lines, see
// bench/README.md. Compiled against our jar and against Redisson's.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class Program {
    private final RedissonClient client;
    private final List<RLock> held = new ArrayList<>();
    private final Map<String, String> order = new HashMap<>();

    Program(RedissonClient client) {
        this.client = client;
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        String[] url = args[1].split("[?]watchdog=");
        config.useSingleServer().setAddress(url[0]);
        config.setLockWatchdogTimeout(1000 * Long.parseLong(url.length > 1 ? url[1] : "30"));
        Program program = new Program(Redisson.create(config));
        boolean virtual = args[0].equals("virtual");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String what = program.read(line);
            System.out.println(virtual ? onVirtualThread(() -> program.carryOut(what)) : program.carryOut(what));
            System.out.flush();
        }
        System.exit(0);
    }

    /** JDK 17 compiles this. */
    private static String onVirtualThread(Callable<String> work) throws Exception {
        FutureTask<String> task = new FutureTask<>(work);
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        return task.get();
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
            case "solo": return solo(client.getLock(order.get("name")));
            case "crowd": return crowd();
            case "handover": return handover(client.getLock(order.get("name")));
            case "hold": return hold();
            case "held": return "held=" + held.stream().filter(RLock::isHeldByCurrentThread).count();
            default: throw new IllegalArgumentException("there is no order `" + what + "`");
        }
    }

    private String solo(RLock lock) throws InterruptedException {
        long until = number("until");
        long[] took = new long[1 << 17];
        int count = 0;
        sleepUntil(number("from"));
        for (long last = System.nanoTime(); last < until; count++) {
            lock.lock();
            lock.unlock();
            long now = System.nanoTime();
            if (count == took.length) {
                took = Arrays.copyOf(took, 2 * count);
            }
            took[count] = now - last;
            last = now;
        }
        Arrays.sort(took, 0, count);
        return "pairs=" + count + " p50=" + took[(count - 1) / 2] + " p99=" + took[(int) ((count - 1) * 0.99)];
    }

    /** What one worker of a crowd did. */
    private static final class Share {
        long taken;
        long longest;
    }

    private String crowd() throws Exception {
        long from = number("from");
        long until = number("until");
        RLock lock = client.getLock(order.get("name"));
        List<FutureTask<Share>> workers = new ArrayList<>();
        for (int i = 0; i < number("workers"); i++) {
            workers.add(new FutureTask<>(() -> worker(lock, from, until)));
        }
        workers.forEach(worker -> new Thread(worker).start());
        List<Share> shares = new ArrayList<>();
        for (FutureTask<Share> worker : workers) {
            shares.add(worker.get());
        }
        String taken = shares.stream().map(share -> String.valueOf(share.taken)).collect(Collectors.joining(","));
        return "taken=" + taken + " longest=" + shares.stream().mapToLong(share -> share.longest).max().getAsLong();
    }

    private static Share worker(RLock lock, long from, long until) throws InterruptedException {
        Share share = new Share();
        sleepUntil(from);
        for (long asked = System.nanoTime(); asked < until; asked = System.nanoTime()) {
            lock.lock();
            share.longest = Math.max(share.longest, System.nanoTime() - asked);
            lock.unlock();
            share.taken++;
        }
        return share;
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

    private String hold() {
        for (long i = number("locks"); i > 0; i--) {
            RLock lock = client.getLock(order.get("name") + ":" + i);
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
