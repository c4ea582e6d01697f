import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.redisson.config.NameMapper;

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

    @Test
    void a_resolver_is_followed_until_its_client_is_shut_down() throws Exception {
        try (TestServer server = TestServer.start()) {
            server.call("ACL", "SETUSER", "renewed", "on", ">one", "~*", "&*", "+@all");
            Renewed resolver = new Renewed();
            useAndShutDown(server, resolver);
            assertEquals(2, resolver.asked.get());
            resolver.to("two");
            resolver.to("three");
            assertEquals(2, resolver.asked.get());
        }
    }

    @Test
    void a_resolver_that_waits_for_its_next_renewal_keeps_nothing_of_a_client_that_was_shut_down() throws Exception {
        try (TestServer server = TestServer.start()) {
            server.call("ACL", "SETUSER", "renewed", "on", ">one", "~*", "&*", "+@all");
            Renewed resolver = new Renewed();
            WeakReference<NameMapper> mapper = useAndShutDown(server, resolver);
            Wait.until("the objects of the client are collected", () -> {
                System.gc();
                return mapper.get() == null;
            });
            assertFalse(resolver.next.get().isDone());
        }
    }

    /** In a frame of its own: nothing else refers to what it makes. */
    private static WeakReference<NameMapper> useAndShutDown(TestServer server, Renewed resolver) {
        NameMapper mapper = new NameMapper() {
            @Override
            public String map(String name) {
                return name;
            }

            @Override
            public String unmap(String name) {
                return name;
            }
        };
        RedissonClient client = Redisson.create(server.config().setCredentialsResolver(resolver).setNameMapper(mapper));
        resolver.to("one");
        client.shutdown();
        return new WeakReference<>(mapper);
    }

    @Test
    void a_resolver_that_throws_is_an_error_and_leaves_no_thread_of_the_client() throws Exception {
        IllegalStateException broken = new IllegalStateException("no token");
        Config atOnce = guarded.config().setCredentialsResolver(address -> {
            throw broken;
        });
        assertSame(broken, refused(atOnce).getCause());
        int before = Vitals.threads("redlatch").size();
        Config later = guarded.config().setCredentialsResolver(new CredentialsResolver() {
            @Override
            public CompletionStage<Credentials> resolve(InetSocketAddress address) {
                return CompletableFuture.completedFuture(new Credentials(null, "sesame"));
            }

            @Override
            public CompletionStage<Void> nextRenewal() {
                throw broken;
            }
        });
        assertSame(broken, refused(later).getCause());
        Wait.until("no thread of ours is left", () -> Vitals.threads("redlatch").size() <= before);
    }

    private static final class Renewed implements CredentialsResolver {
        private final AtomicReference<CompletableFuture<Void>> next = new AtomicReference<>(new CompletableFuture<>());
        private final AtomicInteger asked = new AtomicInteger();
        private volatile String password = "one";

        @Override
        public CompletionStage<Credentials> resolve(InetSocketAddress address) {
            asked.incrementAndGet();
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
