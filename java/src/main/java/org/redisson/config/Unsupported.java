package org.redisson.config;

import java.util.Arrays;

/** Settings that this library lacks and that would change what is safe: it refuses them. */
final class Unsupported {
    static final String TRUST = "the native library decides whom to trust; name a trust store with sslTruststore";
    static final String CERTIFICATE = "TLS is the native library's own; name a key store with sslKeystore";
    static final String TLS = "TLS is the native library's own, with the protocols and ciphers that it finds safe";

    private Unsupported() {}

    /** @throws UnsupportedOperationException unless commands keep their names */
    static void unlessDirect(CommandMapper mapper) {
        if (!(mapper instanceof DefaultCommandMapper)) {
            unless("commandMapper", mapper, null, "scripts name their commands");
        }
    }

    /** @throws UnsupportedOperationException naming setting, value and reason, unless the value is the only one there is */
    static void unless(String setting, Object value, Object only, String why) {
        if (value == only || value != null && value.equals(only)) {
            return;
        }
        String shown = value instanceof Object[] ? Arrays.toString((Object[]) value) : String.valueOf(value);
        throw new UnsupportedOperationException("the setting " + setting + " cannot be " + shown + ": " + why + "; leave it out");
    }
}
