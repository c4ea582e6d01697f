package io.redlatch;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** A holder of a {@link HeldLock}, or an owner that waits for it. */
public final class Holder {
    private final String client;
    private final String owner;
    private final long holds;
    private final boolean writes;
    private final Optional<Duration> remaining;
    private final Optional<String> host;
    private final OptionalLong process;
    private final boolean mayBeRedisson;

    /** Reads it from the words of an answer, in the order of the core. */
    Holder(Iterator<String> words) {
        this.client = words.next();
        this.owner = words.next();
        this.holds = Long.parseLong(words.next());
        this.writes = HeldLock.isTrue(words.next());
        this.remaining = HeldLock.time(words.next());
        this.host = Optional.of(words.next()).filter(host -> !host.isEmpty());
        this.process = HeldLock.number(words.next());
        this.mayBeRedisson = HeldLock.isTrue(words.next());
    }

    /** The uuid of its client; of a permit, the permit's id. */
    public String client() {
        return client;
    }

    /**
     * The number of the owner in that client: a thread, in Java. It is the owner that took the lock from the server, which may have handed it on to
     * another one of its client since.
     */
    public String owner() {
        return owner;
    }

    /** The number of its holds; 0: unknown. */
    public long holds() {
        return holds;
    }

    /** Whether it writes. */
    public boolean writes() {
        return writes;
    }

    /** The time until its own hold ends, where holders of one lock end apart. */
    public Optional<Duration> remaining() {
        return remaining;
    }

    /**
     * The machine of its client. Empty: the client has another {@code clientName}, has no connection to the server any more, or is Redisson; or the
     * server does not list its connections.
     */
    public Optional<String> host() {
        return host;
    }

    /** The process of its client, known where the machine is. */
    public OptionalLong process() {
        return process;
    }

    /**
     * Whether it may be a thread of Redisson, a guess: the server lists its connections, none of them is that of a client of this library with that
     * uuid, and the owner has a number as threads have.
     */
    public boolean mayBeRedisson() {
        return mayBeRedisson;
    }

    @Override
    public boolean equals(Object object) {
        if (!(object instanceof Holder)) {
            return false;
        }
        Holder other = (Holder) object;
        return client.equals(other.client) && owner.equals(other.owner) && holds == other.holds && writes == other.writes
                && remaining.equals(other.remaining) && host.equals(other.host) && process.equals(other.process)
                && mayBeRedisson == other.mayBeRedisson;
    }

    @Override
    public int hashCode() {
        return Objects.hash(client, owner, holds, writes, remaining, host, process, mayBeRedisson);
    }

    @Override
    public String toString() {
        return "Holder[client=" + client + ", owner=" + owner + ", holds=" + holds + ", writes=" + writes
                + ", remaining=" + HeldLock.shown(remaining) + ", host=" + HeldLock.shown(host) + ", process=" + HeldLock.shown(process)
                + ", mayBeRedisson=" + mayBeRedisson + "]";
    }
}
