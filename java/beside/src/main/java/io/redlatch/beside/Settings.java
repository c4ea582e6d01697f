package io.redlatch.beside;

import io.redlatch.redisson.api.options.CommonOptions;
import io.redlatch.redisson.client.codec.NamedCodec;
import io.redlatch.redisson.client.codec.StringCodec;
import io.redlatch.redisson.codec.Kryo5Codec;
import io.redlatch.redisson.config.Config;
import io.redlatch.redisson.config.DelayStrategy;
import io.redlatch.redisson.config.HostNatMapper;
import io.redlatch.redisson.config.HostPortNatMapper;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/** The configuration of a Redisson of any version, as far as it says something about locks. A setting that a version lacks has our default. */
final class Settings {
    /** The settings that client and servers have: they have moved from one to the other. */
    private static final List<String> BOTH = List.of("username", "password", "credentialsResolver", "nameMapper", "commandMapper", "sslTruststore",
            "sslTruststorePassword", "sslKeystore", "sslKeystorePassword", "sslKeystoreType", "sslTrustManagerFactory", "sslKeyManagerFactory",
            "sslProtocols", "sslCiphers", "sslVerificationMode");
    private static final List<String> CLIENT = List.of("lockWatchdogTimeout", "fairLockWaitTimeout", "lazyInitialization", "checkLockSyncedSlaves",
            "slavesSyncTimeout", "executor", "codec");
    private static final List<String> SERVERS = List.of("timeout", "connectTimeout", "retryAttempts", "clientName", "database", "address",
            "masterName", "masterAddress", "nodeAddresses", "sentinelAddresses", "sentinelUsername", "sentinelPassword", "shardedSubscriptionMode");
    /** Redisson's values where nothing was set; each is our default as well. */
    private static final Set<String> DEFAULTS = Set.of("DefaultNameMapper", "DefaultCommandMapper", "DefaultNatMapper", "DefaultCredentialsResolver");

    private final org.redisson.config.Config theirs;
    private final Config ours = new Config();
    private final Exchange exchange = new Exchange(null);

    Settings(org.redisson.config.Config theirs) {
        this.theirs = new org.redisson.config.Config(theirs); // asking for the servers of another mode would change it
    }

    /** @throws UnsupportedOperationException for a setting that cannot be had */
    Config config() {
        copy(BOTH, theirs, ours);
        copy(CLIENT, theirs, ours);
        if (servers(theirs::useSingleServer, ours::useSingleServer, true) || servers(theirs::useClusterServers, ours::useClusterServers, true)
                || servers(theirs::useSentinelServers, ours::useSentinelServers, true)
                || servers(theirs::useReplicatedServers, ours::useReplicatedServers, false)
                || servers(theirs::useMasterSlaveServers, ours::useMasterSlaveServers, false)) {
            return ours;
        }
        throw new UnsupportedOperationException(
                "the client's servers are those of a connection manager of its own; use one of the five modes of Config");
    }

    private boolean servers(Supplier<?> mode, Supplier<?> ourMode, boolean hasNatMapper) {
        Object from;
        try {
            from = mode.get();
        } catch (IllegalStateException e) { // it has another mode
            return false;
        }
        Object to = ourMode.get();
        copy(BOTH, from, to);
        copy(SERVERS, from, to);
        // Before 3.49 the delays were always the same; before 3.48 certificates were all that could be checked.
        copy(List.of(has(from, "retryDelay") ? "retryDelay" : "retryInterval"), from, to);
        if (!has(from, "sslVerificationMode")) {
            copy(List.of("sslEnableEndpointIdentification"), from, to);
        }
        if (hasNatMapper) { // else it has no effect on locks
            copy(List.of("natMapper"), from, to);
        }
        return true;
    }

    private void copy(List<String> names, Object from, Object to) {
        for (String name : names) {
            Method setter = setter(to, name);
            Object value = setter == null ? null : across(value(from, name), setter.getParameterTypes()[0]);
            if (value != null && !Objects.equals(value(to, name), value)) {
                call(setter, to, value);
            }
        }
    }

