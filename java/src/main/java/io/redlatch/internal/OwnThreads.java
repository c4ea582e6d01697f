package io.redlatch.internal;

import java.security.AccessController;
import java.security.PrivilegedAction;

/** Threads of this library. They are daemons, and refer to nothing of the application in which they happen to be started. */
final class OwnThreads {
    private OwnThreads() {}

    static Thread make(String name, Runnable work) {
        // Privileged: else a thread refers to the classes of all callers for as long as it lives, and with them to their class loaders.
        return AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(outermost(), work, name, 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            return thread;
        });
    }

    /** An application may end its own groups, and the threads in them. */
    private static ThreadGroup outermost() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }
}
