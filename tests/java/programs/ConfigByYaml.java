import java.time.Duration;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.EqualJitterDelay;

/** A configuration out of a file. */
final class ConfigByYaml implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        System.setProperty("redis.url", show.url());
        Config config = Config.fromYAML("singleServerConfig:\n  address: ${redis.url}\n  database: ${NO_DATABASE:-2}\n  clientName: \"yaml\"\n"
                + "  timeout: 2500\n  connectionMinimumIdleSize: 1\n  connectionPoolSize: 4\n"
                + "  retryDelay: !<org.redisson.config.EqualJitterDelay> {baseDelay: PT0.5S, maxDelay: PT1S}\n"
                + "lockWatchdogTimeout: 9000\nnettyThreads: 2\nthreads: 2\nuseScriptCache: false\ntransportMode: \"NIO\"\n");
        EqualJitterDelay delay = (EqualJitterDelay) config.useSingleServer().getRetryDelay();
        show.line("read", config.useSingleServer().getDatabase(), config.useSingleServer().getClientName(),
                config.useSingleServer().getTimeout(),
                config.getLockWatchdogTimeout(), config.getNettyThreads(), config.isUseScriptCache(), config.getTransportMode(),
                        config.isSingleConfig());
        show.line("typed", delay.getBaseDelay(), delay.getMaxDelay());
        RedissonClient client = Clients.create(config);
        client.getLock("by-yaml").lock();
        show.line("works", client.getLock("by-yaml").remainTimeToLive() <= 9_000, redisson.getLock("by-yaml").isLocked());
        Config again = Config.fromYAML(client.getConfig().toYAML());
        show.line("written", again.useSingleServer().getDatabase(), again.getLockWatchdogTimeout(),
                again.useSingleServer().getAddress().equals(show.url()));
        client.shutdown();
        show.of("two modes", () -> {
            Config two = new Config();
            two.useClusterServers();
            two.useSingleServer();
            return "done";
        });
    }
}
