package org.redisson;

import io.redlatch.internal.Core;
import java.util.Objects;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.CommonParams;
import org.redisson.api.options.KeysOptions;
import org.redisson.api.options.KeysParams;
import org.redisson.client.codec.Codec;
import org.redisson.config.Config;
import org.redisson.config.ConfigAccess;
import org.redisson.config.NameMapper;

/** The places of the objects of one client. */
final class Places {
    private final Core core;
    private final Listeners listeners;
    private final Config config;
    private final NameMapper mapper;

    Places(Core core, Config config) {
        this.core = core;
        this.listeners = new Listeners(core);
        this.config = config;
        this.mapper = Settings.nameMapper(config);
    }

    Place of(String name) {
        return of(name, Limits.OF_CLIENT);
    }

    Place of(String name, Limits limits) {
        return new Place(this, core, listeners, name, rawName(name), limits);
    }

    /** @param values the values as they stand behind the group's name */
    Place of(String group, String values) {
        return new Place(this, core, listeners, group, rawName(group) + values, Limits.OF_CLIENT);
    }

    NameMapper mapper() {
        return mapper;
    }

    /** The configured codec, else Redisson's default. */
    Codec codec() {
        return config.getCodec();
    }

    Place of(CommonOptions options) {
        CommonParams params = (CommonParams) options;
        return of(params.getName(), Settings.limits(params, ConfigAccess.servers(config)));
    }

    /** The limits of calls about keys. */
    Limits limits(KeysOptions options) {
        return Settings.limits((KeysParams) options, ConfigAccess.servers(config));
    }

    private String rawName(String name) {
        return mapper.map(Objects.requireNonNull(name, "the name of a lock is null; give a text"));
    }
}
