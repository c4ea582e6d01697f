package io.redlatch.internal;

import java.util.concurrent.CompletionException;

/** The failures of stages. */
public final class Stages {
    private Stages() {}

    /** The failure itself, without the exception that a derived stage puts around it; null for null. */
    public static Throwable bare(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
