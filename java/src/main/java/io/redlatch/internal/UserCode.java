package io.redlatch.internal;

/** Runs users' listeners and continuations, of which no caller awaits a result. */
public final class UserCode {
    private UserCode() {}

    /** Its exceptions go to the thread's handler of uncaught exceptions, which prints them by default. */
    public static void run(Runnable code) {
        try {
            code.run();
        } catch (RuntimeException | Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }
}
