import java.time.Duration;
import java.time.Instant;
import org.redisson.api.RExpirable;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Ends that are set only where there is one, or none, or an earlier or a later one. */
final class EndsUnderConditions implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("ends");
        RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore("ends of permits");
        Runnable set = () -> semaphore.trySetPermits(2);
        Runnable setPermits = () -> permits.trySetPermits(2);
        conditions(semaphore, set, show);
        conditions(permits, setPermits, show);
        permits.trySetPermits(2);
        permits.acquire();
        show.line("all of it", permits.expireIfNotSet(Duration.ofSeconds(50)), permits.remainTimeToLive() > 20_000,
                (Long) show.redis("PTTL", "{ends of permits}:timeout") > 20_000, permits.clearExpire(),
                show.redis("PTTL", "{ends of permits}:timeout"));
    }

    private static void conditions(RExpirable object, Runnable set, Show show) throws Exception {
        Duration ten = Duration.ofSeconds(10);
        Duration twenty = Duration.ofSeconds(20);
        show.line("absent", object.expireIfSet(ten), object.expireIfNotSet(ten), object.expireIfGreater(ten), object.expireIfLess(ten),
                object.getExpireTime());
        set.run();
        show.line("endless", object.getExpireTime(), object.expireIfSet(ten), object.expireIfGreater(ten), object.getExpireTime());
        show.line("less than endless", object.expireIfLess(ten), object.remainTimeToLive() > 5_000);
        show.line("with an end", object.expireIfNotSet(ten), object.expireIfSet(twenty), object.remainTimeToLive() > 15_000);
        show.line("less", object.expireIfGreater(ten), object.expireIfLess(ten), object.remainTimeToLive() <= 10_000);
        show.line("greater", object.expireIfLess(twenty), object.expireIfGreater(twenty), object.remainTimeToLive() > 15_000);
        object.clearExpire();
        Instant at = Instant.ofEpochMilli(System.currentTimeMillis() + 100_000);
        show.line("at", object.expireIfSet(at), object.expireIfNotSet(at), object.getExpireTime() == at.toEpochMilli());
        show.line("at", object.expireIfGreater(at), object.expireIfLess(at), object.expireIfGreater(at.plusMillis(1)),
                object.expireIfLess(at), show.get(object.getExpireTimeAsync()) == at.toEpochMilli());
        show.line("async", show.get(object.expireIfSetAsync(at)), show.get(object.expireIfNotSetAsync(at)),
                show.get(object.expireIfGreaterAsync(at)), show.get(object.expireIfLessAsync(at)));
        show.line("async", show.get(object.expireIfSetAsync(ten)), show.get(object.expireIfNotSetAsync(ten)),
                show.get(object.expireIfGreaterAsync(twenty)), show.get(object.expireIfLessAsync(ten)));
        show.line("over", object.expire(Instant.now().minusSeconds(5)), object.isExists());
        set.run();
        show.line("over", object.expire(Duration.ofSeconds(-5)), object.isExists());
        set.run();
        show.line("over", object.expire(Duration.ZERO), object.isExists());
        set.run();
        show.line("over", object.expireIfGreater(Duration.ofSeconds(-5)), object.expireIfLess(Duration.ofSeconds(-5)), object.isExists());
    }
}
