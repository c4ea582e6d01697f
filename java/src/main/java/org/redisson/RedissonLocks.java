package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.LocksSource;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import org.redisson.config.NameMapper;

/** The locks that are held, over operations of the core: a list of them, and the end of one. */
final class RedissonLocks implements LocksSource {
    private final Core core;
    private final NameMapper mapper;
    private final String rawPattern;

    RedissonLocks(Core core, NameMapper mapper, String pattern) {
        this.core = core;
        this.mapper = mapper;
        this.rawPattern = mapper.map(pattern);
    }

    @Override
    public Answer page(byte[] next) {
        return checked(core, core.run(Request.inventory(rawPattern.getBytes(StandardCharsets.UTF_8)).saying(next)), rawPattern);
    }

    /** See {@link io.redlatch.internal.OwnKinds#evict}. */
    static boolean evict(Core core, Place place, String kind, String[] holders) {
        byte[] holder = Core.evictee(kind, place.name, holders).getBytes(StandardCharsets.UTF_8);
        return checked(core, core.run(Request.forceRelease(kind, place.key).saying(holder)), place.name).number() == 1;
    }

    private static Answer checked(Core core, Answer answer, String name) {
        if (answer.failed()) {
            throw Failures.of(answer, name, core.id(), 0);
        }
        return answer;
    }

    @Override
    public String name(String rawName) {
        return mapper.unmap(rawName);
    }
}
