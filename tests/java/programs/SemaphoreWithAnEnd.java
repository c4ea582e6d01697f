import java.time.Duration;
import java.time.Instant;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** A semaphore as an object with an end. */
final class SemaphoreWithAnEnd implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("short-lived");
        show.line("absent", semaphore.isExists(), semaphore.remainTimeToLive(), semaphore.expire(Duration.ofSeconds(5)),
                semaphore.clearExpire());
        show.line("set", semaphore.trySetPermits(2, Duration.ofSeconds(10)), semaphore.remainTimeToLive() > 5_000);
        show.line("for ever", semaphore.clearExpire(), semaphore.remainTimeToLive(), semaphore.clearExpire());
        show.line("until", semaphore.expire(Instant.now().plusSeconds(60)), semaphore.remainTimeToLive() > 30_000);
        show.line("gone", semaphore.unlink(), semaphore.unlink(), show.get(semaphore.isExistsAsync()), semaphore.getName());
    }
}
