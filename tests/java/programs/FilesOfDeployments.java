import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

/** The files that deployments have. */
final class FilesOfDeployments implements SmallProgram {
    private static final String SINGLE = "singleServerConfig:\n  idleConnectionTimeout: 10000\n  connectTimeout: 10000\n  timeout: 3000\n  retryAttempts: 3\n"
            + "  subscriptionsPerConnection: 5\n  clientName: null\n  address: \"redis://127.0.0.1:6379\"\n"
            + "  subscriptionConnectionMinimumIdleSize: 1\n  subscriptionConnectionPoolSize: 50\n  connectionMinimumIdleSize: 10\n  connectionPoolSize: 64\n"
            + "  database: 0\n  dnsMonitoringInterval: 5000\npassword: null\nthreads: 16\nnettyThreads: 32\ntransportMode: NIO\n";
    private static final String SENTINEL = "sentinelServersConfig:\n  masterName: \"mymaster\"\n  sentinelAddresses:\n  - \"redis://127.0.0.1:26379\"\n"
            + "  - \"redis://127.0.0.1:26389\"\n  readMode: \"SLAVE\"\n  subscriptionMode: \"MASTER\"\n  masterConnectionPoolSize: 24\n  database: 3\n"
            + "lockWatchdogTimeout: 12000\nfairLockWaitTimeout: 60000\ncheckLockSyncedSlaves: false\n";
    private static final String CLUSTER = "clusterServersConfig:\n  nodeAddresses:\n  - \"redis://10.0.0.1:7004\"\n  - \"rediss://10.0.0.2:7001\"\n"
            + "  scanInterval: 1500\n  slaveConnectionPoolSize: 9\n  checkSlotsCoverage: false\nusername: \"app\"\npassword: \"secret\"\n";

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        SingleServerConfig single = Config.fromYAML(SINGLE).useSingleServer();
        show.line("single", single.getAddress(), single.getTimeout(), single.getRetryAttempts(), single.getClientName(), single.getConnectionPoolSize(),
                single.getConnectionMinimumIdleSize(), single.getDatabase());
        File file = File.createTempFile("redisson", ".yaml");
        Files.writeString(file.toPath(), SENTINEL);
        Config read = Config.fromYAML(file);
        file.delete();
        SentinelServersConfig sentinel = read.useSentinelServers();
        show.line("sentinel", sentinel.getMasterName(), sentinel.getSentinelAddresses(), sentinel.getReadMode() == ReadMode.SLAVE,
                sentinel.getSubscriptionMode() == SubscriptionMode.MASTER, sentinel.getMasterConnectionPoolSize(), sentinel.getDatabase());
        show.line("locks", read.getLockWatchdogTimeout(), read.getFairLockWaitTimeout(), read.isCheckLockSyncedSlaves(), read.isSentinelConfig());
        Config nodes = Config.fromYAML(new StringReader(CLUSTER));
        ClusterServersConfig cluster = nodes.useClusterServers();
        show.line("cluster", cluster.getNodeAddresses(), cluster.getScanInterval(), cluster.getSlaveConnectionPoolSize(), cluster.isCheckSlotsCoverage(),
                nodes.getUsername(), nodes.getPassword(), nodes.isClusterConfig());
        show.line("stream", Config.fromYAML(new ByteArrayInputStream(CLUSTER.getBytes(StandardCharsets.UTF_8))).useClusterServers().getScanInterval());
        show.of("another mode", () -> nodes.useSingleServer());
        try {
            Config.fromYAML("singleServerConfig: {address: ");
        } catch (RuntimeException e) { // of Redisson's parser, or of ours
            show.line("no YAML", e.getMessage().length() > 10);
        }
    }
}
