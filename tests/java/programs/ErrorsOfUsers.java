import java.util.concurrent.TimeUnit;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The exceptions for mistakes of users. */
final class ErrorsOfUsers implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("errors");
        show.of("not held", () -> {
            lock.unlock();
            return "done";
        });
        lock.lock();
        show.of("another's", () -> show.elsewhere(() -> {
            lock.unlock();
            return "done";
        }));
        lock.unlock();
        show.of("conditions", lock::newCondition);
        show.of("no locks", () -> new RedissonMultiLock());
        show.of("no name", () -> redisson.getLock((String) null).tryLock());
        show.of("no server", () -> {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://127.0.0.1:1").setRetryAttempts(0).setConnectTimeout(500).setTimeout(500);
            return Clients.create(config);
        });
        show.of("no configuration", () -> Clients.create(new Config()));
        show.of("no permits", () -> redisson.getSemaphore("errors-s").tryAcquire(-1));
        show.of("no id", () -> redisson.getPermitExpirableSemaphore("errors-p").tryRelease((String) null));
        show.of("attempts", () -> new Config().useSingleServer().setRetryAttempts(-1));
        show.redis("SET", "errors-type", "text");
        show.of("another type", redisson.getLock("errors-type")::tryLock);
    }
}
