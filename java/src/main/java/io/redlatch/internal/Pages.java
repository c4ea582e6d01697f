package io.redlatch.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;

/** A way through the pages of a list of locks, which are {@code L} to an application. */
public final class Pages<L> implements Iterator<L> {
    private static final byte[] BEGINNING = {};

    private final LocksSource source;
    private final Function<Iterator<String>, L> read;
    private final Function<L, String> name;
    private final Queue<L> page = new ArrayDeque<>();
    /** A lock may move while the server is read, and come twice. */
    private final Set<String> seen = new HashSet<>();
    /** Asks for the next page; null: there is none. */
    private byte[] next = BEGINNING;

    /** @param read makes a lock of the words of an answer, of which it takes as many as the lock has */
    public Pages(LocksSource source, Function<Iterator<String>, L> read, Function<L, String> name) {
        this.source = source;
        this.read = read;
        this.name = name;
    }

    @Override
    public boolean hasNext() {
        while (page.isEmpty() && next != null) {
            turnPage(source.page(next));
        }
        return !page.isEmpty();
    }

    @Override
    public L next() {
        if (!hasNext()) {
            throw new NoSuchElementException("that were all locks");
        }
        return page.remove();
    }

    private void turnPage(Answer told) {
        List<byte[]> texts = told.texts();
        Iterator<String> words = texts.stream().skip(1).map(text -> new String(text, StandardCharsets.UTF_8)).iterator();
        for (long left = told.number(); left > 0; left--) {
            L lock = read.apply(words);
            if (seen.add(name.apply(lock))) {
                page.add(lock);
            }
        }
        byte[] following = texts.get(0);
        next = following.length == 0 ? null : following;
    }
}
