package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.redisson.api.AsyncIterator;
import org.redisson.api.RFuture;
import org.redisson.api.options.KeysScanParams;

/** One run through the names of keys, page by page. It may miss keys that come or go meanwhile, and a name may come twice. */
final class KeyNames {
    private static final String BEGINNING = "";
    private static final String END = "0";

    private final RedissonKeys keys;
    private final KeysScanParams options;
    private final Queue<String> names = new ArrayDeque<>();
    private String next = BEGINNING;
    private int left;

    KeyNames(RedissonKeys keys, KeysScanParams options) {
        this.keys = keys;
        this.options = options;
        this.left = options.getLimit() > 0 ? options.getLimit() : Integer.MAX_VALUE;
    }

    Iterator<String> blocking() {
        return new Iterator<String>() {
            private String last;

            @Override
            public boolean hasNext() {
                while (isUnclear()) {
                    add(keys.run(page()));
                }
                return !names.isEmpty();
            }

            @Override
            public String next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("that were all keys");
                }
                last = take();
                return last;
            }

            @Override
            public void remove() {
                if (last == null) {
                    throw new IllegalStateException("no name was taken yet, or its key is deleted already");
                }
                keys.delete(last);
                last = null;
            }
        };
    }

    AsyncIterator<String> asynchronous() {
        return new AsyncIterator<String>() {
            @Override
            public CompletionStage<Boolean> hasNext() {
                if (!isUnclear()) {
                    return CompletableFuture.completedFuture(!names.isEmpty());
                }
                CompletableFuture<Boolean> found = new CompletableFuture<>();
                ask(found);
                return found;
            }

            /** Asks for page after page until there is a name, or the caller has given up. */
            private void ask(CompletableFuture<Boolean> found) {
                RFuture<Void> page = keys.submit(page(), answer -> {
                    add(answer);
                    return null;
                });
                page.whenComplete((nothing, error) -> {
                    if (error != null) {
                        found.completeExceptionally(error);
                    } else if (!isUnclear()) {
                        found.complete(!names.isEmpty());
                    } else if (!found.isDone()) {
                        ask(found);
                    }
                });
            }

            @Override
            public CompletionStage<String> next() {
                return hasNext().thenApply(there -> {
                    if (!there) {
                        throw new NoSuchElementException("that were all keys");
                    }
                    return take();
                });
            }
        };
    }

    /** Whether only the server knows if there is another name. */
    private boolean isUnclear() {
        return names.isEmpty() && left > 0 && !next.equals(END);
    }

    private String take() {
        left--;
        String name = names.remove();
        if (left == 0) {
            names.clear();
        }
        return name;
    }

    private Request page() {
        List<byte[]> words = new ArrayList<>(List.of(RedissonObject.word(next)));
        if (options.getPattern() != null) {
            words.add(RedissonObject.word("MATCH"));
            words.add(RedissonObject.word(keys.mapped(options.getPattern())));
        }
        if (options.getChunkSize() > 0) {
            words.add(RedissonObject.word("COUNT"));
            words.add(RedissonObject.word(options.getChunkSize()));
        }
        if (options.getType() != null) {
            words.add(RedissonObject.word("TYPE"));
            words.add(RedissonObject.word(options.getType().getValue()));
        }
        return RedissonKeys.ofAll("SCAN", words.toArray(new byte[0][]));
    }

    private void add(Answer page) {
        List<byte[]> texts = page.texts();
        next = new String(texts.get(0), StandardCharsets.UTF_8);
        texts.stream().skip(1).forEach(name -> names.add(keys.unmapped(name)));
    }
}
