package io.redlatch.internal;

import io.redlatch.NativeLibraryError;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** One client of the native core, under the {@code org.redisson} classes. Safe for use by many threads. */
public final class Core {
    private static final AtomicLong TICKETS = new AtomicLong();
    /** How long a thread that can be interrupted may be inside the native library, in ms: no interrupt reaches it there. */
    private static final long INSIDE_MS = 250;
    /** As long as its call may take. */
    private static final long AS_LONG_AS_IT_TAKES = 0;
    /** How often a caller that gives up looks for the end of its request, which takes moments if the server answers. */
    private static final int LOOKS = 25;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final Function<Answer, Answer> ITSELF = answer -> answer;

    private final long client;
    private final String id;
    private final Executor executor;
    /** The context class loader of the application: that of the thread that made the client. */
    private final ClassLoader loader;
    /** The holds that a caller has asked for, until they end. Each is watched once, however often callers ask for it. */
    private final ConcurrentHashMap<Long, KnownHold> holds;
    /** The same of the groups whose home is this client: any number of objects stand for one group, and a hold is one hold. */
    private final ConcurrentHashMap<Long, KnownHold> holdsOfGroups;
    /** The kinds that {@link #require} has found, so that the next lock of that kind costs no native call. */
    private final Set<String> kinds = ConcurrentHashMap.newKeySet();
    /** The member's client that has the holds of this group. Null: this is no group, or every member was closed when it was made. */
    private final Core home;

    private final AtomicBoolean closed = new AtomicBoolean();
    /** Null: nothing. */
    private volatile Runnable atEnd;

    /** As it was connected; null for a group. */
    private final String url;
    private final String[] options;

    private Core(long client, String url, String[] options, Executor executor, ClassLoader loader) {
        this.client = client;
        this.url = url;
        this.options = options;
        this.id = Native.id(client);
        this.executor = executor;
        this.loader = loader;
        this.home = null;
        this.holds = new ConcurrentHashMap<>();
        this.holdsOfGroups = new ConcurrentHashMap<>();
    }

    /** A group. */
    private Core(long client, Core[] members) {
        this.client = client;
        this.url = null;
        this.options = null;
        this.id = Native.id(client); // that of its home
        this.executor = members[0].executor;
        this.loader = members[0].loader;
        this.home = Arrays.stream(members).filter(member -> member.id.equals(id)).findFirst().orElse(null);
        this.holdsOfGroups = home == null ? new ConcurrentHashMap<>() : home.holdsOfGroups;
        this.holds = holdsOfGroups;
    }

    /**
     * Readies a client; the first request connects.
     *
     * @param options the core's options by name; times are seconds
     * @param executor where the listeners of keys run; null: on threads of our own
     * @throws IllegalArgumentException for a URL or an option that cannot be used
     * @throws NativeLibraryError if the native library cannot be used here
     */
    public static Core connect(String url, Map<String, String> options, Executor executor) {
        NativeLibrary.load();
        Objects.requireNonNull(LateClasses.ALL);
        Completions.link();
        List<String> flat = new ArrayList<>();
        options.forEach((name, value) -> Collections.addAll(flat, name, value));
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        String[] pairs = flat.toArray(new String[0]);
        Core core = new Core(Native.connect(url, pairs), url, pairs, executor, loader);
        Completions.opened();
        try {
            Callbacks.THREADS.open();
        } catch (Throwable e) { // the system has no thread for it
            core.close(false);
            throw e;
        }
        return core;
    }

    /**
     * The client of one lock that is these locks together. The native library forgets it when no object refers to it; its holds stay held.
     *
     * @param majority whether more than half of them are enough; else all are needed. A client that is closed never has its lock
     * @param kinds the core's name of the kind of each
     * @throws IllegalArgumentException if there is no lock, or one of them twice
     */
    public static Core group(boolean majority, Core[] clients, String[] kinds, byte[][] names) {
        NativeLibrary.load();
        while (true) {
            long[] numbers = new long[clients.length]; // 0 is the number of none
            try {
                for (int i = 0; i < clients.length; i++) {
                    numbers[i] = clients[i].closed.get() ? Native.standIn(clients[i].url, clients[i].options) : clients[i].client;
                }
                Core group = new Core(Native.group(majority, numbers, kinds, names), clients);
                Groups.add(group, clients);
                return group;
            } catch (IllegalArgumentException e) {
                if (!isOutdated(numbers, clients)) {
                    throw e;
                }
            } finally {
                for (int i = 0; i < clients.length; i++) {
                    if (numbers[i] != 0 && numbers[i] != clients[i].client) {
                        Native.close(numbers[i], false);
                    }
                }
            }
        }
    }

