package io.redlatch.internal;

/**
 * The native methods, all of them, once {@link NativeLibrary#load} was called. A client is a number; one that was closed is refused, never followed.
 *
 * <p>Times are ms: a {@code wait} below 0 waits for ever, 0 tries once; a {@code lease} of 0 is renewed until release; a
 * {@code responseTimeout} of 0 and a {@code retryFor} below 0 are as the client has them. {@code numbers} and {@code texts} are what else the
 * operation takes; the texts as {@link Packed} has them, or null. A finished request is a row of numbers and texts, see {@link Answer#read}.
 */
final class Native {
    private Native() {}

    /** Readies a client without sending anything; {@code options} are name, value, name, value, … */
    static native long connect(String url, String[] options);

    /** Readies a client as {@code connect} does, which is closed. It stands for one whose number is gone, as a member of a {@code group}. */
    static native long standIn(String url, String[] options);

    /** Reads a configuration file, see {@link Document}; {@code known} are name, value, name, value, … for its placeholders. */
    static native String[] document(String text, String[] known);

    /** Readies a client whose one lock is these, each a client, a kind and a name: all of them, or with {@code majority} more than half. */
    static native long group(boolean majority, long[] clients, String[] kinds, byte[][] names);

    /** Has connections that are opened from now on log in with these; {@code username} may be null. A client that was closed is passed over. */
    static native void credentials(long client, String username, String password);

    /** Closes a client; with {@code release} its holds are given back first. */
    static native void close(long client, boolean release);

    /** The client's uuid, or null after {@code close}. */
    static native String id(long client);

    /** Fills in the figures of the client, in the order of the fields of {@link io.redlatch.Stats}. False: it is closed. */
    static native boolean stats(long client, long[] numbers);

    /** Refuses a kind that the client's servers do not have, by an {@link UnsupportedOperationException}. A client that was closed is passed over. */
    static native void require(long client, String kind);

    /**
     * The holder that alone is to lose a lock of a listing, of that kind; {@code holders} are client, owner, 1 if it writes, client, … Refuses a kind
     * of lock that has no such holder, by an {@link UnsupportedOperationException}.
     */
    static native String evictee(String kind, String name, String[] holders);

    /**
     * Tries one bounded round trip on this thread, an acquire for {@code inside} at most unless that is 0, and waits a moment for what is not
     * finished by then. True: the first row is filled in. False: it comes out of {@code drain}.
     */
    static native boolean start(long client, long ticket, int op, String kind, byte[] name, long owner, long wait,
            long lease, long hold, long responseTimeout, long retryFor, long inside, long[] numbers, byte[] texts,
            long[] rowNumbers, String[] rowTexts);

    /** Hands a request over without any waiting; it comes out of {@code drain}. */
    static native void submit(long client, long ticket, int op, String kind, byte[] name, long owner, long wait,
            long lease, long hold, long responseTimeout, long retryFor, long[] numbers, byte[] texts);

    /**
     * Looks at a hold without asking the server; {@code hold} 0 is the owner's latest. The first row is filled in: its ticket is
     * the hold's number, its number the remaining ms, its first item the token of a fenced lock; not done if the hold was released.
     */
    static native void look(long client, String kind, byte[] name, long owner, long hold, long[] rowNumbers, String[] rowTexts);

    /** Asks for a request to be given up; it still comes out of {@code drain}. */
    static native void cancel(long client, long ticket);

    /** Waits for finished requests, fills in as many rows as there are and fit, and returns their count. After an error all are still there. */
    static native int drain(long[] rowNumbers, String[] rowTexts);
}
