import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;
import org.redisson.misc.RedisURI;

/** Names with braces, blanks and other letters, and a mapper for all of them. */
final class NamesAndMappers implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        for (String name : new String[] {"with blanks", "a{b}c", "{whole}", "na\u00efve \u2603", "a:b:c", "{", "}{"}) {
            RLock lock = redisson.getLock(name);
            show.line(name, lock.tryLock(), lock.getName().equals(name), show.redis("EXISTS", name), show.elsewhere(lock::tryLock));
            lock.unlock();
        }
        Config config = new Config(redisson.getConfig()).setNameMapper(new NameMapper() {
            @Override
            public String map(String name) {
                return "shop:" + name;
            }

            @Override
            public String unmap(String name) {
                return name.substring(5);
            }
        });
        config.setEventLoopGroup(null);
        show.line("schemes", RedisURI.REDIS_PROTOCOL, RedisURI.REDIS_SSL_PROTOCOL, RedisURI.VALKEY_UDS_PROTOCOL);
        RedissonClient client = Clients.create(config);
        client.getLock("mapped").lock();
        show.line("mapped", client.getLock("mapped").getName(), show.redis("EXISTS", "shop:mapped"), redisson.getLock("mapped").isLocked());
        client.getReadWriteLock("rw").readLock().lock();
        show.line("mapped", client.getReadWriteLock("rw").readLock().getName(), show.redis("EXISTS", "shop:rw"));
        client.shutdown();
    }
}
