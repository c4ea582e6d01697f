package org.redisson.api;

/** Hears of an object whose time ran out: of a lock, that its last lease ended without a release or a renewal. */
@FunctionalInterface
public interface ExpiredObjectListener extends ObjectListener {
    /** @param name the object's name */
    void onExpired(String name);
}
