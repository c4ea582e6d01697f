package io.redlatch.beside;

import java.lang.reflect.Constructor;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.redisson.client.RedisException;

/** Exceptions of ours as Redisson's classes of the same names. */
final class Errors {
    private static final String OURS = "io.redlatch.redisson.";
    private static final String THEIRS = "org.redisson.";

    private Errors() {}

    /**
     * The exception of the same name, else of the name of a superclass, with the same message, stack trace and causes. Exceptions of Java and of
     * {@code io.redlatch} are themselves.
     */
    static Throwable theirs(Throwable error) {
        if (error == null) {
            return null;
        }
        Throwable cause = theirs(error.getCause());
        Throwable theirs = error;
        if (error.getClass().getName().startsWith(OURS)) {
            theirs = made(error, cause);
        } else if (cause != error.getCause() && error instanceof CompletionException) {
            theirs = new CompletionException(error.getMessage(), cause);
        } else if (cause != error.getCause() && error instanceof ExecutionException) {
            theirs = new ExecutionException(error.getMessage(), cause);
        }
        if (theirs != error) {
            theirs.setStackTrace(error.getStackTrace());
            for (Throwable each : error.getSuppressed()) {
                theirs.addSuppressed(theirs(each));
            }
        }
        return theirs;
    }

    private static Throwable made(Throwable error, Throwable cause) {
        for (Class<?> type = error.getClass(); type.getName().startsWith(OURS); type = type.getSuperclass()) {
            Class<?> there = Exchange.counterpart(type, OURS, THEIRS);
            Throwable made = there == null ? null : made(there, error.getMessage());
            if (made != null) {
                return cause == null ? made : made.initCause(cause);
            }
        }
        return new RedisException(error.getMessage(), cause);
    }

    private static Throwable made(Class<?> type, String message) {
        try {
            Constructor<?> constructor = type.getConstructor(String.class);
            return (Throwable) constructor.newInstance(message);
        } catch (ReflectiveOperationException e) {
            return null; // that version has it without a message of one's own
        }
    }
}
