package io.redlatch;

/**
 * The work of a {@link Job} that looks at its hold.
 *
 * @param <T> its value
 * @param <E> the checked exception that it throws; {@link RuntimeException}: none
 */
@FunctionalInterface
public interface JobWork<T, E extends Exception> {
    /** Does the work. {@link Hold#ensure} belongs before a step that must not happen twice. */
    T run(Hold hold) throws E;
}
