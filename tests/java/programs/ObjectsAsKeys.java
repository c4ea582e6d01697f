import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RObject;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Semaphores and latches renamed, moved, copied, dumped, measured. */
final class ObjectsAsKeys implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("keys:one");
        absent(semaphore, show);
        semaphore.trySetPermits(3);
        copies(redisson, semaphore, show);
        names(redisson, semaphore, show);
        states(redisson, semaphore, show);
        insides(semaphore, show);
        RCountDownLatch latch = redisson.getCountDownLatch("keys:latch");
        latch.trySetCount(7);
        latch.rename("keys:renamed latch");
        show.line("latch", latch.getName(), latch.getCount(), latch.copy("keys:other latch"), latch.dump() != null, latch.move(4),
                latch.getCount(), redisson.getCountDownLatch("keys:other latch").getCount());
        permits(redisson, show);
    }

    private static void absent(RObject object, Show show) {
        show.of("no rename", () -> {
            object.rename("keys:else");
            return object.getName();
        });
        show.of("no renamenx", () -> object.renamenx("keys:else"));
        show.of("no copy", () -> object.copy("keys:else") + " " + object.copyAndReplace("keys:else") + " " + object.move(3));
        show.of("no dump", object::dump);
        show.of("no inside", () -> object.getIdleTime() + " " + object.getReferenceCount() + " " + object.getInternalEncoding() + " "
                + object.sizeInMemory());
        show.of("no frequency", object::getAccessFrequency);
        show.of("no migration", () -> {
            object.migrate("127.0.0.1", 1, 0, 100);
            return "done";
        });
    }

    private static void copies(RedissonClient redisson, RSemaphore semaphore, Show show) throws Exception {
        show.line("copied", semaphore.copy("keys:two"), semaphore.copy("keys:two"), redisson.getSemaphore("keys:two").availablePermits());
        semaphore.addPermits(1);
        show.line("replaced", show.get(semaphore.copyAndReplaceAsync("keys:two")), redisson.getSemaphore("keys:two").availablePermits());
        show.line("elsewhere", semaphore.copy("keys:two", 3), show.get(semaphore.copyAsync("keys:two", 3)),
                semaphore.copyAndReplace("keys:two", 3));
        show.line("moved", redisson.getSemaphore("keys:two").move(3), redisson.getSemaphore("keys:two").move(4),
                show.get(redisson.getSemaphore("keys:two").moveAsync(4)));
        show.of("no such database", () -> semaphore.move(99));
        show.of("itself", () -> semaphore.copy("keys:one"));
    }

    private static void names(RedissonClient redisson, RSemaphore semaphore, Show show) throws Exception {
        semaphore.rename("keys:three");
        show.line("renamed", semaphore.getName(), semaphore.availablePermits(), redisson.getSemaphore("keys:one").isExists());
        redisson.getSemaphore("keys:taken").trySetPermits(9);
        show.line("not renamed", semaphore.renamenx("keys:taken"), semaphore.getName());
        show.line("renamed", show.get(semaphore.renamenxAsync("keys:free")), semaphore.getName(), semaphore.tryAcquire());
        show.line("over it", show.get(semaphore.renameAsync("keys:taken")), semaphore.getName(), semaphore.availablePermits());
    }

    private static void states(RedissonClient redisson, RSemaphore semaphore, Show show) throws Exception {
        byte[] state = show.get(semaphore.dumpAsync());
        RSemaphore other = redisson.getSemaphore("keys:restored");
        other.restore(state);
        show.line("restored", other.availablePermits(), other.remainTimeToLive());
        show.of("once more", () -> {
            other.restore(state, 5, TimeUnit.SECONDS);
            return "done";
        });
        other.addPermits(5);
        other.restoreAndReplace(state, 5, TimeUnit.SECONDS);
        show.line("replaced", other.availablePermits(), other.remainTimeToLive() > 2_000);
        show.get(other.restoreAndReplaceAsync(state));
        show.line("replaced", other.availablePermits(), other.remainTimeToLive());
        show.of("nonsense", () -> {
            other.restoreAndReplace(new byte[] {1, 2, 3});
            return "done";
        });
        show.of("unreachable", () -> {
            other.migrate("127.0.0.1", 1, 0, 100);
            return "done";
        });
        show.of("unreachable", () -> {
            show.get(other.copyAsync("127.0.0.1", 1, 0, 100));
            return "done";
        });
    }

    private static void insides(RSemaphore semaphore, Show show) throws Exception {
        show.line("inside", semaphore.getIdleTime() < 20, semaphore.getReferenceCount() > 0, semaphore.getInternalEncoding(),
                semaphore.sizeInMemory() > 20, semaphore.getCodec().getClass().getSimpleName(), semaphore.touch());
        show.line("inside", show.get(semaphore.getIdleTimeAsync()) < 20, show.get(semaphore.getReferenceCountAsync()) > 0,
                show.get(semaphore.getInternalEncodingAsync()), show.get(semaphore.sizeInMemoryAsync()) > 20);
        show.of("frequency", semaphore::getAccessFrequency);
        show.redis("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
        show.line("frequency", semaphore.getAccessFrequency() >= 0, show.get(semaphore.getAccessFrequencyAsync()) >= 0);
        show.of("idle", semaphore::getIdleTime);
        show.redis("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }

    private static void permits(RedissonClient redisson, Show show) throws Exception {
        RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore("keys:permits");
        show.line("permits", permits.dump(), permits.sizeInMemory(), permits.getInternalEncoding());
        permits.trySetPermits(3);
        long alone = permits.sizeInMemory();
        permits.acquire();
        show.line("permits", permits.sizeInMemory() > alone, permits.getInternalEncoding(), permits.dump() != null);
        show.of("copy", () -> permits.copy("keys:other permits"));
        show.of("copy", () -> permits.copyAndReplaceAsync("keys:other permits", 3));
    }
}
