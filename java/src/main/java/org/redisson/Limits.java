package org.redisson;

import io.redlatch.internal.Request;

/** How long the calls of one object are tried. */
final class Limits {
    static final Limits OF_CLIENT = new Limits(0, -1);

    private final long responseTimeout;
    private final long retryFor;

    /**
     * @param responseTimeout how long one call may stay unanswered in ms; 0 as the client has it
     * @param retryFor how long new attempts are begun in ms; below 0 as the client has it
     */
    Limits(long responseTimeout, long retryFor) {
        this.responseTimeout = responseTimeout;
        this.retryFor = retryFor;
    }

    Request on(Request request) {
        return this == OF_CLIENT ? request : request.within(responseTimeout, retryFor);
    }
}
