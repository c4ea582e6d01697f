package org.redisson;

import static org.redisson.RedissonObject.word;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.redisson.api.AsyncIterator;
import org.redisson.api.RFuture;
import org.redisson.api.RKeys;
import org.redisson.api.RObject;
import org.redisson.api.RType;
import org.redisson.api.options.KeysScanOptions;
import org.redisson.api.options.KeysScanParams;
import org.redisson.config.NameMapper;

/** Keys of every kind, over one operation of the core. */
final class RedissonKeys implements RKeys {
    private static final byte[] ALL = {};
    private static final String ANY_KIND = "plain";
    /** Redisson's default. */
    private static final int CHUNK = 10;

    private final Core core;
    private final NameMapper mapper;
    private final Limits limits;

    RedissonKeys(Core core, NameMapper mapper, Limits limits) {
        this.core = core;
        this.mapper = mapper;
        this.limits = limits;
    }

    @Override
    public Iterable<String> getKeys() {
        return getKeys(KeysScanOptions.defaults());
    }

    @Override
    public Iterable<String> getKeys(KeysScanOptions options) {
        return () -> new KeyNames(this, (KeysScanParams) options).blocking();
    }

    @Override
    @Deprecated
    public Iterable<String> getKeys(int count) {
        return getKeys(KeysScanOptions.defaults().chunkSize(count));
    }

    @Override
    @Deprecated
    public Iterable<String> getKeysByPattern(String pattern) {
        return getKeysByPattern(pattern, CHUNK);
    }

    @Override
    @Deprecated
    public Iterable<String> getKeysByPattern(String pattern, int count) {
        return getKeys(KeysScanOptions.defaults().pattern(pattern).chunkSize(count));
    }

    @Override
    @Deprecated
    public Iterable<String> getKeysWithLimit(int limit) {
        return getKeys(KeysScanOptions.defaults().limit(limit));
    }

    @Override
    @Deprecated
    public Iterable<String> getKeysWithLimit(String pattern, int limit) {
        return getKeys(KeysScanOptions.defaults().pattern(pattern).limit(limit));
    }

    @Override
    public AsyncIterator<String> getKeysAsync() {
        return getKeysAsync(KeysScanOptions.defaults());
    }

    @Override
    public AsyncIterator<String> getKeysAsync(KeysScanOptions options) {
        return new KeyNames(this, (KeysScanParams) options).asynchronous();
    }

    /** For the streams of other libraries. */
    public AsyncIterator<String> getKeysAsync(int count) {
        return getKeysAsync(KeysScanOptions.defaults().chunkSize(count));
    }

    /** For the streams of other libraries. */
    public AsyncIterator<String> getKeysByPatternAsync(String pattern) {
        return getKeysByPatternAsync(pattern, CHUNK);
    }

    /** For the streams of other libraries. */
    public AsyncIterator<String> getKeysByPatternAsync(String pattern, int count) {
        return getKeysAsync(KeysScanOptions.defaults().pattern(pattern).chunkSize(count));
    }

    @Override
    public Stream<String> getKeysStream() {
        return stream(getKeys());
    }

    @Override
    public Stream<String> getKeysStream(KeysScanOptions options) {
        return stream(getKeys(options));
    }

    @Override
    @Deprecated
    public Stream<String> getKeysStream(int count) {
        return stream(getKeys(count));
    }

    @Override
    @Deprecated
    public Stream<String> getKeysStreamByPattern(String pattern) {
        return stream(getKeysByPattern(pattern));
    }

    @Override
    @Deprecated
    public Stream<String> getKeysStreamByPattern(String pattern, int count) {
        return stream(getKeysByPattern(pattern, count));
    }

    private static Stream<String> stream(Iterable<String> names) {
        return StreamSupport.stream(names.spliterator(), false);
    }

    @Override
    public long count() {
        return run(ofAll("DBSIZE")).number();
    }

    @Override
    public RFuture<Long> countAsync() {
        return submit(ofAll("DBSIZE"), Answer::number);
    }

    @Override
    public long countExists(String... names) {
        return each("EXISTS", names);
    }

    @Override
    public RFuture<Long> countExistsAsync(String... names) {
        return eachAsync("EXISTS", names);
    }

    @Override
    public long delete(String... names) {
        return each("DEL", names);
    }

