import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;

/** Tenants share a server, and no lock. */
final class Tenants implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient one = tenant(redisson, "one");
        RedissonClient two = tenant(redisson, "two");
        one.getLock("orders").lock();
        show.line("apart", two.getLock("orders").isLocked(), two.getLock("orders").tryLock(), show.redis("EXISTS", "one/orders"), show.redis("EXISTS", "two/orders"));
        show.line("names", one.getLock("orders").getName(), one.getFairLock("f").getName(), one.getSemaphore("s").getName(), one.getCountDownLatch("c").getName());
        one.getSemaphore("seats").trySetPermits(2);
        one.getCountDownLatch("steps").trySetCount(1);
        one.getPermitExpirableSemaphore("tickets").trySetPermits(1);
        show.line("keys", show.redis("EXISTS", "one/seats", "one/steps", "one/tickets"), two.getSemaphore("seats").isExists(), redisson.getSemaphore("one/seats").availablePermits());
        show.line("read-write", one.getReadWriteLock("rw").writeLock().tryLock(0, 10, TimeUnit.SECONDS), two.getReadWriteLock("rw").readLock().tryLock(), redisson.getReadWriteLock("one/rw").writeLock().isLocked());
        show.line("multi", one.getMultiLock(one.getLock("a"), one.getLock("b")).tryLock(), show.redis("EXISTS", "one/a", "one/b"));
        show.line("renamed", one.getSemaphore("seats").getName(), one.getSemaphore("seats").delete(), show.redis("EXISTS", "one/seats"));
        one.shutdown();
        two.shutdown();
    }

    private static RedissonClient tenant(RedissonClient redisson, String tenant) {
        return Clients.create(new Config(redisson.getConfig()).setNameMapper(new NameMapper() {
            @Override
            public String map(String name) {
                return tenant + "/" + name;
            }

            @Override
            public String unmap(String name) {
                return name.substring(tenant.length() + 1);
            }
        }));
    }
}
