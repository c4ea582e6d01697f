import java.util.Arrays;
import org.redisson.config.Config;

/** Redisson's settings for a URL of the other agents: Redisson has no URLs, but settings for each mode. */
final class Servers {
    private Servers() {}

    /** Understands {@code redis://h:p}, {@code redis+cluster://h:p,h:p}, {@code redis+replicated://…}, {@code redis+sentinel://h:p,h:p/master}. */
    static Config of(String url) {
        String mode = url.substring(0, url.indexOf(':'));
        String[] parts = url.substring(mode.length() + "://".length()).split("/");
        String[] addresses = Arrays.stream(parts[0].split(",")).map(address -> "redis://" + address).toArray(String[]::new);
        Config config = new Config();
        switch (mode) {
            case "redis": config.useSingleServer().setAddress(addresses[0]); break;
            case "redis+cluster": config.useClusterServers().addNodeAddress(addresses); break;
            case "redis+replicated": config.useReplicatedServers().addNodeAddress(addresses); break;
            case "redis+sentinel": config.useSentinelServers().setMasterName(parts[1]).addSentinelAddress(addresses); break;
            default: throw new IllegalArgumentException("no mode `" + mode + "`");
        }
        return config;
    }
}
