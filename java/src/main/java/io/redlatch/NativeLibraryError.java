package io.redlatch;

/** The native library cannot be used here. The message names the platform, the file, what is so and what to do. */
public final class NativeLibraryError extends UnsatisfiedLinkError {
    private static final long serialVersionUID = 1L;

    /** The library throws it; {@code cause} may be null. */
    public NativeLibraryError(String message, Throwable cause) {
        super(message);
        initCause(cause);
    }
}
