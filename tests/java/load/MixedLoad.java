import java.io.File;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Everything that programs do with locks, at once and for long, beside everything that may go wrong: prints a line a minute and a table at the
 * end, and ends with 0 if every promise was kept.
 */
public final class MixedLoad {
    private static final int SERVERS = 3;
    private static final int FIXED = 6;
    /** That of the program, and of the class loaders of a minute. */
    private static final int MOST_LIBRARIES = 10;
    private static final int TOO_LONG_MS = 180_000;

    private final TestServer[] servers;
    private final Load load;
    private final Vitals vitals = new Vitals();
    private final List<Thread> threads = new ArrayList<>();
    private final ExecutorService fixed = Executors.newFixedThreadPool(FIXED);
    private final ExecutorService rounds = Executors.newCachedThreadPool();
    private final Thread completions;
    private final Visitors visitors;
    private final Method startVirtualThread = virtualThreads();
    private int latches;

    private MixedLoad(TestServer[] servers, long seed) throws Exception {
        this.servers = servers;
        this.load = new Load(servers, seed);
        this.visitors = new Visitors(load, servers);
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> load.verdict.fail(thread + " ended by " + error));
        load.clients.any(new Random(), 0).client.getLock("first").lockAsync(1).toCompletableFuture().get();
        load.clients.any(new Random(), 0).client.getLock("first").forceUnlock();
        completions = Vitals.threads("redlatch-completions").get(0);
    }

    /** @param arguments for how many minutes, and a seed for the faults */
    public static void main(String... arguments) throws Exception {
        double minutes = Double.parseDouble(arguments[0]);
        long seed = arguments.length > 1 ? Long.parseLong(arguments[1]) : System.nanoTime();
        System.out.println(Vitals.clock() + " JDK " + Runtime.version() + ", " + minutes + " minutes, seed " + seed);
        TestServer[] servers = new TestServer[SERVERS];
        for (int i = 0; i < SERVERS; i++) {
            servers[i] = TestServer.start("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-min-size", "16mb");
        }
        long sockets = Vitals.openSockets();
        MixedLoad run = new MixedLoad(servers, seed);
        run.run(TimeUnit.SECONDS.toNanos((long) (minutes * 60)));
        run.end(sockets);
        boolean good = run.load.verdict.failed() == 0;
        System.out.println("\n" + Vitals.clock() + (good ? " PASSED" : " FAILED"));
        System.exit(good ? 0 : 1);
    }

    private void run(long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        start("load-faults", load.faults);
        for (int server = 0; server < SERVERS; server++) {
            start("load-probe", load.faults.watch(server));
        }
        start("load-clients", load.clients);
        start("load-visitors", visitors);
        start("load-interrupts", this::interrupt);
        start("load-common", every(300, this::common));
        start("load-short", every(250, this::shortThreads));
        start("load-chains", every(60, () -> Chain.start(load)));
        start("load-latches", every(1000, () -> {
            int number = latches++;
            rounds.execute(() -> LatchRound.run(load, number, rounds));
        }));
        start("load-epochs", this::epochs);
        for (int i = 0; i < FIXED; i++) {
            fixed.execute(every(100, () -> BlockingUse.run(load, "fixed")));
        }
        File early = new File(System.getProperty("load.end", "end"));
        for (long second = 0; System.nanoTime() < end && !early.exists(); second++) {
            Thread.sleep(1000);
            watch();
            if (second % 5 == 0) {
                vitals.sample();
            }
            if (second % 60 == 59) {
                System.out.println(line());
            }
        }
    }

    private void watch() throws Exception {
        load.judgeSuspects();
        if (Vitals.libraries() > MOST_LIBRARIES) {
            load.verdict.fail("native libraries of class loaders that are gone are kept: " + Vitals.libraries());
        }
        if (!completions.isAlive()) {
            load.verdict.fail("the thread " + completions + " has ended while clients are open");
        }
        for (Use use : load.running) {
            if (use.age() > TOO_LONG_MS / 3 && use.mayStarve()) {
                use.interrupt();
            }
            if (use.age() > TOO_LONG_MS) {
                load.running.remove(use);
                StringBuilder trace = new StringBuilder();
                for (StackTraceElement each : use.thread == null ? new StackTraceElement[0] : use.thread.getStackTrace()) {
                    trace.append("\n      at ").append(each);
                }
                load.verdict.fail("hangs for " + use.age() + " ms: " + use + trace);
            }
        }
    }

    private String line() throws Exception {
        return Vitals.clock() + "  inside " + load.verdict.counted("exclusion", "checked") + " times, running " + load.running.size()
                + ", " + Vitals.residentMb() + " MB, " + Vitals.openFiles() + " files, " + Vitals.libraries() + " libraries, threads: "
                + Vitals.nativeThreads("") + " of which redlatch-io " + Vitals.nativeThreads("redlatch-io") + ", completions "
                + Vitals.threads("redlatch-completions").size() + ", callbacks " + Vitals.threads("redlatch-callbacks").size()
                + ", failures " + load.verdict.failed();
    }

    private void common() {
        if (ThreadLocalRandom.current().nextBoolean()) {
            IntStream.range(0, 6).parallel().forEach(i -> BlockingUse.run(load, "parallel stream"));
        } else {
            for (int i = 0; i < 6; i++) {
                CompletableFuture.runAsync(() -> BlockingUse.run(load, "common pool"));
            }
        }
    }

    private void shortThreads() throws ReflectiveOperationException {
        for (int i = 0; i < 6; i++) {
            if (startVirtualThread == null) {
                new Thread(() -> BlockingUse.run(load, "short thread")).start();
            } else {
                startVirtualThread.invoke(null, (Runnable) () -> BlockingUse.run(load, "virtual thread"));
            }
        }
    }

    private void interrupt() {
        every(150, () -> {
            List<Use> all = new ArrayList<>(load.running);
            if (!all.isEmpty()) {
                all.get(ThreadLocalRandom.current().nextInt(all.size())).interrupt();
            }
        }).run();
    }

    private void epochs() {
        try {
            while (load.goesOn(5000)) {
                load.epochs.pass(false);
            }
        } catch (Exception e) {
            load.verdict.fail("judging the epochs ended: " + e);
        }
    }

    /** Stops in order, and looks at what is left. */
    private void end(long socketsBefore) throws Exception {
        System.out.println(Vitals.clock() + " the load ends");
        load.end();
        fixed.shutdown();
        for (Thread each : threads) {
            each.join();
        }
        for (int second = 0; (!load.running.isEmpty() || load.hasSuspects()) && second < 2 * TOO_LONG_MS / 1000; second++) {
            Thread.sleep(1000);
            watch();
        }
        rounds.shutdown();
        for (boolean last = true; last || load.epochs.unjudged() > 0; last = false) {
            load.epochs.pass(last);
        }
        if (!completions.isAlive()) {
            load.verdict.fail("the thread " + completions + " has ended while clients are open");
        }
        load.clients.close();
        within(30, "class loaders", () -> visitors.collect(true));
        within(30, "threads of ours after the end of all clients", () -> Vitals.nativeThreads("redlatch") + Vitals.threads("redlatch").size());
        within(30, "libraries beside that of the program", () -> Math.max(0, Vitals.libraries() - 1));
        for (int server = 0; server < SERVERS; server++) {
            Object left = servers[server].ask("KEYS", "*");
            if (!left.equals(List.of())) {
                load.verdict.fail("left behind on server " + server + ": " + left);
            }
        }
        within(30, "sockets and the like that are open after the end", () -> Math.max(0, Vitals.openSockets() - socketsBefore));
        everythingWasDone();
        vitals.judge(load.verdict);
        load.verdict.print();
    }

    /** A load that did nothing would keep every promise. */
    private void everythingWasDone() {
        List<String> kinds = new ArrayList<>(List.of("semaphore", "permits", "visitor"));
        for (LockKind each : LockKind.values()) {
            kinds.add(each.name().toLowerCase());
        }
        for (String each : kinds) {
            if (load.verdict.counted(each, "acquired") == 0) {
                load.verdict.fail("nothing was done with " + each);
            }
        }
        if (load.verdict.counted("latch", "opened") == 0 || load.verdict.counted("names", "judged") == 0) {
            load.verdict.fail("no latch has opened, or no name was judged");
        }
    }

    private interface Count {
        long get() throws Exception;
    }

    private void within(int seconds, String what, Count left) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (left.get() > 0 && System.nanoTime() < end) {
            Thread.sleep(500);
        }
        System.out.println(what + ": " + left.get());
        if (left.get() > 0) {
            load.verdict.fail("still there after " + seconds + " s: " + what + ", " + left.get());
        }
    }

    private void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        threads.add(thread);
        thread.start();
    }

    private interface Work {
        void run() throws Exception;
    }

    /** Repeats it until the end of the load. */
    private Runnable every(int ms, Work work) {
        return () -> {
            while (load.goesOn(ms / 2 + ThreadLocalRandom.current().nextInt(ms))) {
                try {
                    work.run();
                } catch (Throwable e) {
                    load.verdict.fail(Thread.currentThread().getName() + " met " + e);
                }
            }
        };
    }

    private static Method virtualThreads() {
        try {
            return Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
