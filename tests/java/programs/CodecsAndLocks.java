import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.config.Config;

/** A codec of the values changes no lock. */
final class CodecsAndLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock plain = redisson.getLock("encoded");
        plain.lock();
        for (Config config : new Config[] {new Config(redisson.getConfig()).setCodec(StringCodec.INSTANCE), new Config(redisson.getConfig()).setCodec(new Kryo5Codec())}) {
            RedissonClient client = Clients.create(config);
            String codec = client.getConfig().getCodec().getClass().getSimpleName();
            show.line(codec, client.getLock("encoded").isLocked(), client.getLock("encoded").tryLock());
            client.getLock("encoded-" + codec).lock();
            show.line("in redis", show.redis("EXISTS", "encoded-" + codec), show.redis("HVALS", "encoded-" + codec));
            client.getLock("encoded-" + codec).unlock();
            client.getSemaphore("encoded-seats").trySetPermits(2);
            show.line("seats", show.redis("GET", "encoded-seats"), client.getSemaphore("encoded-seats").delete());
            client.shutdown();
        }
        plain.unlock();
    }
}
