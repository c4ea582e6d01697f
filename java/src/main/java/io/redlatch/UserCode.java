package io.redlatch;

/** Runs what users gave us to call where nobody waits for a result. */
public final class UserCode {
    private UserCode() {}

    /** What it throws goes to the thread's handler of uncaught exceptions, which prints it by default. */
    public static void run(Runnable code) {
        try {
            code.run();
        } catch (RuntimeException | Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }
}
