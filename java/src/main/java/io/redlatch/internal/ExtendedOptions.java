package io.redlatch.internal;

/** A configuration or a client that has the options of {@link io.redlatch.Options}. */
public interface ExtendedOptions {
    /** See {@link io.redlatch.Options#releaseOnShutdown(org.redisson.config.Config)}. */
    void releaseOnShutdown();
}
