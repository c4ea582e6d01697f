package io.redlatch;

import org.slf4j.LoggerFactory;

/** What this library has to say beside results and exceptions: by SLF4J, under {@code org.redisson}; nothing if that is not there. */
public final class Log {
    private Log() {}

    /** What explains how a program is understood. */
    public static void debug(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").debug(message);
        } catch (NoClassDefFoundError e) {
            // The jar alone, without what its POM asks for: there is nobody to tell.
        }
    }

    /** What an operator may want to know, once for each client. */
    public static void info(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").info(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }

    /** What will go wrong some day. */
    public static void warn(String message) {
        try {
            LoggerFactory.getLogger("org.redisson").warn(message);
        } catch (NoClassDefFoundError e) {
            // As above.
        }
    }
}
