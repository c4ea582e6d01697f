package org.redisson;

import io.redlatch.Shown;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.SslVerificationMode;

/**
 * The TLS settings as the core's options. The core takes PEM files and reads them at once, so what is in the key stores is written to files
 * that only this user can read, and that {@link #close} deletes.
 */
@SuppressWarnings("deprecation") // a server's own settings hold where the client's are not set
final class Tls implements AutoCloseable {
    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

    private final Map<String, String> options = new LinkedHashMap<>();
    private final List<Path> files = new ArrayList<>();

    /** @throws IllegalArgumentException for a key store that cannot be used */
    Tls(Config config, Servers servers) {
        BaseConfig<?> server = servers.settings;
        if (!servers.address.matches("(rediss|valkeys)://.*")) {
            return;
        }
        boolean strict = config.getSslVerificationMode() == SslVerificationMode.STRICT;
        options.put("tls_verify", word(strict ? server.getSslVerificationMode() : config.getSslVerificationMode()));
        String type = first(config.getSslKeystoreType(), server.getSslKeystoreType());
        try {
            URL trusted = first(config.getSslTruststore(), server.getSslTruststore());
            if (trusted != null) {
                trust(trusted, first(config.getSslTruststorePassword(), server.getSslTruststorePassword()), type);
            }
            URL own = first(config.getSslKeystore(), server.getSslKeystore());
            if (own != null) {
                show(own, first(config.getSslKeystorePassword(), server.getSslKeystorePassword()), type);
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    Map<String, String> options() {
        return options;
    }

    @Override
    public void close() {
        for (Path file : files) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                file.toFile().deleteOnExit();
            }
        }
    }

    private void trust(URL url, String password, String type) {
        StringBuilder pem = new StringBuilder();
        try {
            KeyStore store = open(url, password, type);
            for (String alias : Collections.list(store.aliases())) {
                pem.append(pem("CERTIFICATE", store.getCertificate(alias).getEncoded()));
            }
        } catch (GeneralSecurityException | IOException e) {
            throw bad("sslTruststore", url, e);
        }
        if (pem.length() == 0) {
            throw bad("sslTruststore", url, "there is no certificate in it");
        }
        write("tls_ca", pem);
    }

    private void show(URL url, String password, String type) {
        try {
            KeyStore store = open(url, password, type);
            for (String alias : Collections.list(store.aliases())) {
                Key key = store.getKey(alias, chars(password));
                if (key != null) {
                    StringBuilder chain = new StringBuilder();
                    for (Certificate certificate : store.getCertificateChain(alias)) {
                        chain.append(pem("CERTIFICATE", certificate.getEncoded()));
                    }
                    write("tls_cert", chain);
                    write("tls_key", pem("PRIVATE KEY", Pkcs8.of(key, store.getCertificate(alias).getPublicKey())));
                    return;
                }
            }
        } catch (GeneralSecurityException | IOException e) {
            throw bad("sslKeystore", url, e);
        }
        throw bad("sslKeystore", url, "there is no private key in it");
    }

    private static KeyStore open(URL url, String password, String type) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(type == null ? "PKCS12" : type); // the JDK's reads JKS as well
        try (InputStream in = url.openStream()) {
            store.load(in, chars(password));
        }
        return store;
    }

    private void write(String option, CharSequence pem) {
        try {
            Path file = Files.createTempFile("redlatch", ".pem"); // readable by this user only
            files.add(file);
            Files.write(file, pem.toString().getBytes(StandardCharsets.US_ASCII));
            options.put(option, file.toString());
        } catch (IOException e) {
            throw new IllegalArgumentException("no file can be written for " + option + ": " + e + "; choose another directory with "
                    + "-Djava.io.tmpdir=<directory>", e);
        }
    }

    private static String pem(String what, byte[] content) {
        return "-----BEGIN " + what + "-----\n" + LINES.encodeToString(content) + "\n-----END " + what + "-----\n";
    }

    private static String word(SslVerificationMode mode) {
        return mode == SslVerificationMode.NONE ? "none" : mode == SslVerificationMode.CA_ONLY ? "ca" : "full";
    }

    private static <V> V first(V one, V other) {
        return one != null ? one : other;
    }

    private static char[] chars(String password) {
        return password == null ? null : password.toCharArray();
    }

    private static IllegalArgumentException bad(String setting, URL url, Object why) {
        Throwable cause = why instanceof Throwable ? (Throwable) why : null;
        String message = "the " + setting + " " + Shown.value(setting, url.toString()) + " cannot be used: " + why + "; check file, type and password";
        return new IllegalArgumentException(message, cause);
    }
}
