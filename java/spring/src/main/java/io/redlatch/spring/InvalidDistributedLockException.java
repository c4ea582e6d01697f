package io.redlatch.spring;

/** A {@link DistributedLock} that cannot be served. The message names the method, the value and the remedy. */
public final class InvalidDistributedLockException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    InvalidDistributedLockException(String message, Throwable cause) {
        super(message, cause);
    }
}
