package io.redlatch;

import io.redlatch.internal.LocksSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** A lock that is held, as the server knows it; see {@link Locks}. Redis keeps no time of acquisition, so its age is unknown. */
public final class HeldLock {
    private final String name;
    private final String kind;
    private final boolean isCertain;
    private final List<Holder> holders;
    private final long holderCount;
    private final Optional<Duration> remaining;
    private final OptionalLong waiting;
    private final List<Holder> queue;
    private final OptionalLong token;

    /** Reads it from the words of an answer, in the order of the core. */
    HeldLock(Iterator<String> words, LocksSource source) {
        this.name = source.name(words.next());
        this.kind = words.next();
        this.isCertain = isTrue(words.next());
        this.holderCount = Long.parseLong(words.next());
        this.remaining = time(words.next());
        this.waiting = number(words.next());
        this.token = number(words.next());
        int held = Integer.parseInt(words.next());
        int queued = Integer.parseInt(words.next());
        this.holders = holders(words, held);
        this.queue = holders(words, queued);
    }

    private static List<Holder> holders(Iterator<String> words, int count) {
        List<Holder> holders = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            holders.add(new Holder(words));
        }
        return Collections.unmodifiableList(holders);
    }

    static boolean isTrue(String word) {
        return word.equals("1");
    }

    /** A number that may be unknown. */
    static OptionalLong number(String word) {
        return word.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(word));
    }

    /** A time in ms that may be unknown. */
    static Optional<Duration> time(String word) {
        return word.isEmpty() ? Optional.empty() : Optional.of(Duration.ofMillis(Long.parseLong(word)));
    }

    /** Of each holder its client, its owner, and 1 if it writes. */
    String[] holderWords() {
        return holders.stream()
                .flatMap(holder -> Stream.of(holder.client(), holder.owner(), holder.writes() ? "1" : "0"))
                .toArray(String[]::new);
    }

    static String shown(Optional<?> value) {
        return value.isPresent() ? value.get().toString() : "none";
    }

    static String shown(OptionalLong number) {
        return number.isPresent() ? Long.toString(number.getAsLong()) : "none";
    }

    /** Its name as the application knows it. Of a lock of several values it is the group. */
    public String name() {
        return name;
    }

    /**
     * Its kind: {@code plain}, {@code fair}, {@code fenced}, {@code leader}, {@code read}, {@code write}, {@code multi}, {@code permits} for permits
     * that are out, {@code token}, {@code semaphore} or {@code latch}. A fair lock without waiters looks like a plain one, and so do a spin lock and a
     * non-reentrant one.
     */
    public String kind() {
        return kind;
    }

    /**
     * Whether the key has the shape of that kind. {@code token}, {@code semaphore} and {@code latch} are guesses: other programs keep texts and numbers
     * too.
     */
    public boolean isCertain() {
        return isCertain;
    }

    /**
     * The writer, all readers, the owners of the values, or the permits that are out. At most a hundred of them, and twenty if a scan has found the
     * lock.
     */
    public List<Holder> holders() {
        return holders;
    }

    /** The number of all its holders. */
    public long holderCount() {
        return holderCount;
    }

    /** The time until the key ends, unless it is renewed. Empty: it does not end by itself. */
    public Optional<Duration> remaining() {
        return remaining;
    }

    /** The processes that wait, or the owners in the queue of a fair lock. Empty: the server does not tell. */
    public OptionalLong waiting() {
        return waiting;
    }

    /** The owners in the queue of a fair lock, the next one first. As many at most as of the holders. */
    public List<Holder> queue() {
        return queue;
    }

    /** The latest fencing token of the lock. */
    public OptionalLong token() {
        return token;
    }

    @Override
    public boolean equals(Object object) {
        if (!(object instanceof HeldLock)) {
            return false;
        }
        HeldLock other = (HeldLock) object;
        return name.equals(other.name) && kind.equals(other.kind) && isCertain == other.isCertain && holders.equals(other.holders)
                && holderCount == other.holderCount && remaining.equals(other.remaining) && waiting.equals(other.waiting)
                && queue.equals(other.queue) && token.equals(other.token);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, kind, isCertain, holders, holderCount, remaining, waiting, queue, token);
    }

    @Override
    public String toString() {
        return "HeldLock[name=" + name + ", kind=" + kind + ", isCertain=" + isCertain + ", holders=" + holders + ", holderCount=" + holderCount
                + ", remaining=" + shown(remaining) + ", waiting=" + shown(waiting) + ", queue=" + queue + ", token=" + shown(token) + "]";
    }
}
