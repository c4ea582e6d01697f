import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.redisson.Redisson;

/** Class loaders that come, bring the jar anew, and go; each must be collected. */
final class Visitors implements Runnable {
    private static final long MAY_STAY_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** A machine that is short of CPU collects less often in that time. */
    private static final int MAY_OUTLAST_COLLECTIONS = 5;

    private final Load load;
    private final TestServer[] servers;
    private final List<Gone> gone = new ArrayList<>();

    /** A class loader that was closed. */
    private static final class Gone {
        private final WeakReference<ClassLoader> loader;
        private final long since = System.nanoTime();
        private int collections;

        private Gone(WeakReference<ClassLoader> loader) {
            this.loader = loader;
        }

        private boolean isOverdue() {
            return ++collections > MAY_OUTLAST_COLLECTIONS && System.nanoTime() - since > MAY_STAY_NANOS;
        }
    }

    Visitors(Load load, TestServer[] servers) {
        this.load = load;
        this.servers = servers;
    }

    @Override
    public void run() {
        try {
            while (load.goesOn(10_000)) {
                visit();
                collect(false);
            }
        } catch (Throwable e) {
            load.verdict.fail("visitors ended: " + e);
        }
    }

    /** @param all whether every one must be gone by now; else those that had the time */
    int collect(boolean all) {
        System.gc();
        gone.removeIf(each -> {
            if (each.loader.get() == null) {
                load.verdict.count("class loaders", "collected");
                return true;
            }
            if (each.isOverdue() && !all) {
                load.verdict.fail("a class loader is kept, 60 s and " + each.collections + " collections after it was closed");
                return true;
            }
            return false;
        });
        return gone.size();
    }

    private void visit() throws Exception {
        Party party = load.clients.any(ThreadLocalRandom.current());
        Epoch epoch = load.epochs.use();
        // A visitor's own client is shut down in the midst of use.
        Party own = new Party(null, party.server);
        own.closing = true;
        Use use = new Use(load, "visitor", "class loader", epoch, List.of(own), null);
        BiFunction<String, BooleanSupplier, Runnable> enter = (name, lost) -> {
            use.count("acquired");
            return load.ledger.enter(List.of(Share.exclusive(party.server + "/" + name)), lost, use + " " + name)::leave;
        };
        BiConsumer<String, Throwable> failed = (operation, error) -> use.failed(operation, error, true);
        // A thread of its own: the C library keeps a native library for as long as a thread that has used it lives.
        Thread thread = new Thread(() -> visit(party, epoch, enter, failed, use), "load-visit");
        thread.start();
        thread.join();
    }

    private void visit(Party party, Epoch epoch, BiFunction<String, BooleanSupplier, Runnable> enter, BiConsumer<String, Throwable> failed, Use use) {
        WeakReference<ClassLoader> visitor = null;
        URL[] urls = {location(Redisson.class), location(Visitor.class)};
        try (URLClassLoader loader = new URLClassLoader(urls, new WithoutOurs(Visitors.class.getClassLoader()))) {
            Thread.currentThread().setContextClassLoader(loader);
            visitor = new WeakReference<>(loader);
            loader.loadClass("Visitor").getMethod("visit", String.class, int.class, String.class, BiFunction.class, BiConsumer.class)
                    .invoke(null, servers[party.server].url(), Clients.WATCHDOG_MS, epoch.prefix, enter, failed);
        } catch (ReflectiveOperationException | IOException e) {
            load.verdict.fail("a visit ended: " + e + ", " + e.getCause());
        } finally {
            use.end();
        }
        if (visitor != null) {
            gone.add(new Gone(visitor));
        }
    }

    /** Gives what a server shares with its applications, as the logging, and hides what each of them brings. */
    private static final class WithoutOurs extends ClassLoader {
        private final ClassLoader all;

        private WithoutOurs(ClassLoader all) {
            super(ClassLoader.getPlatformClassLoader());
            this.all = all;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (name.startsWith("org.slf4j.")) {
                return all.loadClass(name);
            }
            throw new ClassNotFoundException(name);
        }
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }
}
