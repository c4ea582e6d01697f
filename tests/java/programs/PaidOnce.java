import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A message that comes twice is worked at once. */
final class PaidOnce implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        show.line("first", pay(redisson, show, "m-1"));
        show.line("again", pay(redisson, show, "m-1"), pay(other, show, "m-1"));
        RLock busy = other.getLock("message:m-2");
        busy.lock(30, TimeUnit.SECONDS);
        show.line("meanwhile", pay(redisson, show, "m-2"));
        busy.unlock();
        show.line("later", pay(redisson, show, "m-2"), show.redis("EXISTS", "message:m-1", "message:m-2"));
        other.shutdown();
    }

    private static String pay(RedissonClient client, Show show, String message) throws Exception {
        RLock lock = client.getLock("message:" + message);
        if (!lock.tryLock()) {
            return "in progress";
        }
        try {
            return show.redis("SET", "paid:" + message, "yes", "NX") == null ? "paid before" : "paid";
        } finally {
            lock.unlock();
        }
    }
}
