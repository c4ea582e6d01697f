import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Methods that lock and call each other. */
final class NestedMethods implements SmallProgram {
    private RedissonClient redisson;
    private Show show;

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        this.redisson = redisson;
        this.show = show;
        checkOut(3);
        RLock lock = redisson.getLock("cart");
        show.line("free", lock.isLocked(), lock.getHoldCount());
        try {
            checkOut(-1);
        } catch (IllegalArgumentException e) {
            show.line("free after an exception", e.getMessage(), lock.isLocked(), lock.getHoldCount());
        }
    }

    private void checkOut(int articles) {
        RLock lock = redisson.getLock("cart");
        lock.lock();
        try {
            addAll(articles);
            show.line("checked out", lock.getHoldCount());
        } finally {
            lock.unlock();
        }
    }

    private void addAll(int articles) {
        // Another object, the same lock.
        RLock lock = redisson.getLock("cart");
        lock.lock();
        try {
            if (articles < 0) {
                throw new IllegalArgumentException("articles: " + articles);
            }
            show.line("articles " + articles, lock.getHoldCount(), lock.isHeldByCurrentThread());
            if (articles > 0) {
                addAll(articles - 1);
            }
        } finally {
            lock.unlock();
        }
    }
}
