import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisWrongPasswordException;
import org.redisson.config.Config;
import org.redisson.config.Credentials;
import org.redisson.config.CredentialsResolver;

/** The login of a client at a server that wants a password. */
class LoginTest {
    private static TestServer guarded;

    @BeforeAll
    static void start() throws Exception {
        guarded = TestServer.start("--requirepass", "sesame");
    }

    @AfterAll
    static void stop() {
        guarded.close();
    }

    @Test
    void a_resolver_names_user_and_password_and_is_told_of_which_server() {
        InetSocketAddress[] asked = new InetSocketAddress[1];
        CredentialsResolver resolver = address -> {
            asked[0] = address;
            return CompletableFuture.completedFuture(new Credentials("default", "sesame"));
        };
        lockAndShutDown(guarded.config().setPassword("wrong").setCredentialsResolver(resolver));
        assertEquals(guarded.port(), asked[0].getPort());
    }

    @Test
    @SuppressWarnings("deprecation")
    void a_resolver_of_the_server_is_asked_where_the_client_has_none() {
        Config config = guarded.config();
        config.useSingleServer().setCredentialsResolver(address -> CompletableFuture.completedFuture(new Credentials(null, "sesame")));
        lockAndShutDown(config);
    }

    @Test
    void the_login_of_the_address_goes_first_and_a_missing_half_is_filled_in() {
        String place = "127.0.0.1:" + guarded.port();
        Config said = guarded.config().setPassword("wrong");
        said.useSingleServer().setAddress("redis://:sesame@" + place);
        lockAndShutDown(said);
        Config half = guarded.config().setPassword("sesame");
        half.useSingleServer().setAddress("redis://default@" + place);
        lockAndShutDown(half);
        Config wrong = guarded.config().setPassword("sesame");
        wrong.useSingleServer().setAddress("redis://:wrong@" + place);
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(wrong));
        assertInstanceOf(RedisWrongPasswordException.class, error.getCause());
    }

    @Test
    void a_resolver_that_fails_or_says_nothing_is_an_error_in_bounded_time() {
        CompletionStage<Credentials> failed = CompletableFuture.failedFuture(new IllegalStateException("no token"));
        Throwable error = refused(guarded.config().setCredentialsResolver(address -> failed));
        assertEquals("no token", error.getCause().getMessage());
        Config silent = guarded.config().setCredentialsResolver(address -> new CompletableFuture<>());
        silent.useSingleServer().setConnectTimeout(50);
        error = refused(silent);
        assertInstanceOf(TimeoutException.class, error.getCause());
        assertTrue(error.getMessage().contains("50 ms"), error.getMessage());
    }

    @Test
    void credentials_that_are_renewed_are_used_by_the_connections_after_that() throws Exception {
        try (TestServer server = TestServer.start()) {
            server.call("ACL", "SETUSER", "renewed", "on", ">one", "~*", "&*", "+@all");
            Renewed resolver = new Renewed();
            RedissonClient client = Redisson.create(server.config().setCredentialsResolver(resolver));
            for (String password : List.of("two", "three")) {
                server.call("ACL", "SETUSER", "renewed", "resetpass", ">" + password);
                resolver.to(password);
                server.call("CLIENT", "KILL", "USER", "renewed");
                assertTrue(client.getLock("login").tryLock(10, TimeUnit.SECONDS), password);
                client.getLock("login").unlock();
            }
            client.shutdown();
        }
    }

    /** A password that is replaced at times. */
    private static final class Renewed implements CredentialsResolver {
        private final AtomicReference<CompletableFuture<Void>> next = new AtomicReference<>(new CompletableFuture<>());
        private volatile String password = "one";

        @Override
        public CompletionStage<Credentials> resolve(InetSocketAddress address) {
            return CompletableFuture.completedFuture(new Credentials("renewed", password));
        }

        @Override
        public CompletionStage<Void> nextRenewal() {
            return next.get();
        }

        void to(String another) {
            password = another;
            next.getAndSet(new CompletableFuture<>()).complete(null);
        }
    }

    private static Throwable refused(Config config) {
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(config));
        assertTrue(error.getMessage().contains("credentialsResolver") && !error.getMessage().contains("sesame"), error.getMessage());
        return error;
    }

    private static void lockAndShutDown(Config config) {
        RedissonClient client = Redisson.create(config);
        assertTrue(client.getLock("login").tryLock());
        client.getLock("login").unlock();
        client.shutdown();
    }
}
