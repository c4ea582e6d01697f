package io.redlatch.internal;

import java.nio.charset.StandardCharsets;

/** One operation on one lock, as the core takes it. */
public final class Request {
    public static final int ACQUIRE = 1;
    public static final int RELEASE = 2;
    static final int FORCE_RELEASE = 3;
    public static final int INSPECT = 4;
    static final int PING = 5;
    static final int WATCH = 6;
    static final int EXPIRY = 7;
    static final int DELETION = 8;
    public static final int EXTEND = 9;
    public static final int TRY_SET = 10;
    public static final int ADD = 11;
    public static final int DRAIN = 12;
    public static final int COUNT_DOWN = 13;
    public static final int RELEASE_IF_EXISTS = 14;
    public static final int DELETE = 15;
    public static final int LIVE_FOR = 16;
    public static final int SET = 17;
    public static final int LEASE = 18;
    static final int KEYS = 19;
    static final int GIVE_BACK = 20;
    static final int INVENTORY = 21;
    static final int RENEW = 23;
    static final int LET_GO = 24;

    private static final byte[] NO_NAME = {};
    private static final long[] NO_NUMBERS = {};

    final int op;
    final String kind;
    final byte[] name;
    final long owner;
    final long wait;
    final long lease;
    final long hold;
    final long responseTimeout;
    final long retryFor;
    final long[] numbers;
    /** As {@link Packed} has them. Null: none. */
    final byte[] texts;

    private Request(int op, String kind, byte[] name, long owner, long wait, long lease, long hold) {
        this(op, kind, name, owner, wait, lease, hold, 0, -1, NO_NUMBERS, null);
    }

    private Request(int op, String kind, byte[] name, long owner, long wait, long lease, long hold, long responseTimeout, long retryFor,
            long[] numbers, byte[] texts) {
        this.op = op;
        this.kind = kind;
        this.name = name;
        this.owner = owner;
        this.wait = wait;
        this.lease = lease;
        this.hold = hold;
        this.responseTimeout = responseTimeout;
        this.retryFor = retryFor;
        this.numbers = numbers;
        this.texts = texts;
    }

    /** Any operation on an object without a holder, by its number, with the numbers that it takes. */
    public static Request of(int op, String kind, byte[] name, long owner, long wait, long... numbers) {
        return new Request(op, kind, name, owner, wait, 0, 0).with(numbers);
    }

    /**
     * Takes the lock. The answer's number is that of the hold, its first item the token of a fenced lock.
     *
     * @param kind the core's name of the kind
     * @param name the lock's name in UTF-8
     * @param owner the number of the owner, unique in this client
     * @param wait how long to wait in ms; below 0 for ever, 0 to try once
     * @param lease how long to hold at most in ms; 0 to be renewed until release
     */
    public static Request acquire(String kind, byte[] name, long owner, long wait, long lease) {
        return new Request(ACQUIRE, kind, name, owner, wait, lease, 0);
    }

    /** Gives the owner's latest hold back. The answer's number is the count of holds that the owner keeps. */
    public static Request release(String kind, byte[] name, long owner) {
        return new Request(RELEASE, kind, name, owner, 0, 0, 0);
    }

    /** Gives one hold back, by its number; otherwise as {@link #release(String, byte[], long)}. */
    public static Request release(String kind, byte[] name, long owner, long hold) {
        return new Request(RELEASE, kind, name, owner, 0, 0, hold);
    }

    /** Has one hold renewed until it has ended, which has a lease of its own: each time for {@code lease} ms. */
    public static Request renew(String kind, byte[] name, long owner, long hold, long lease) {
        return new Request(RENEW, kind, name, owner, 0, lease, hold);
    }

    /** Has one hold last for {@code lease} ms from now on: longer, or shorter if it is not renewed and its owner has no other one. */
    public static Request extend(String kind, byte[] name, long owner, long hold, long lease) {
        return new Request(EXTEND, kind, name, owner, 0, lease, hold);
    }

    /**
     * Ends one hold, whose key stays until {@code atLeast} ms have passed since it began. A server that cannot be asked is no error, and the answer
     * says not now.
     */
    public static Request letGo(String kind, byte[] name, long owner, long hold, long atLeast) {
        return new Request(LET_GO, kind, name, owner, 0, atLeast, hold);
    }

    /** Takes the lock away from its holder. The answer's number is 1 if there was one. */
    public static Request forceRelease(String kind, byte[] name) {
        return new Request(FORCE_RELEASE, kind, name, 0, 0, 0, 0);
    }

    /**
     * Looks at the lock. The answer's number is the remaining time in ms (−1 no end, −2 free), its items are the owner's holds and the
     * token that a fenced lock gave out last.
     */
    public static Request inspect(String kind, byte[] name, long owner) {
        return new Request(INSPECT, kind, name, owner, 0, 0, 0);
    }

