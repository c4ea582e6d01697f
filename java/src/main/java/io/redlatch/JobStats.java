package io.redlatch;

/** What the runs of one {@link Job} object have answered so far, for metrics. The counters only grow. */
public final class JobStats {
    private final long ran;
    private final long skipped;
    private final long lost;

    JobStats(long ran, long skipped, long lost) {
        this.ran = ran;
        this.skipped = skipped;
        this.lost = lost;
    }

    /** The runs whose node had the lock until the end of the work, which may have thrown an exception. */
    public long ran() {
        return ran;
    }

    /** The runs that another one had. */
    public long skipped() {
        return skipped;
    }

    /** The runs that lost the lock. */
    public long lost() {
        return lost;
    }

    @Override
    public String toString() {
        return "JobStats[ran=" + ran + ", skipped=" + skipped + ", lost=" + lost + "]";
    }
}
