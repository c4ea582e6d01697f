package org.redisson;

import io.redlatch.Answer;
import io.redlatch.Core;
import io.redlatch.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;
import org.redisson.api.RObject;

/** What is a key on the server, and no lock. */
abstract class RedissonObject implements RObject {
    private static final int ABSENT = -2;

    private final Core core;
    private final KeyEvents events;
    private final Limits limits;
    private final String kind;
    private final String name;
    private final String rawName;
    private final byte[] key;

    RedissonObject(Place place, String kind) {
        this.core = place.core;
        this.limits = place.limits;
        this.kind = kind;
        this.name = place.name;
        this.rawName = place.rawName;
        this.key = rawName.getBytes(StandardCharsets.UTF_8);
        this.events = new KeyEvents(place, kind);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean delete() {
        return isOne(run(ask(Request.DELETE)));
    }

    @Override
    public RFuture<Boolean> deleteAsync() {
        return submit(ask(Request.DELETE), RedissonObject::isOne);
    }

    @Override
    public boolean unlink() {
        return delete();
    }

    @Override
    public RFuture<Boolean> unlinkAsync() {
        return deleteAsync();
    }

    @Override
    public boolean isExists() {
        return isThere(run(ask(Request.INSPECT)));
    }

    @Override
    public RFuture<Boolean> isExistsAsync() {
        return submit(ask(Request.INSPECT), RedissonObject::isThere);
    }

    @Override
    public boolean touch() {
        return isOne(run(touching()));
    }

    @Override
    public RFuture<Boolean> touchAsync() {
        return submit(touching(), RedissonObject::isOne);
    }

    private Request touching() {
        return limits.on(Request.keys(RedissonKeys.TOUCH, key));
    }

    public boolean expire(Duration duration) {
        return isOne(run(ask(Request.LIVE_FOR, Times.toLive(duration))));
    }

    public RFuture<Boolean> expireAsync(Duration duration) {
        return submit(ask(Request.LIVE_FOR, Times.toLive(duration)), RedissonObject::isOne);
    }

    public boolean expire(Instant time) {
        return expire(Duration.between(Instant.now(), time));
    }

    public RFuture<Boolean> expireAsync(Instant time) {
        return expireAsync(Duration.between(Instant.now(), time));
    }

    @Deprecated
    public boolean expire(long timeToLive, TimeUnit timeUnit) {
        return expire(Duration.ofMillis(timeUnit.toMillis(timeToLive)));
    }

    @Deprecated
    public RFuture<Boolean> expireAsync(long timeToLive, TimeUnit timeUnit) {
        return expireAsync(Duration.ofMillis(timeUnit.toMillis(timeToLive)));
    }

    @Deprecated
    public boolean expireAt(Date timestamp) {
        return expire(timestamp.toInstant());
    }

    @Deprecated
    public RFuture<Boolean> expireAtAsync(Date timestamp) {
        return expireAsync(timestamp.toInstant());
    }

    @Deprecated
    public boolean expireAt(long timestamp) {
        return expire(Instant.ofEpochMilli(timestamp));
    }

    @Deprecated
    public RFuture<Boolean> expireAtAsync(long timestamp) {
        return expireAsync(Instant.ofEpochMilli(timestamp));
    }

    public boolean clearExpire() {
        return isOne(run(ask(Request.LIVE_FOR, 0)));
    }

    public RFuture<Boolean> clearExpireAsync() {
        return submit(ask(Request.LIVE_FOR, 0), RedissonObject::isOne);
    }

    public long remainTimeToLive() {
        return run(ask(Request.INSPECT)).item(0);
    }

    public RFuture<Long> remainTimeToLiveAsync() {
        return submit(ask(Request.INSPECT), answer -> answer.item(0));
    }

    @Override
    public int addListener(ObjectListener listener) {
        return events.add(listener);
    }

    @Override
    public RFuture<Integer> addListenerAsync(ObjectListener listener) {
        return events.addAsync(listener);
    }

    @Override
    public void removeListener(int listenerId) {
        events.remove(listenerId);
    }

    @Override
    public RFuture<Void> removeListenerAsync(int listenerId) {
        events.remove(listenerId);
        return RedissonFuture.completed();
    }

    /** An operation that never waits. */
    Request ask(int operation, long... numbers) {
        return waiting(operation, Times.ONCE, numbers);
    }

    Request waiting(int operation, long wait, long... numbers) {
        return limits.on(Request.of(operation, kind, key, RedissonBaseLock.currentThread(), wait, numbers));
    }

    Answer run(Request request) {
        return checked(core.run(request));
    }

    Answer runInterruptibly(Request request) throws InterruptedException {
        return checked(core.runInterruptibly(request));
    }

    <V> RFuture<V> submit(Request request, Function<Answer, V> decode) {
        return RedissonFuture.submit(core, request, answer -> decode.apply(checked(answer)));
    }

    static boolean isOne(Answer answer) {
        return answer.number() == 1;
    }

    static boolean isThere(Answer answer) {
        return answer.item(0) != ABSENT;
    }

    private Answer checked(Answer answer) {
        if (answer.failed()) {
            throw Failures.of(answer, rawName, core.id(), RedissonBaseLock.currentThread());
        }
        return answer;
    }
}
