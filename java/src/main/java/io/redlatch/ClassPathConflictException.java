package io.redlatch;

/**
 * There are two sets of {@code org.redisson} classes on the class path: redlatch's and Redisson's. Which class of which set is
 * loaded would be a matter of luck. The message names the places of both.
 */
public final class ClassPathConflictException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** The library throws it, with the places and the remedy in {@code message}. */
    public ClassPathConflictException(String message) {
        super(message);
    }
}
