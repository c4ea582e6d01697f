package io.redlatch.internal;

import org.slf4j.LoggerFactory;

/**
 * The library's log: one logger of SLF4J for each package that writes, all of them below {@code org.redisson}. Without SLF4J the library is silent.
 */
public final class Log {
    private static final String CLIENTS = "org.redisson";

    private Log() {}

    /** Explains how the library understood a program. The logger is that of the package of {@code writer}. */
    public static void debug(Class<?> writer, String message) {
        try {
            LoggerFactory.getLogger(writer.getPackageName()).debug(message);
        } catch (NoClassDefFoundError e) {
            // The program has the jar without SLF4J, so it hears nothing.
        }
    }

    /** Tells operators about a client, once for each. */
    public static void info(String message) {
        try {
            LoggerFactory.getLogger(CLIENTS).info(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }

    /** Tells operators of a danger. */
    public static void warn(String message) {
        try {
            LoggerFactory.getLogger(CLIENTS).warn(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }
}
