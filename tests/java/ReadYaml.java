import java.io.File;
import org.redisson.config.Config;

/** The main class of a child JVM: reads configurations and says what they are. */
public final class ReadYaml {
    private ReadYaml() {}

    /** @param arguments files */
    public static void main(String... arguments) throws Exception {
        for (String file : arguments) {
            Config config = Config.fromYAML(new File(file));
            System.out.println("read " + config.isSingleConfig() + " " + config.isClusterConfig() + " " + config.isSentinelConfig() + " "
                    + config.getLockWatchdogTimeout() + " " + config.getSslVerificationMode());
        }
    }
}
