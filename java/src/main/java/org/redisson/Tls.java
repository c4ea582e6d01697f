package org.redisson;

import io.redlatch.internal.Shown;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.SslVerificationMode;

/** The TLS settings as the core's options. The core gets the contents of the key stores as PEM; no key is written to a file. */
@SuppressWarnings("deprecation") // a server's own settings hold where the client's are not set
final class Tls {
    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

    private final Map<String, String> options = new LinkedHashMap<>();

    /** @throws IllegalArgumentException for a key store that cannot be used */
    Tls(Config config, Servers servers) {
        BaseConfig<?> server = servers.settings;
        if (!servers.address.matches("(rediss|valkeys)://.*")) {
            return;
        }
        boolean strict = config.getSslVerificationMode() == SslVerificationMode.STRICT;
        options.put("tls_verify", word(strict ? server.getSslVerificationMode() : config.getSslVerificationMode()));
        String type = first(config.getSslKeystoreType(), server.getSslKeystoreType());
        URL trusted = first(config.getSslTruststore(), server.getSslTruststore());
        if (trusted != null) {
            trust(trusted, first(config.getSslTruststorePassword(), server.getSslTruststorePassword()), type);
        }
        URL own = first(config.getSslKeystore(), server.getSslKeystore());
        if (own != null) {
            identify(own, first(config.getSslKeystorePassword(), server.getSslKeystorePassword()), type);
        }
    }

    Map<String, String> options() {
        return options;
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
        options.put("tls_ca", pem.toString());
    }

    private void identify(URL url, String password, String type) {
        try {
            KeyStore store = open(url, password, type);
            for (String alias : Collections.list(store.aliases())) {
                Key key = store.getKey(alias, chars(password));
                if (key != null) {
                    StringBuilder chain = new StringBuilder();
                    for (Certificate certificate : store.getCertificateChain(alias)) {
                        chain.append(pem("CERTIFICATE", certificate.getEncoded()));
                    }
                    options.put("tls_cert", chain.toString());
                    options.put("tls_key", pem("PRIVATE KEY", Pkcs8.of(key, store.getCertificate(alias).getPublicKey())));
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

    private static String pem(String what, byte[] content) {
        return "-----BEGIN " + what + "-----\n" + LINES.encodeToString(content) + "\n-----END " + what + "-----\n";
    }

    private static String word(SslVerificationMode mode) {
        if (mode == SslVerificationMode.NONE) {
            return "none";
        }
        return mode == SslVerificationMode.CA_ONLY ? "ca" : "full";
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
