package org.redisson.api;

/** How long a spin lock waits between two tries. */
public class LockOptions {
    /** Makes a policy for each acquire. */
    public interface BackOff {
        /** A policy for one acquire. */
        BackOffPolicy create();
    }

    /** The delays of one acquire. */
    public interface BackOffPolicy {
        /** The next delay in ms. */
        long getNextSleepPeriod();
    }

    /** The exponential back-off. */
    public static BackOff defaults() {
        return new ExponentialBackOff();
    }

    /** Delays that grow by a factor. */
    public static class ExponentialBackOff implements BackOff {
        private long maxDelay = 128;
        private long initialDelay = 1;
        private int multiplier = 2;

        /** The longest delay in ms; 128 unless it is set. */
        public ExponentialBackOff maxDelay(long maxDelay) {
            this.maxDelay = positive("maxDelay", maxDelay);
            return this;
        }

        /** The first delay in ms; 1 unless it is set. */
        public ExponentialBackOff initialDelay(long initialDelay) {
            this.initialDelay = positive("initialDelay", initialDelay);
            return this;
        }

        /** How many times longer each delay is than the one before; 2 unless it is set. */
        public ExponentialBackOff multiplier(int multiplier) {
            this.multiplier = (int) positive("multiplier", multiplier);
            return this;
        }

        public long getMaxDelay() {
            return maxDelay;
        }

        public long getInitialDelay() {
            return initialDelay;
        }

        public int getMultiplier() {
            return multiplier;
        }

        @Override
        public BackOffPolicy create() {
            return new BackOffPolicy() {
                private long next = initialDelay;

                @Override
                public long getNextSleepPeriod() {
                    long delay = Math.min(next, maxDelay);
                    next = delay > maxDelay / multiplier ? maxDelay : delay * multiplier;
                    return delay;
                }
            };
        }
    }

    /** The same delay every time. */
    public static class ConstantBackOff implements BackOff {
        private long delay = 64;

        /** The delay in ms; 64 unless it is set. */
        public ConstantBackOff delay(long delay) {
            this.delay = positive("delay", delay);
            return this;
        }

        public long getDelay() {
            return delay;
        }

        @Override
        public BackOffPolicy create() {
            return () -> delay;
        }
    }

    private static long positive(String setting, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(setting + " is " + value + "; give 1 or more");
        }
        return value;
    }
}
