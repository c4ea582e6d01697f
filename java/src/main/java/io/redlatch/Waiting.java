package io.redlatch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The answer that one thread waits for. It never leaves this package, so completing it runs no users' code. */
final class Waiting extends CompletableFuture<Answer> {
    final long ticket;

    Waiting(long ticket) {
        this.ticket = ticket;
    }

    Answer awaitInterruptibly() throws InterruptedException {
        try {
            return get();
        } catch (ExecutionException e) {
            throw new AssertionError("an answer is never exceptional", e);
        }
    }

    /** Waits through interrupts and sets the thread's flag again. */
    Answer await() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return awaitInterruptibly();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
