// An engine: its locks, and its other objects. A caller is a thread; it has one number for all its locks.

interface Engine {
    Lock lock(String name, int caller) throws Exception;

    default ReadWrite readWrite(String name, int caller) throws Exception {
        throw new Cannot();
    }

    default Lock permits(String name, int permits, int caller) throws Exception {
        throw new Cannot();
    }

    /** Takes a lock that stays taken while this process lives. */
    void hold(String name) throws Exception;

    interface Lock {
        void acquire() throws Exception;

        void release() throws Exception;
    }

    record ReadWrite(Lock reader, Lock writer) {}

    /** The engine has no such object, or not so many. */
    final class Cannot extends Exception {
        private static final long serialVersionUID = 1;
    }
}