    private Object across(Object value, Class<?> wanted) {
        if (value == null || DEFAULTS.contains(value.getClass().getSimpleName()) && value.getClass().getName().startsWith("org.redisson.")) {
            return null;
        }
        if (value instanceof org.redisson.client.codec.Codec) {
            return codec((org.redisson.client.codec.Codec) value);
        }
        switch (value.getClass().getName()) {
            case "org.redisson.api.HostNatMapper":
            case "org.redisson.config.HostNatMapper":
                HostNatMapper hosts = new HostNatMapper();
                hosts.setHostsMap(map(value, "hostsMap"));
                return hosts;
            case "org.redisson.api.HostPortNatMapper":
            case "org.redisson.config.HostPortNatMapper":
                HostPortNatMapper places = new HostPortNatMapper();
                places.setHostsPortMap(map(value, "hostsPortMap"));
                return places;
            default:
                return exchange.across(value, wanted);
        }
    }

    /** Values of a multi lock by group are encoded here: by the codecs that ours has, and by no other one. */
    private static io.redlatch.redisson.client.codec.Codec codec(org.redisson.client.codec.Codec theirs) {
        switch (theirs.getClass().getName()) {
            case "org.redisson.codec.Kryo5Codec":
                return new Kryo5Codec();
            case "org.redisson.client.codec.StringCodec":
                return new StringCodec((Charset) field(theirs, "charset"));
            default:
                return new NamedCodec(theirs.getClass().getName());
        }
    }

    /** The options of one object. */
    static CommonOptions options(Object theirs, Exchange exchange) {
        CommonOptions ours = CommonOptions.name((String) value(theirs, "name"));
        int timeout = (Integer) value(theirs, "timeout");
        Object attempts = value(theirs, "retryAttempts");
        Object delay = value(theirs, "retryDelay");
        Object interval = value(theirs, "retryInterval");
        if (timeout > 0) {
            ours.timeout(Duration.ofMillis(timeout));
        }
        if (!attempts.equals(value(org.redisson.api.options.CommonOptions.name(""), "retryAttempts"))) { // 0 or -1 where nothing was set
            ours.retryAttempts((Integer) attempts);
        }
        if (delay != null) {
            ours.retryDelay((DelayStrategy) exchange.across(delay, DelayStrategy.class));
        } else if (interval != null && (Integer) interval > 0) {
            ours.retryDelay(attempt -> Duration.ofMillis((Integer) interval));
        }
        return ours;
    }

    private static boolean has(Object bean, String name) {
        return getter(bean, name) != null;
    }

    /** The value of a setting; null too where there is no such setting. */
    static Object value(Object bean, String name) {
        Method getter = getter(bean, name);
        return getter == null ? null : call(getter, bean);
    }

    private static Method getter(Object bean, String name) {
        Method getter = method(bean, "get" + capital(name), 0);
        return getter == null ? method(bean, "is" + capital(name), 0) : getter;
    }

    private static Method setter(Object bean, String name) {
        return method(bean, "set" + capital(name), 1);
    }

    private static Method method(Object bean, String name, int inputs) {
        for (Method method : bean.getClass().getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == inputs) {
                return method;
            }
        }
        return null;
    }

    private static String capital(String name) {
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    private static Object call(Method method, Object bean, Object... inputs) {
        try {
            method.trySetAccessible();
            return method.invoke(bean, inputs);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw new IllegalArgumentException(method.getName() + " failed: " + e.getCause(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(method + " is not for others", e);
        }
    }

    @SuppressWarnings("unchecked") // that is the type of the two fields
    private static Map<String, String> map(Object bean, String field) {
        return (Map<String, String>) field(bean, field);
    }

    /** A value that Redisson keeps and does not give. */
    private static Object field(Object bean, String name) {
        try {
            Field field = bean.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(bean);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("this version of Redisson has no " + name + " in " + bean.getClass().getName(), e);
        }
    }
}
