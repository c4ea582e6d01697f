package io.redlatch.internal;

import org.slf4j.LoggerFactory;

/**
 * The library's log: a logger of SLF4J for each subject, all of them below {@code org.redisson}. The subjects are those of the core, whose warnings
 * go there too; a line about a client as a whole is of no subject. Without SLF4J the library is silent.
 */
public final class Log {
    private static final String LIBRARY = "org.redisson";

    private Log() {}

    /** Explains how the library understood a program. */
    public static void debug(String subject, String message) {
        try {
            LoggerFactory.getLogger(name(subject)).debug(message);
        } catch (NoClassDefFoundError e) {
            // The program has the jar without SLF4J, so it hears nothing.
        }
    }

    /** Tells operators about a client, once for each. */
    public static void info(String subject, String message) {
        try {
            LoggerFactory.getLogger(name(subject)).info(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }

    /** Tells operators of a danger. */
    public static void warn(String subject, String message) {
        try {
            LoggerFactory.getLogger(name(subject)).warn(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }

    private static String name(String subject) {
        return subject.isEmpty() ? LIBRARY : LIBRARY + "." + subject;
    }
}
