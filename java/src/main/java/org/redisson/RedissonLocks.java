package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.LocksSource;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import org.redisson.config.NameMapper;

/** A list of the locks that are held, over one operation of the core. */
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
        Answer answer = core.run(Request.inventory(rawPattern.getBytes(StandardCharsets.UTF_8)).saying(next));
        if (answer.failed()) {
            throw Failures.of(answer, rawPattern, core.id(), 0);
        }
        return answer;
    }

    @Override
    public String name(String rawName) {
        return mapper.unmap(rawName);
    }
}