    @Override
    public RFuture<Long> deleteAsync(String... names) {
        return eachAsync("DEL", names);
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
    public long unlink(String... names) {
        return each("UNLINK", names);
    }

    @Override
    public RFuture<Long> unlinkAsync(String... names) {
        return eachAsync("UNLINK", names);
    }

    @Override
    public long touch(String... names) {
        return each("TOUCH", names);
    }

    @Override
    public RFuture<Long> touchAsync(String... names) {
        return eachAsync("TOUCH", names);
    }

    @Override
    public long deleteByPattern(String pattern) {
        return run(of("DEL MATCHING", pattern)).number();
    }

    @Override
    public RFuture<Long> deleteByPatternAsync(String pattern) {
        return submit(of("DEL MATCHING", pattern), Answer::number);
    }

    @Override
    public long unlinkByPattern(String pattern) {
        return run(of("UNLINK MATCHING", pattern)).number();
    }

    @Override
    public RFuture<Long> unlinkByPatternAsync(String pattern) {
        return submit(of("UNLINK MATCHING", pattern), Answer::number);
    }

    @Override
    public RType getType(String key) {
        return type(run(of("TYPE", key)));
    }

    @Override
    public RFuture<RType> getTypeAsync(String key) {
        return submit(of("TYPE", key), RedissonKeys::type);
    }

    @Override
    public int getSlot(String key) {
        return (int) run(of("KEYSLOT", key)).number();
    }

    @Override
    public RFuture<Integer> getSlotAsync(String key) {
        return submit(of("KEYSLOT", key), answer -> (int) answer.number());
    }

    @Override
    public String randomKey() {
        return random(run(ofAll("RANDOMKEY")));
    }

    @Override
    public RFuture<String> randomKeyAsync() {
        return submit(ofAll("RANDOMKEY"), this::random);
    }

    @Override
    public void rename(String currentName, String newName) {
        run(of("RENAME", currentName, name(newName)));
    }

    @Override
    public RFuture<Void> renameAsync(String currentName, String newName) {
        return submit(of("RENAME", currentName, name(newName)), answer -> null);
    }

    @Override
    public boolean renamenx(String oldName, String newName) {
        return RedissonObject.isOne(run(of("RENAMENX", oldName, name(newName))));
    }

    @Override
    public RFuture<Boolean> renamenxAsync(String oldName, String newName) {
        return submit(of("RENAMENX", oldName, name(newName)), RedissonObject::isOne);
    }

    @Override
    @Deprecated
    public boolean expire(String name, long timeToLive, TimeUnit timeUnit) {
        return RedissonObject.isOne(run(of("PEXPIRE", name, word(Times.toLive(timeToLive, timeUnit)))));
    }

    @Override
    @Deprecated
    public RFuture<Boolean> expireAsync(String name, long timeToLive, TimeUnit timeUnit) {
        return submit(of("PEXPIRE", name, word(Times.toLive(timeToLive, timeUnit))), RedissonObject::isOne);
    }

    @Override
    @Deprecated
    public boolean expireAt(String name, long timestamp) {
        return RedissonObject.isOne(run(of("PEXPIREAT", name, word(Times.at(timestamp)))));
    }

    @Override
    @Deprecated
    public RFuture<Boolean> expireAtAsync(String name, long timestamp) {
        return submit(of("PEXPIREAT", name, word(Times.at(timestamp))), RedissonObject::isOne);
    }

    @Override
    public long expire(Duration duration, String... names) {
        return each("PEXPIRE", names, word(Times.ms(duration)));
    }

    @Override
    public RFuture<Long> expireAsync(Duration duration, String... names) {
        return eachAsync("PEXPIRE", names, word(Times.ms(duration)));
    }

    @Override
    public long expireAt(Instant instant, String... names) {
        return each("PEXPIREAT", names, word(Times.at(instant)));
    }

    @Override
    public RFuture<Long> expireAtAsync(Instant instant, String... names) {
        return eachAsync("PEXPIREAT", names, word(Times.at(instant)));
    }

    @Override
    public boolean clearExpire(String name) {
        return RedissonObject.isOne(run(of("PERSIST", name)));
    }

    @Override
    public RFuture<Boolean> clearExpireAsync(String name) {
        return submit(of("PERSIST", name), RedissonObject::isOne);
    }

    @Override
    public long remainTimeToLive(String name) {
        return run(of("PTTL", name)).number();
    }

    @Override
    public RFuture<Long> remainTimeToLiveAsync(String name) {
        return submit(of("PTTL", name), Answer::number);
    }

    private static String[] names(RObject... objects) {
        return Arrays.stream(objects).map(RObject::getName).toArray(String[]::new);
    }

    String mapped(String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("the name or pattern of a key is " + (name == null ? "null" : "empty") + "; give it one");
        }
        return mapper.map(name);
    }

    String unmapped(byte[] name) {
        return mapper.unmap(new String(name, StandardCharsets.UTF_8));
    }

    private byte[] name(String name) {
        return word(mapped(name));
    }

    private String random(Answer answer) {
        byte[] name = RedissonObject.text(answer);
        return name == null ? null : unmapped(name);
    }

    private static RType type(Answer answer) {
        String name = new String(RedissonObject.text(answer), StandardCharsets.UTF_8);
        return Arrays.stream(RType.values()).filter(type -> type.getValue().equals(name)).findFirst().orElse(null);
    }

    private long each(String action, String[] names, byte[]... words) {
        return requests(action, names, words).stream().mapToLong(request -> run(request).number()).sum();
    }

    private RFuture<Long> eachAsync(String action, String[] names, byte[]... words) {
        List<CompletableFuture<Long>> all = requests(action, names, words).stream()
                .map(request -> submit(request, Answer::number).toCompletableFuture()).collect(Collectors.toList());
        return RedissonFuture.of(CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))
                .thenApply(nothing -> all.stream().mapToLong(CompletableFuture::join).sum()));
    }

    /** All names, checked before a command is sent: an invalid name stops the call. */
    private List<Request> requests(String action, String[] names, byte[]... words) {
        return Arrays.stream(names).map(name -> of(action, name, words)).collect(Collectors.toList());
    }

    private Request of(String action, String name, byte[]... words) {
        return Request.keys(action, ANY_KIND, name(name), words);
    }

    static Request ofAll(String action, byte[]... words) {
        return Request.keys(action, ANY_KIND, ALL, words);
    }

    Answer run(Request request) {
        return checked(core.run(limits.on(request)));
    }

    <V> RFuture<V> submit(Request request, Function<Answer, V> decode) {
        return RedissonFuture.submit(core, limits.on(request), answer -> decode.apply(checked(answer)));
    }

    private Answer checked(Answer answer) {
        if (answer.failed()) {
            throw Failures.of(answer, "", core.id(), RedissonBaseLock.currentThread());
        }
        return answer;
    }
}
