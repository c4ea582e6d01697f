package io.redlatch;

import io.redlatch.internal.Answer;
import io.redlatch.internal.LeaderSource;
import io.redlatch.internal.OwnKinds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.redisson.api.RedissonClient;

/**
 * The election of a leader: of all processes that ask to lead, one does, for a {@link Term}. Every process may ask who leads.
 *
 * <pre>{@code
 * Leader billing = Leader.of(client, "billing", "api-3:80");
 * try (Term term = billing.lead()) {              // waits until this process leads
 *     term.onLost(loss -> worker.interrupt());
 *     run(term.token());
 * }                                               // resigns
 * }</pre>
 *
 * <p>The lock of a leader is a fenced lock of its name, and excludes the other locks of that name. Redisson has no such object. Failures are the
 * exceptions of {@code org.redisson}, as for locks.
 */
public final class Leader {
    private static final long FOR_EVER = -1;
    private static final int FREE = -2;

    private final LeaderSource source;
    private final String value;

    private Leader(LeaderSource source, String value) {
        this.source = source;
        this.value = value;
    }

    /** The leader of that name; the others see no value of this process. Otherwise as {@link #of(RedissonClient, String, String)}. */
    public static Leader of(RedissonClient client, String name) {
        return of(client, name, "");
    }

    /**
     * The leader of that name. Asks nothing of the server.
     *
     * @param value the text that the others see while this process leads, such as its address; at most 65,536 bytes of UTF-8, without a zero:
     *        for another text {@link #lead} throws {@link IllegalArgumentException}
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     * @throws UnsupportedOperationException if the client's server has no leaders
     */
    public static Leader of(RedissonClient client, String name, String value) {
        Objects.requireNonNull(value, "the value of a leader is null; leave it out, or give a text");
        return new Leader(OwnKinds.of(client, Leader.class).leader(name), value);
    }

    /**
     * Waits until this process leads. Each call is a candidate of its own, and each term has a token greater than all before it.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; it does not lead then
     */
    public Term lead() throws InterruptedException {
        return new Term(source, source.lead(bytes(), FOR_EVER));
    }

    /**
     * Leads if no other process does within {@code wait}; zero asks once. Empty: another one leads.
     *
     * @throws InterruptedException as {@link #lead}
     */
    public Optional<Term> tryLead(Duration wait) throws InterruptedException {
        return Optional.ofNullable(source.lead(bytes(), Lease.waiting(wait))).map(hold -> new Term(source, hold));
    }

    /** Asks who leads; empty: no process does. */
    public Optional<CurrentLeader> current() {
        Answer told = source.current();
        return told.number() == FREE ? Optional.empty() : Optional.of(leader(told.item(1), told.texts()));
    }

    /** Begins to observe who leads. Asks nothing of the server before {@link Observer#next}. */
    public Observer observe() {
        return new Observer(source);
    }

    /** The leader's name. */
    public String getName() {
        return source.name();
    }

    private byte[] bytes() {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    static CurrentLeader leader(long token, List<byte[]> texts) {
        String value = texts.size() > 1 ? new String(texts.get(1), StandardCharsets.UTF_8) : "";
        return new CurrentLeader(value, token);
    }
}
