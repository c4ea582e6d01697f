package org.redisson;

import io.redlatch.internal.Answer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;

/** The ids of permits: 32 hexadecimal digits to callers, two numbers of 64 bits to the core. */
final class PermitIds {
    private static final int DIGITS = 32;

    private PermitIds() {}

    /** The ids of an acquire of so many permits: the answer has the first, the others follow it. Empty: the acquire came too late. */
    static List<String> taken(Answer answer, int permits) {
        if (!answer.done()) {
            return Collections.emptyList();
        }
        List<String> ids = new ArrayList<>(permits);
        for (int i = 0; i < permits; i++) {
            long lower = answer.item(1) + i;
            boolean carried = Long.compareUnsigned(lower, answer.item(1)) < 0;
            ids.add(String.format("%016x%016x", answer.item(0) + (carried ? 1 : 0), lower));
        }
        return ids;
    }

    /**
     * The ids as the core takes them. Null if one has another length: such a permit is never out.
     *
     * @throws IllegalArgumentException if one is no hexadecimal digits
     */
    static long[] toNumbers(List<String> ids) {
        boolean known = true;
        for (String id : ids) {
            if (id == null || !id.matches("([0-9a-fA-F]{2})+")) {
                throw new IllegalArgumentException("the permit id `" + id + "` is no hexadecimal digits; use one that an acquire returned");
            }
            known &= id.length() == DIGITS;
        }
        if (!known) {
            return null;
        }
        return ids.stream().flatMapToLong(id -> LongStream.of(half(id, 0), half(id, DIGITS / 2))).toArray();
    }

    private static long half(String id, int from) {
        return Long.parseUnsignedLong(id.substring(from, from + DIGITS / 2), 16);
    }
}
