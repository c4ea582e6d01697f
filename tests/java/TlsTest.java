import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.SslVerificationMode;

/** TLS by the settings of Redisson: key stores, their passwords, and what a certificate must prove. */
class TlsTest {
    private static final String PASSWORD = "sesame";

    @TempDir
    static Path directory;

    private TestServer server;
    private int port;

    @BeforeAll
    static void makeKeys() throws Exception {
        makeKey("server", "RSA", "san=ip:127.0.0.1");
        makeKey("elsewhere", "RSA", "san=dns:elsewhere");
        makeKey("client", "EC", "san=dns:client");
        makeKey("client-rsa", "RSA", "san=dns:client-rsa");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void a_trusted_server_is_one_whose_certificate_is_in_the_trust_store() throws Exception {
        start("server", false);
        assertWorks(config().setSslTruststore(url("server.cert.p12")).setSslTruststorePassword(PASSWORD));
        Throwable unknown = assertThrows(RedisConnectionException.class, () -> Redisson.create(config()));
        assertTrue(unknown.getCause().getMessage().contains("no trusted authority"), unknown.getCause().getMessage());
        Config other = config().setSslTruststore(url("client.cert.p12")).setSslTruststorePassword(PASSWORD);
        assertThrows(RedisConnectionException.class, () -> Redisson.create(other));
    }

    @Test
    @SuppressWarnings("deprecation")
    void settings_of_the_server_hold_where_the_client_has_none() throws Exception {
        start("server", false);
        Config config = config();
        config.useSingleServer().setSslTruststore(url("server.cert.p12")).setSslTruststorePassword(PASSWORD);
        assertWorks(config);
    }

    @Test
    @SuppressWarnings("deprecation")
    void a_certificate_for_another_host_is_refused_unless_the_host_does_not_count() throws Exception {
        start("elsewhere", false);
        Config strict = config().setSslTruststore(url("elsewhere.cert.p12")).setSslTruststorePassword(PASSWORD);
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(strict));
        assertTrue(error.getCause().getMessage().contains("another host"), error.getCause().getMessage());
        assertWorks(new Config(strict).setSslVerificationMode(SslVerificationMode.CA_ONLY));
        Config old = new Config(strict);
        old.useSingleServer().setSslEnableEndpointIdentification(false);
        assertWorks(old);
        assertWorks(config().setSslVerificationMode(SslVerificationMode.NONE));
    }

    @Test
    void a_client_certificate_is_shown_to_a_server_that_wants_one() throws Exception {
        start("server", true);
        Config without = config().setSslTruststore(url("server.cert.p12")).setSslTruststorePassword(PASSWORD);
        assertThrows(RedisConnectionException.class, () -> Redisson.create(without));
        assertWorks(new Config(without).setSslKeystore(url("client.p12")).setSslKeystorePassword(PASSWORD));
        Config another = new Config(without).setSslKeystore(url("client-rsa.p12")).setSslKeystorePassword(PASSWORD);
        assertThrows(RedisConnectionException.class, () -> Redisson.create(another), "the server trusts the first client alone");
        server.call("CONFIG", "SET", "tls-ca-cert-file", pem("client-rsa", "cert"));
        assertWorks(another);
    }

    @Test
    void a_store_that_cannot_be_used_is_named_and_its_password_is_not() throws Exception {
        start("server", false);
        for (Config bad : List.of(
                config().setSslTruststore(url("server.cert.p12")).setSslTruststorePassword("tahini"),
                config().setSslTruststore(url("nowhere.p12")),
                config().setSslKeystore(url("server.cert.p12")).setSslKeystorePassword(PASSWORD))) {
            String message = assertThrows(IllegalArgumentException.class, () -> Redisson.create(bad)).getMessage();
            assertTrue(message.contains(".p12 cannot be used") && message.contains("check file, type and password"), message);
            assertTrue(!message.contains("tahini"), message);
        }
    }

    @Test
    void no_key_is_written_to_a_file() throws Exception {
        start("server", true);
        Path temporary = Paths.get(System.getProperty("java.io.tmpdir"));
        try (WatchService watch = FileSystems.getDefault().newWatchService()) {
            temporary.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            Config config = config().setSslTruststore(url("server.cert.p12")).setSslTruststorePassword(PASSWORD);
            assertWorks(config.setSslKeystore(url("client.p12")).setSslKeystorePassword(PASSWORD));
            Path last = Files.createTempFile(temporary, "redlatch-last", "");
            Files.delete(last);
            List<String> made = new ArrayList<>();
            while (!made.contains(last.getFileName().toString())) {
                WatchKey key = watch.poll(20, TimeUnit.SECONDS);
                key.pollEvents().forEach(event -> made.add(String.valueOf(event.context())));
                key.reset();
            }
            assertTrue(made.stream().noneMatch(name -> name.endsWith(".pem")), made.toString());
        }
    }

    @Test
    void tls_settings_are_passed_over_where_the_address_goes_without_tls() throws Exception {
        start("server", false);
        Config plain = server.config().setSslVerificationMode(SslVerificationMode.NONE).setSslTruststore(url("nowhere.p12"));
        assertWorks(plain);
    }

    private void start(String key, boolean wantsCertificates) throws Exception {
        port = TestServer.freePort();
        server = TestServer.start("--tls-port", String.valueOf(port),
                "--tls-cert-file", pem(key, "cert"), "--tls-key-file", pem(key, "key"),
                "--tls-ca-cert-file", pem("client", "cert"), "--tls-auth-clients", wantsCertificates ? "yes" : "no");
    }

    private Config config() {
        Config config = server.config();
        config.useSingleServer().setAddress("rediss://127.0.0.1:" + port);
        return config;
    }

    private static void assertWorks(Config config) {
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("lock");
        assertTrue(lock.tryLock());
        lock.unlock();
        client.shutdown();
    }

    private URL url(String file) throws Exception {
        return directory.resolve(file).toUri().toURL();
    }

    /** A key with a certificate of its own making, in a key store; the certificate alone, in a trust store. */
    private static void makeKey(String name, String algorithm, String extension) throws Exception {
        Process process = new ProcessBuilder(Paths.get(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair",
                "-keyalg", algorithm, "-alias", name, "-dname", "CN=" + name, "-ext", extension,
                "-storepass", PASSWORD, "-storetype", "PKCS12", "-keystore", directory.resolve(name + ".p12").toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry(name, keys(name).getCertificate(name));
        try (OutputStream out = Files.newOutputStream(directory.resolve(name + ".cert.p12"))) {
            trust.store(out, PASSWORD.toCharArray());
        }
    }

    private static KeyStore keys(String name) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(directory.resolve(name + ".p12"))) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private String pem(String name, String part) throws Exception {
        KeyStore store = keys(name);
        boolean key = part.equals("key");
        byte[] content = key ? store.getKey(name, PASSWORD.toCharArray()).getEncoded() : store.getCertificate(name).getEncoded();
        String what = key ? "PRIVATE KEY" : "CERTIFICATE";
        Path file = directory.resolve(name + "." + part + ".pem");
        String lines = Base64.getMimeEncoder().encodeToString(content);
        Files.writeString(file, "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n");
        return file.toString();
    }
}