    /** Waits until a hold has ended. Lost, if it was lost; not done, if it was released. */
    static Request watch(String kind, byte[] name, long owner, long hold) {
        return new Request(WATCH, kind, name, owner, 0, 0, hold);
    }

    /** Begins to listen for the end of the key's time. The answer's number is for {@link #next} and {@link #end}. */
    public static Request expiry(String kind, byte[] name) {
        return new Request(EXPIRY, kind, name, 0, 0, 0, 0);
    }

    /** Begins to listen for deletions of the key, as {@link #expiry}. */
    public static Request deletion(String kind, byte[] name) {
        return new Request(DELETION, kind, name, 0, 0, 0, 0);
    }

    /** Waits for events of what this request has begun to listen to. The answer's number is their count since the last answer. */
    public Request next(long number) {
        return new Request(op, kind, name, owner, -1, 0, number);
    }

    /** Ends what this request has begun to listen to. */
    public Request end(long number) {
        return new Request(op, kind, name, owner, 0, 0, number);
    }

    /** Whether it takes a lock or permits, or waits as if it did. */
    public boolean isAcquire() {
        return op == ACQUIRE;
    }

    /** Whether it takes a lock or permits; an acquire of the other kinds only waits. */
    public boolean takes() {
        return isAcquire() && !kind.equals("latch") && !kind.equals("leader_watch");
    }

    /** Whether it gives an owner's hold back. */
    public boolean isRelease() {
        return op == RELEASE;
    }

    /** Whether it leaves everything as it was where its answer is that the client was closed. */
    public boolean canBeRepeated() {
        return op == ACQUIRE || op == INSPECT;
    }

    /** The number of its owner. */
    public long owner() {
        return owner;
    }

    /** How long it waits in ms; below 0 for ever. */
    public long waitTime() {
        return wait;
    }

    /** Whether the answer brings something that has to go back by {@link #undo} where no caller takes it. */
    public boolean brings(Answer answer) {
        return answer.done() && (op == ACQUIRE || (op == EXPIRY || op == DELETION) && hold == 0);
    }

    /**
     * The operation that takes this one back, with the number of the answer for its hold. That of an acquire gives back the hold, or the permits,
     * that its caller never had. A release of the owner may have taken that hold in place of its own: then the owner's latest ends in its stead.
     */
    int undo() {
        return op == ACQUIRE ? GIVE_BACK : op;
    }

    /**
     * About keys of every kind. The answer's number is the command's count, its texts are the rest of the command's answer.
     *
     * @param action one of the core's table
     * @param kind that of the object that the keys are of; {@code plain} for a key by itself
     * @param name the object's name, or a pattern, in UTF-8; empty for all keys
     * @param words the further inputs of the command
     */
    public static Request keys(String action, String kind, byte[] name, byte[]... words) {
        byte[][] all = new byte[words.length + 1][];
        all[0] = action.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(words, 0, all, 1, words.length);
        return new Request(KEYS, kind, name, 0, 0, 0, 0, 0, -1, NO_NUMBERS, Packed.write(all));
    }

    /**
     * Lists the locks that are held, a page at a time. The text of a page before asks for the next one, see {@link LocksSource}.
     *
     * @param pattern of the names, in UTF-8
     */
    public static Request inventory(byte[] pattern) {
        return new Request(INVENTORY, "plain", pattern, 0, 0, 0, 0);
    }

    /** Asks the server for a sign of life. */
    public static Request ping() {
        return new Request(PING, "plain", NO_NAME, 0, 0, 0, 0);
    }

    /**
     * The same with limits of its own.
     *
     * @param responseTimeout how long one call may stay unanswered in ms; 0 as the client has it
     * @param retryFor how long new attempts are begun in ms; below 0 as the client has it
     */
    public Request within(long responseTimeout, long retryFor) {
        return new Request(op, kind, name, owner, wait, lease, hold, responseTimeout, retryFor, numbers, texts);
    }

    /** The same with a wait in ms; below 0 for ever. */
    public Request waiting(long wait) {
        return new Request(op, kind, name, owner, wait, lease, hold, responseTimeout, retryFor, numbers, texts);
    }

    /** The same with further numbers; of a spinning acquire, the ms between two tries. */
    public Request with(long... numbers) {
        return new Request(op, kind, name, owner, wait, lease, hold, responseTimeout, retryFor, numbers, texts);
    }

    /** The same with a text: the value of a candidate, or what an observer has seen. */
    public Request saying(byte[] text) {
        return new Request(op, kind, name, owner, wait, lease, hold, responseTimeout, retryFor, numbers, Packed.write(new byte[][] {text}));
    }

    /** The same with a lease in ms; 0: none. */
    public Request lasting(long lease) {
        return new Request(op, kind, name, owner, wait, lease, hold, responseTimeout, retryFor, numbers, texts);
    }
}
