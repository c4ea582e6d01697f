package org.redisson;

import io.redlatch.Answer;
import io.redlatch.Core;
import io.redlatch.Request;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.redisson.api.RFuture;
import org.redisson.api.RKeys;
import org.redisson.api.RObject;
import org.redisson.config.NameMapper;

/** Keys of whatever kind, over one operation of the core. */
final class RedissonKeys implements RKeys {
    // The numbers of the core, where its table of actions has them in this order.
    private static final int COUNT = 0;
    private static final int EXISTS = 1;
    private static final int DELETE = 2;
    private static final int UNLINK = 3;
    static final int TOUCH = 4;
    private static final int FLUSHDB = 5;
    private static final int FLUSHALL = 6;
    private static final int FLUSHDB_LATER = 7;
    private static final int FLUSHALL_LATER = 8;
    private static final int DELETE_MATCHING = 9;
    private static final int UNLINK_MATCHING = 10;

    private static final String ALL = "";

    private final Core core;
    private final NameMapper mapper;

    RedissonKeys(Core core, NameMapper mapper) {
        this.core = core;
        this.mapper = mapper;
    }

    @Override
    public long count() {
        return run(COUNT, ALL);
    }

    @Override
    public RFuture<Long> countAsync() {
        return submit(COUNT, ALL, Answer::number);
    }

    @Override
    public long countExists(String... names) {
        return each(EXISTS, names);
    }

    @Override
    public RFuture<Long> countExistsAsync(String... names) {
        return submitEach(EXISTS, names);
    }

    @Override
    public long delete(String... keys) {
        return each(DELETE, keys);
    }

    @Override
    public RFuture<Long> deleteAsync(String... keys) {
        return submitEach(DELETE, keys);
    }

    @Override
    public long delete(RObject... objects) {
        return delete(names(objects));
    }

    @Override
    public RFuture<Long> deleteAsync(RObject... objects) {
        return deleteAsync(names(objects));
    }

    @Override
    public long unlink(String... keys) {
        return each(UNLINK, keys);
    }

    @Override
    public RFuture<Long> unlinkAsync(String... keys) {
        return submitEach(UNLINK, keys);
    }

    @Override
    public long touch(String... names) {
        return each(TOUCH, names);
    }

    @Override
    public RFuture<Long> touchAsync(String... names) {
        return submitEach(TOUCH, names);
    }

    @Override
    public long deleteByPattern(String pattern) {
        return run(DELETE_MATCHING, mapped(pattern));
    }

    @Override
    public RFuture<Long> deleteByPatternAsync(String pattern) {
        return submit(DELETE_MATCHING, mapped(pattern), Answer::number);
    }

    @Override
    public long unlinkByPattern(String pattern) {
        return run(UNLINK_MATCHING, mapped(pattern));
    }

    @Override
    public RFuture<Long> unlinkByPatternAsync(String pattern) {
        return submit(UNLINK_MATCHING, mapped(pattern), Answer::number);
    }

    @Override
    public void flushdb() {
        run(FLUSHDB, ALL);
    }

    @Override
    public RFuture<Void> flushdbAsync() {
        return submit(FLUSHDB, ALL, answer -> null);
    }

    @Override
    public void flushdbParallel() {
        run(FLUSHDB_LATER, ALL);
    }

    @Override
    public RFuture<Void> flushdbParallelAsync() {
        return submit(FLUSHDB_LATER, ALL, answer -> null);
    }

    @Override
    public void flushall() {
        run(FLUSHALL, ALL);
    }

    @Override
    public RFuture<Void> flushallAsync() {
        return submit(FLUSHALL, ALL, answer -> null);
    }

    @Override
    public void flushallParallel() {
        run(FLUSHALL_LATER, ALL);
    }

    @Override
    public RFuture<Void> flushallParallelAsync() {
        return submit(FLUSHALL_LATER, ALL, answer -> null);
    }

    private static String[] names(RObject... objects) {
        return Arrays.stream(objects).map(RObject::getName).toArray(String[]::new);
    }

    /** All of them, before anything is sent: a name that is none stops the call. */
    private List<String> mapped(String... names) {
        return Arrays.stream(names).map(this::mapped).collect(Collectors.toList());
    }

    private String mapped(String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("the name or pattern of a key is " + (name == null ? "null" : "empty") + "; give it one");
        }
        return mapper.map(name);
    }

    private long each(int action, String... names) {
        List<String> mapped = mapped(names);
        return mapped.stream().mapToLong(name -> run(action, name)).sum();
    }

    private long run(int action, String name) {
        return counted(core.run(request(action, name)));
    }

    private RFuture<Long> submitEach(int action, String... names) {
        List<CompletableFuture<Long>> all = mapped(names).stream()
                .map(name -> submit(action, name, Answer::number).toCompletableFuture()).collect(Collectors.toList());
        return RedissonFuture.of(CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))
                .thenApply(nothing -> all.stream().mapToLong(CompletableFuture::join).sum()));
    }

    private <V> RFuture<V> submit(int action, String name, Function<Answer, V> decode) {
        return RedissonFuture.submit(core, request(action, name), answer -> {
            counted(answer);
            return decode.apply(answer);
        });
    }

    private static Request request(int action, String name) {
        return Request.keys(action, name.getBytes(StandardCharsets.UTF_8));
    }

    private long counted(Answer answer) {
        if (answer.failed()) {
            throw Failures.of(answer, "", core.id(), RedissonBaseLock.currentThread());
        }
        return answer.number();
    }
}
