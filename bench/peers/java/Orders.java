// Carries out orders, one a line (see bench/README.md), with the locks of one engine.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;

final class Orders {
    private final Engine engine;
    private final Callers callers;
    private final Map<String, String> order = new HashMap<>();
    private final BlockingQueue<Long> woken = new LinkedBlockingQueue<>();
    private int waiters;
    private int holds;

    private Orders(Engine engine, Callers callers) {
        this.engine = engine;
        this.callers = callers;
    }

    /** Reads orders until there are no more; a caller carries out each. */
    static void carryOut(Engine engine, Callers callers) throws Exception {
        Orders orders = new Orders(engine, callers);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String what = orders.read(line);
            String answer;
            try {
                answer = callers.together(1, number -> () -> orders.carryOut(what)).get(0);
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof Engine.Cannot)) {
                    throw e;
                }
                answer = "cannot=1";
            }
            System.out.println(answer);
        }
        Runtime.getRuntime().halt(0); // even if callers still wait
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
        String name = order.get("name");
        switch (what) {
            case "first": return first(engine.lock(name, 0));
            case "solo": return paired(1, caller -> engine.lock(name, 0));
            case "own": return paired(number("callers"), caller -> engine.lock(name + ":" + caller, caller));
            case "crowd": return crowd(name, number("hold"));
            case "readers": return contended(worker -> turns(engine.readWrite(name, worker), number("writes")));
            case "permits": return contended(worker -> List.of(engine.permits(name, number("permits"), worker)));
            case "handover": return Measure.handover(engine.lock(name, 0), number("times"), number("hold"), number("gap"));
            case "wait": return waiting(name);
            case "woken": return woken();
            case "hold": return hold(name);
            default: throw new Engine.Cannot();
        }
    }

    private static String first(Engine.Lock lock) throws Exception {
        lock.acquire();
        lock.release();
        return "pairs=1";
    }

    /** The locks of each caller: one, or several that it takes in turn. */
    private interface Given<T> {
        T to(int caller) throws Exception;
    }

    private String paired(int count, Given<Engine.Lock> locks) throws Exception {
        long from = time("from");
        long until = time("until");
        return Measure.paired(callers.together(count, caller -> {
            Engine.Lock lock = locks.to(caller);
            return () -> Measure.pairs(lock, from, until);
        }));
    }

    private String contended(Given<List<Engine.Lock>> locks) throws Exception {
        long from = time("from");
        long until = time("until");
        return Measure.contended(callers.together(number("workers"), worker -> {
            List<Engine.Lock> turns = locks.to(worker);
            return () -> Measure.contend(turns, from, until);
        }));
    }

    private String crowd(String name, int hold) throws Exception {
        Owners owners = new Owners();
        String shares = contended(worker -> List.of(owners.counted(engine.lock(name, worker), worker, hold)));
        return shares + " changes=" + owners.changes();
    }

    private static List<Engine.Lock> turns(Engine.ReadWrite locks, int writes) {
        List<Engine.Lock> turns = new ArrayList<>(Collections.nCopies(writes - 1, locks.reader()));
        turns.add(locks.writer());
        return turns;
    }

    private String waiting(String name) throws Exception {
        waiters = number("waiters");
        CountDownLatch asked = new CountDownLatch(waiters);
        List<Engine.Lock> locks = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            locks.add(engine.lock(name, i));
        }
        for (Engine.Lock lock : locks) {
            callers.start(() -> waitFor(lock, asked));
        }
        asked.await();
        return "waiting=" + waiters;
    }

    private void waitFor(Engine.Lock lock, CountDownLatch asked) {
        try {
            asked.countDown();
            lock.acquire();
            lock.release();
            woken.add(System.nanoTime());
        } catch (Exception e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1); // else the failure of this thread would go unnoticed
        }
    }

    private String woken() throws InterruptedException {
        long last = 0;
        for (int i = 0; i < waiters; i++) {
            last = Math.max(last, woken.take());
        }
        return "woken=" + waiters + " last=" + last;
    }

    private String hold(String name) throws Exception {
        for (int i = 1; i <= number("locks"); i++, holds++) {
            engine.hold(name + ":" + i);
        }
        return "held=" + holds;
    }

    private int number(String name) {
        return Integer.parseInt(order.get(name));
    }

    private long time(String name) {
        return Long.parseLong(order.get(name));
    }
}
