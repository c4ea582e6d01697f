import java.time.Duration;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.config.ConstantDelay;

/** Time-outs and retries of one object. */
final class OptionsOfOneLock implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        CommonOptions options = CommonOptions.name("careful").timeout(Duration.ofSeconds(1)).retryAttempts(2).retryDelay(new ConstantDelay(Duration.ofMillis(100)));
        RLock lock = redisson.getLock(options);
        show.line("same lock", lock.tryLock(), redisson.getLock("careful").isHeldByCurrentThread(), lock.getName());
        lock.unlock();
        show.line("others", redisson.getFairLock(CommonOptions.name("a")).tryLock(),
                redisson.getFencedLock(CommonOptions.name("b")).tryLock(),
                redisson.getReadWriteLock(CommonOptions.name("c")).writeLock().tryLock(),
                redisson.getSemaphore(CommonOptions.name("d")).trySetPermits(1),
                redisson.getPermitExpirableSemaphore(CommonOptions.name("e")).trySetPermits(1),
                redisson.getCountDownLatch(CommonOptions.name("f")).trySetCount(1),
                        redisson.getNonReentrantLock(CommonOptions.name("g")).tryLock());
    }
}
