package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RExpirable;
import org.redisson.api.RFuture;

/** A key on the server that may have an end. */
abstract class RedissonExpirable extends RedissonObject implements RExpirable {
    // The conditions for setting an end, in the core's numbers.
    private static final int ALWAYS = 0;
    private static final int IF_NOT_SET = 1;
    private static final int IF_SET = 2;
    private static final int IF_GREATER = 3;
    private static final int IF_LESS = 4;

    RedissonExpirable(Place place, String kind) {
        super(place, kind);
    }

    @Override
    public boolean expire(Duration duration) {
        return set(duration, ALWAYS);
    }

    @Override
    public RFuture<Boolean> expireAsync(Duration duration) {
        return setAsync(duration, ALWAYS);
    }

    @Override
    public boolean expire(Instant time) {
        return set(time, ALWAYS);
    }

    @Override
    public RFuture<Boolean> expireAsync(Instant time) {
        return setAsync(time, ALWAYS);
    }

    @Override
    public boolean expireIfSet(Duration duration) {
        return set(duration, IF_SET);
    }

    @Override
    public RFuture<Boolean> expireIfSetAsync(Duration duration) {
        return setAsync(duration, IF_SET);
    }

    @Override
    public boolean expireIfSet(Instant time) {
        return set(time, IF_SET);
    }

    @Override
    public RFuture<Boolean> expireIfSetAsync(Instant time) {
        return setAsync(time, IF_SET);
    }

    @Override
    public boolean expireIfNotSet(Duration duration) {
        return set(duration, IF_NOT_SET);
    }

    @Override
    public RFuture<Boolean> expireIfNotSetAsync(Duration duration) {
        return setAsync(duration, IF_NOT_SET);
    }

    @Override
    public boolean expireIfNotSet(Instant time) {
        return set(time, IF_NOT_SET);
    }

    @Override
    public RFuture<Boolean> expireIfNotSetAsync(Instant time) {
        return setAsync(time, IF_NOT_SET);
    }

    @Override
    public boolean expireIfGreater(Duration duration) {
        return set(duration, IF_GREATER);
    }

    @Override
    public RFuture<Boolean> expireIfGreaterAsync(Duration duration) {
        return setAsync(duration, IF_GREATER);
    }

    @Override
    public boolean expireIfGreater(Instant time) {
        return set(time, IF_GREATER);
    }

    @Override
    public RFuture<Boolean> expireIfGreaterAsync(Instant time) {
        return setAsync(time, IF_GREATER);
    }

    @Override
    public boolean expireIfLess(Duration duration) {
        return set(duration, IF_LESS);
    }

    @Override
    public RFuture<Boolean> expireIfLessAsync(Duration duration) {
        return setAsync(duration, IF_LESS);
    }

    @Override
    public boolean expireIfLess(Instant time) {
        return set(time, IF_LESS);
    }

    @Override
    public RFuture<Boolean> expireIfLessAsync(Instant time) {
        return setAsync(time, IF_LESS);
    }

    @Override
    @Deprecated
    public boolean expire(long timeToLive, TimeUnit timeUnit) {
        return expire(Duration.ofMillis(timeUnit.toMillis(timeToLive)));
    }

    @Override
    @Deprecated
    public RFuture<Boolean> expireAsync(long timeToLive, TimeUnit timeUnit) {
        return expireAsync(Duration.ofMillis(timeUnit.toMillis(timeToLive)));
    }

    @Override
    @Deprecated
    public boolean expireAt(Date timestamp) {
        return expire(instant(timestamp));
    }

    @Override
    @Deprecated
    public RFuture<Boolean> expireAtAsync(Date timestamp) {
        return expireAsync(instant(timestamp));
    }

    @Override
    @Deprecated
    public boolean expireAt(long timestamp) {
        return expire(Instant.ofEpochMilli(timestamp));
    }

    @Override
    @Deprecated
    public RFuture<Boolean> expireAtAsync(long timestamp) {
        return expireAsync(Instant.ofEpochMilli(timestamp));
    }

    @Override
    public boolean clearExpire() {
        return isOne(run(ask(Request.LIVE_FOR, 0)));
    }

    @Override
    public RFuture<Boolean> clearExpireAsync() {
        return submit(ask(Request.LIVE_FOR, 0), RedissonObject::isOne);
    }

    @Override
    public long remainTimeToLive() {
        return run(ask(Request.INSPECT)).item(0);
    }

    @Override
    public RFuture<Long> remainTimeToLiveAsync() {
        return submit(ask(Request.INSPECT), answer -> answer.item(0));
    }

    @Override
    public long getExpireTime() {
        return run(command("PEXPIRETIME")).number();
    }

    @Override
    public RFuture<Long> getExpireTimeAsync() {
        return submit(command("PEXPIRETIME"), Answer::number);
    }

    private boolean set(Duration left, int when) {
        return isOne(run(ending(left, when)));
    }

    private RFuture<Boolean> setAsync(Duration left, int when) {
        return submit(ending(left, when), RedissonObject::isOne);
    }

    private boolean set(Instant end, int when) {
        return isOne(run(ending(end, when)));
    }

    private RFuture<Boolean> setAsync(Instant end, int when) {
        return submit(ending(end, when), RedissonObject::isOne);
    }

    private Request ending(Duration left, int when) {
        return left.isZero() || left.isNegative() ? ending(Instant.EPOCH, when) : ask(Request.LIVE_FOR, Times.toLive(left), when);
    }

    private Request ending(Instant end, int when) {
        return ask(Request.LIVE_FOR, Times.at(end), when, 1);
    }

    /** {@code java.sql.Date} is one that refuses {@code toInstant}. */
    private static Instant instant(Date timestamp) {
        return Instant.ofEpochMilli(timestamp.getTime());
    }
}
