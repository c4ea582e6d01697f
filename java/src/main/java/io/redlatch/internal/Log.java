package io.redlatch.internal;

import org.slf4j.LoggerFactory;

/** The library's log: SLF4J's logger {@code org.redisson}. Without SLF4J the library is silent. */
public final class Log {
    private Log() {}

    /** Explains how the library understood a program. */
    public static void debug(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").debug(message);
        } catch (NoClassDefFoundError e) {
            // The program has the jar without SLF4J, so it hears nothing.
        }
    }

    /** Tells operators about a client, once for each. */
    public static void info(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").info(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }

    /** Tells operators of a danger. */
    public static void warn(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").warn(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }
}