    /** Whether a client was closed after its number was read: then the native library no longer knows that number. */
    private static boolean isOutdated(long[] numbers, Core[] clients) {
        for (int i = 0; i < clients.length; i++) {
            if (numbers[i] == clients[i].client && clients[i].closed.get()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Has connections that are opened from now on log in with these, either of which may be null.
     *
     * @throws IllegalArgumentException for what is too long to be one of them, and for a user without a password
     */
    public void credentials(String username, String password) {
        Native.credentials(client, username, password == null ? "" : password);
    }

    /** The uuid under which this client holds locks. */
    public String id() {
        return id;
    }

    /** Fills in the figures of this client, see {@link Native#stats}. False: it is closed. Asks nothing of the server. */
    public boolean stats(long[] numbers) {
        return Native.stats(client, numbers);
    }

    /**
     * The holder that alone is to lose a lock of a listing, see {@link Native#evictee}. Asks nothing of the server.
     *
     * @throws UnsupportedOperationException if a lock of that kind has no such holder; the text says how it is freed
     */
    public static String evictee(String kind, String name, String[] holders) {
        return Native.evictee(kind, name, holders);
    }

    /**
     * Asks nothing of the server.
     *
     * @param kind the core's name of the kind
     * @throws UnsupportedOperationException if the servers do not have it; the text names the kinds that they have
     */
    public void require(String kind) {
        if (!kinds.contains(kind)) {
            Native.require(client, kind);
            kinds.add(kind);
        }
    }

    /** Whether {@link #require} finds that kind. */
    public boolean has(String kind) {
        try {
            require(kind);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    /** Runs a request on the calling thread. Interrupts do not end it; the thread's flag is set again afterwards. */
    public Answer run(Request request) {
        return run(request, ITSELF);
    }

    /**
     * As {@link #run(Request)}.
     *
     * @param decode makes the result of the answer. If it ends with an error of the JVM, as for want of memory, the caller never hears of the
     *        answer, and what it has brought is given back
     */
    public <V> V run(Request request, Function<Answer, V> decode) {
        Object wait = FlightRecords.begin(request);
        Call call = start(request, AS_LONG_AS_IT_TAKES);
        try {
            return decode.apply(recorded(wait, request, call.pending.await(), Thread.currentThread()));
        } catch (Error e) {
            call.abandon();
            throw e;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** As {@link #runInterruptibly(Request, Function)}. */
    public Answer runInterruptibly(Request acquire) throws InterruptedException {
        return runInterruptibly(acquire, ITSELF);
    }

    /**
     * Runs an acquire on the calling thread.
     *
     * @param decode as in {@link #run(Request, Function)}
     * @throws InterruptedException if the thread is interrupted before or while it waits; then nothing is held. A server that does not
     *         answer is not waited for: a lock that it may grant later is given back at once
     */
    public <V> V runInterruptibly(Request acquire, Function<Answer, V> decode) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before the lock was asked for");
        }
        Object wait = FlightRecords.begin(acquire);
        Call call = start(acquire, INSIDE_MS);
        try {
            return decode.apply(recorded(wait, acquire, call.pending.awaitInterruptibly(), Thread.currentThread()));
        } catch (InterruptedException e) {
            call.abandon();
            FlightRecords.end(wait, this, acquire, null);
            throw e;
        } catch (Error e) {
            call.abandon();
            throw e;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** A request of a thread, with all that it needs behind its start: when the server grants the lock there may be no memory. */
    private final class Call implements Consumer<Answer> {
        final PendingAnswer pending = new PendingAnswer(TICKETS.incrementAndGet());
        private final Request request;
        /** Is there when what the request brought is given back. Null: there is no memory to wait for that. */
        private PendingAnswer settled;

        Call(Request request) {
            this.request = request;
        }

        /** Has the request end, and takes back what it brings. Returns when that is done, when the server is silent, or for want of memory. */
        void abandon() {
            try {
                settled = new PendingAnswer(TICKETS.incrementAndGet());
                Completions.expect(settled.ticket, settled);
            } catch (OutOfMemoryError e) {
                settled = null;
            }
            pending.then(this);
            Native.cancel(client, pending.ticket);
            try {
                if (settled != null) {
                    settled.awaitAtMost(LOOKS);
                }
            } catch (OutOfMemoryError e) {
                // Then the caller goes before the end.
            }
        }

        /** Takes the answer back. */
        @Override
        public void accept(Answer answer) {
            if (request.brings(answer)) {
                undo(settled == null ? TICKETS.incrementAndGet() : settled.ticket, request, answer);
            } else if (settled != null) {
                Completions.forget(settled.ticket);
                settled.complete(answer);
            }
        }
    }

    /** Tells a recording of the answer, and of the end of the hold that it has brought, if one runs. */
    private Answer recorded(Object wait, Request request, Answer answer, Thread holder) {
        try {
            FlightRecords.end(wait, this, request, answer);
            Object hold = FlightRecords.hold(request, answer, holder);
            if (hold != null) {
                Long ticket = TICKETS.incrementAndGet();
                Completions.expect(ticket, end -> FlightRecords.ended(hold, this, request, end));
                submit(ticket, Request.watch(request.kind, request.name, request.owner, answer.number()));
            }
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            // The recording lacks this hold: the lock matters more.
        }
        return answer;
    }

    /** Gives back what {@code answer} has brought. Needs no memory: without it a lock would stay held. */
    private void undo(long ticket, Request r, Answer answer) {
        Native.submit(client, ticket, r.undo(), r.kind, r.name, r.owner, 0, 0, answer.number(), r.responseTimeout, r.retryFor, r.numbers, r.texts);
    }

    /** Sends a request whose answer has no reader. Needs no memory. */
    public void send(Request r) {
        Native.submit(client, TICKETS.incrementAndGet(), r.op, r.kind, r.name, r.owner, r.wait, r.lease, r.hold, r.responseTimeout, r.retryFor,
                r.numbers, r.texts);
    }

    /**
     * Runs a request in the background.
     *
     * @param taken gets the answer on a thread that may run users' code, and returns whether the caller takes it. A hold that no caller takes
     *         is given back, and a subscription ended
     * @return the ticket for {@link #cancel}
     */
    public long submit(Request request, Predicate<Answer> taken) {
        Long ticket = TICKETS.incrementAndGet();
        Object wait = FlightRecords.begin(request);
        Completions.expect(ticket, answer -> callBack(() -> offer(wait, request, answer, taken)));
        submit(ticket, request);
        return ticket;
    }

    private void offer(Object wait, Request request, Answer answer, Predicate<Answer> taken) {
        boolean isTaken = false;
        try {
            isTaken = taken.test(recorded(wait, request, answer, null));
        } finally {
            if (!isTaken && request.brings(answer)) {
                undo(TICKETS.incrementAndGet(), request, answer);
            }
        }
    }

    /** The platform of this JVM, as in {@code linux-x86_64}. */
    public static String platform() {
        return NativeLibrary.platform();
    }

    /** The hold that {@link #look} found; the same object for as long as it is held. */
    public KnownHold hold(String kind, byte[] name, long owner, Answer found, String shown) {
        long number = found.ticket();
        KnownHold hold = holds.computeIfAbsent(number, none -> {
            PendingAnswer end = new PendingAnswer(TICKETS.incrementAndGet());
            Completions.expect(end.ticket, end);
            submit(end.ticket, Request.watch(kind, name, owner, number));
            return new KnownHold(this, shown, owner, number, found.item(0), () -> look(kind, name, owner, number), end, this::callBackFirst,
                    () -> holds.remove(number));
        });
        if (hold.hasEnded()) { // perhaps before it was put there
            holds.remove(number);
        }
        return hold;
    }

    /**
     * Looks at a hold without asking the server. The answer is done, with the remaining ms for its number, or lost. It is not done if the hold was
     * released, or if there is none.
     *
     * @param hold its number; 0 is the latest of {@code owner}
     */
    public Answer look(String kind, byte[] name, long owner, long hold) {
        Answer found = new Answer();
        Native.look(client, kind, name, owner, hold, found.numbers, found.words);
        return found;
    }

    /** Asks for a request to be given up; its answer still comes. */
    public void cancel(long ticket) {
        Native.cancel(client, ticket);
    }

    /** Has {@code work} run when this client has ended. Only one work can be given, before other threads have the client. */
    public void atEnd(Runnable work) {
        atEnd = work;
    }

    /**
     * Ends this client. Requests under way and later ones are answered as closed.
     *
     * @param release whether what it holds is given back first, as far as the server answers; else it expires
     */
    public void close(boolean release) {
        boolean isFirst = closed.compareAndSet(false, true);
        Native.close(client, release);
        if (isFirst) {
            if (atEnd != null) {
                atEnd.run();
            }
            Completions.closed();
            Callbacks.THREADS.closed();
            Groups.forget();
        }
    }

    /** Whether {@link #close} was called. */
    public boolean isClosed() {
        return closed.get();
    }

    /** Whether the client that has the holds was closed: this one, or the home of this group. */
    public boolean hasLostItsHolds() {
        return home == null ? closed.get() : home.hasLostItsHolds();
    }

    /** As {@link #close}, on a thread of its own: a server that is silent holds no caller up. */
    public CompletableFuture<Void> closeBeside(boolean release) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        beside(() -> {
            try {
                close(release);
            } finally {
                end.complete(null);
            }
        });
        return end;
    }

    /** Complete when {@code end} is, or after {@code nanos}. No timer of the JDK: its thread would keep the application's class loader. */
    public static CompletableFuture<Void> atMost(CompletableFuture<Void> end, long nanos) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        CountDownLatch ended = new CountDownLatch(1);
        end.thenRun(ended::countDown);
        beside(() -> {
            try {
                ended.await(nanos, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                // As if the time were over.
            }
            result.complete(null);
        });
        return result;
    }

    private static void beside(Runnable work) {
        try {
            OwnThreads.make("redlatch-close", work).start();
        } catch (OutOfMemoryError e) { // the system has no thread for it
            work.run();
        }
    }

    /**
     * Sends a request. What may fail for want of memory comes before that: nothing is sent if this throws.
     *
     * @param inside how long the thread may be inside the native library, in ms; 0: as long as its call may take
     */
    private Call start(Request request, long inside) {
        Call call = new Call(request);
        Answer answer = new Answer();
        Completions.expect(call.pending.ticket, call.pending);
        if (VirtualThreads.isCurrent()) { // a native frame would pin the carrier for the whole round trip
            submit(call.pending.ticket, request);
        } else if (tryNow(call.pending.ticket, request, inside, answer)) {
            call.pending.complete(answer);
            Completions.forget(call.pending.ticket);
        }
        return call;
    }

    /**
     * Runs what may run users' code, never on this thread. No executor of the application does it: one that is busy, full or shut down would keep
     * answers from callers, and locks from being given back.
     */
    private void callBack(Runnable work) {
        Callbacks.THREADS.execute(work, loader);
    }

    /** As {@link #callBack}, before other work. The news of a loss does not get lost for want of memory or threads. */
    private void callBackFirst(Runnable work) {
        while (true) {
            try {
                Callbacks.THREADS.executeFirst(work, loader);
                return;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Runs a listener of a key: on the executor of the client, if it has one that takes the work, else on this thread, which is one of ours. */
    public void listen(Runnable work) {
        if (executor == null) {
            work.run();
            return;
        }
        AtomicBoolean begun = new AtomicBoolean();
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                work.run();
            }
        };
        try {
            executor.execute(once);
        } catch (Throwable e) {
            once.run(); // it is full or was shut down, or has no threads
        }
    }

    private boolean tryNow(Long ticket, Request r, long inside, Answer answer) {
        try {
            return Native.start(client, ticket, r.op, r.kind, r.name, r.owner, r.wait, r.lease, r.hold, r.responseTimeout, r.retryFor,
                    inside, r.numbers, r.texts, answer.numbers, answer.words);
        } catch (Throwable e) {
            Completions.forget(ticket);
            throw e;
        }
    }

    private void submit(Long ticket, Request r) {
        try {
            Native.submit(client, ticket, r.op, r.kind, r.name, r.owner, r.wait, r.lease, r.hold, r.responseTimeout, r.retryFor,
                    r.numbers, r.texts);
        } catch (Throwable e) {
            Completions.forget(ticket);
            throw e;
        }
    }

    /**
     * The groups. The native library keeps the connections' descriptors of a closed client for as long as a group has it as a member. So it is
     * told to forget a group when all its members are closed. No object may refer to a group before that; then it is told at the next chance,
     * which is another group or the end of a client. No thread waits for that moment: it would keep this library's class loader.
     */
    private static final class Groups {
        private static final ReferenceQueue<Core> UNREFERENCED = new ReferenceQueue<>();
        private static final Set<Group> ALL = ConcurrentHashMap.newKeySet();

        static void add(Core group, Core[] members) {
            Group added = new Group(group, members);
            ALL.add(added);
            forgetUnreferenced();
            added.closeIfAllAre(); // the end of the last one may have looked before
        }

        /** Looks at all groups: only for the end of a client, since there may be very many. */
        static void forget() {
            forgetUnreferenced();
            ALL.forEach(Group::closeIfAllAre);
        }

        private static void forgetUnreferenced() {
            for (Reference<? extends Core> gone = UNREFERENCED.poll(); gone != null; gone = UNREFERENCED.poll()) {
                ((Group) gone).close();
            }
        }
    }

    private static final class Group extends PhantomReference<Core> {
        private final long client;
        /** Whether each member is closed. */
        private final List<AtomicBoolean> members;

        Group(Core group, Core[] members) {
            super(group, Groups.UNREFERENCED);
            this.client = group.client;
            this.members = Arrays.stream(members).map(member -> member.closed).collect(Collectors.toList());
        }

        void closeIfAllAre() {
            if (members.stream().allMatch(AtomicBoolean::get)) {
                close();
            }
        }

        void close() {
            if (Groups.ALL.remove(this)) {
                Native.close(client, false);
            }
        }
    }
}
