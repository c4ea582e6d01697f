// How often a lock changes its owner. One worker that takes the lock again and again is fast, and changes nothing.

final class Owners {
    // The measured lock protects both.
    private volatile int last = -1;
    private volatile long changes;

    /** A lock whose holder counts, and sleeps for so many ms. */
    Engine.Lock counted(Engine.Lock lock, int worker, int hold) {
        return new Engine.Lock() {
            @Override
            public void acquire() throws Exception {
                lock.acquire();
            }

            @Override
            public void release() throws Exception {
                took(worker);
                if (hold > 0) {
                    Thread.sleep(hold);
                }
                lock.release();
            }
        };
    }

    private void took(int worker) {
        int before = last;
        last = worker;
        if (before != worker && before >= 0) {
            changes = changes + 1;
        }
    }

    long changes() {
        return changes;
    }
}
