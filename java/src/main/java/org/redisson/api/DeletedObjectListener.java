package org.redisson.api;

/** Hears of an object that was deleted: of a lock, that it was released for the last time, or taken away. */
@FunctionalInterface
public interface DeletedObjectListener extends ObjectListener {
    /** @param name the object's name */
    void onDeleted(String name);
}
