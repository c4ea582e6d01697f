import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.misc.RedisURI;

/** A password is in no exception, none of its causes, no {@code toString} and no log, wherever it stands and beside any other error. */
class SecretsTest {
    private static final String SECRET = "hunter2";
    private static final List<String> WRITTEN = List.of(SECRET, "12/" + SECRET, "12?" + SECRET, "12#" + SECRET, "12@" + SECRET,
            "12://" + SECRET, "12 " + SECRET, "12%" + SECRET);
    private static final List<String> BEFORE = List.of("redis://", "redis:/", "", "//", "http://", "redis+what://", "redis+uds://");
    private static final List<String> BEHIND = List.of("h", "h:6379", "h:x", "", "h/x", "h?watchdog=x",
            "h:x?sentinel_password=" + SECRET, "h?password=" + SECRET + "&watchdog=x");

    @FunctionalInterface
    private interface Try {
        Object run() throws Exception;
    }

    /** All texts of a result that a program may print. */
    private static String said(Try attempt) {
        StringBuilder said = new StringBuilder();
        try {
            said.append(attempt.run());
        } catch (Exception thrown) {
            for (Throwable each = thrown; each != null; each = each.getCause()) {
                said.append(each).append(' ').append(each.getMessage()).append(' ');
            }
        }
        return said.toString();
    }

    private static List<String> addresses() {
        List<String> addresses = new ArrayList<>();
        for (String before : BEFORE) {
            for (String user : List.of("u:", ":", "")) {
                for (String written : WRITTEN) {
                    BEHIND.forEach(behind -> addresses.add(before + user + written + "@" + behind));
                }
            }
        }
        return addresses;
    }

    private static Object create(Config config) {
        config.setLazyInitialization(true);
        RedissonClient client = Redisson.create(config);
        client.shutdown();
        return client;
    }

    private static void kept(String address, Try attempt) {
        String said = said(attempt);
        assertFalse(said.contains(SECRET), () -> address + ": " + said);
    }

    @Test
    void no_address_has_its_password_said() {
        List<String> logged = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record.getMessage() + " " + record.getThrown());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger root = Logger.getLogger("");
        Level level = root.getLevel();
        root.addHandler(handler);
        root.setLevel(Level.ALL);
        try {
            for (String address : addresses()) {
                kept(address, () -> new RedisURI(address));
                kept(address, () -> {
                    Config config = new Config();
                    config.useSingleServer().setAddress(address);
                    return create(config);
                });
                kept(address, () -> {
                    Config config = new Config();
                    config.useSentinelServers().setMasterName("m").addSentinelAddress("redis://first", address);
                    return create(config);
                });
                kept(address, () -> {
                    Config config = new Config();
                    config.setCredentialsResolver(place -> {
                        throw new IllegalStateException("not here");
                    });
                    config.useSingleServer().setAddress(address);
                    return create(config);
                });
                kept(address, () -> create(Config.fromYAML("singleServerConfig: {address: '" + address + "', timeout: x}")));
            }
        } finally {
            root.removeHandler(handler);
            root.setLevel(level);
        }
        assertFalse(logged.toString().contains(SECRET), logged::toString);
    }

    @Test
    void no_setting_of_a_file_has_a_password_said() {
        for (String setting : List.of("password: [" + SECRET + "]", "password: {a: " + SECRET + "}", "password: !" + SECRET + " x",
                "password: \"" + SECRET, "sslKeystorePassword: [" + SECRET + "]", "sslTruststore: https://u:" + SECRET + "@h/ca.pem",
                "sslTruststore: redis://:" + SECRET + "@h", "lockWatchdogTimeout: redis://:" + SECRET + "@h")) {
            kept(setting, () -> create(Config.fromYAML("singleServerConfig: {address: 'rediss://h'}\n" + setting + "\n")));
        }
    }

    @Test
    void a_user_and_a_password_are_those_of_the_place_that_is_given_with_them() {
        RedisURI place = new RedisURI("rediss://old:older@h:6380");
        RedisURI uri = new RedisURI("u", SECRET, place);
        assertEquals("rediss://h:6380", uri.toString());
        assertEquals("u", uri.getUsername());
        assertEquals(SECRET, uri.getPassword());
        kept("null", () -> new RedisURI("redis://" + SECRET + "@", SECRET, place));
    }

    @Test
    void a_bad_address_is_named_as_far_as_it_is_certainly_no_secret() {
        Throwable error = assertThrows(IllegalArgumentException.class, () -> new RedisURI("redis://u:" + SECRET + "@h:99999x"));
        assertFalse(error.toString().contains(SECRET), error::toString);
    }
}
