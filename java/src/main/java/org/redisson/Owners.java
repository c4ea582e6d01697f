package org.redisson;

import java.util.concurrent.atomic.AtomicLong;

/** Numbers of owners that are no threads: each candidate and each run of a job is an owner of its own. */
final class Owners {
    /** No thread has such an id, so none of them is the owner of another lock of that name. */
    private static final AtomicLong NEXT = new AtomicLong(1L << 40);

    private Owners() {}

    static long next() {
        return NEXT.getAndIncrement();
    }
}
