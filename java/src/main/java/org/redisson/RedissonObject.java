package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.api.ObjectEncoding;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;
import org.redisson.api.RObject;
import org.redisson.client.codec.Codec;

/** An object that is a key on the server, and no lock. */
abstract class RedissonObject implements RObject {
    private static final int ABSENT = -2;
    private static final int HERE = -1;

    private final Core core;
    private final String kind;
    /** Replaced by a renaming. */
    private volatile Place place;

    RedissonObject(Place place, String kind) {
        place.core.require(kind);
        this.core = place.core;
        this.kind = kind;
        this.place = place;
    }

    @Override
    public String getName() {
        return place.name;
    }

    @Override
    public Codec getCodec() {
        return place.codec();
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
        return isOne(run(command("TOUCH")));
    }

    @Override
    public RFuture<Boolean> touchAsync() {
        return submit(command("TOUCH"), RedissonObject::isOne);
    }

    @Override
    public void rename(String newName) {
        Place to = place.named(newName);
        run(command("RENAME", to.key));
        place = to;
    }

    @Override
    public RFuture<Void> renameAsync(String newName) {
        Place to = place.named(newName);
        return submit(command("RENAME", to.key), answer -> {
            place = to;
            return null;
        });
    }

    @Override
    public boolean renamenx(String newName) {
        Place to = place.named(newName);
        return isNow(to, run(command("RENAMENX", to.key)));
    }

    @Override
    public RFuture<Boolean> renamenxAsync(String newName) {
        Place to = place.named(newName);
        return submit(command("RENAMENX", to.key), answer -> isNow(to, answer));
    }

    private boolean isNow(Place to, Answer renamed) {
        if (isOne(renamed)) {
            place = to;
        }
        return isOne(renamed);
    }

    @Override
    public boolean move(int database) {
        return isOne(run(command("MOVE", word(database))));
    }

    @Override
    public RFuture<Boolean> moveAsync(int database) {
        return submit(command("MOVE", word(database)), RedissonObject::isOne);
    }

    @Override
    public boolean copy(String destination) {
        return isOne(run(copying(destination, HERE, false)));
    }

    @Override
    public RFuture<Boolean> copyAsync(String destination) {
        return submit(copying(destination, HERE, false), RedissonObject::isOne);
    }

    @Override
    public boolean copy(String destination, int database) {
        return isOne(run(copying(destination, database, false)));
    }

    @Override
    public RFuture<Boolean> copyAsync(String destination, int database) {
        return submit(copying(destination, database, false), RedissonObject::isOne);
    }

    @Override
    public boolean copyAndReplace(String destination) {
        return isOne(run(copying(destination, HERE, true)));
    }

    @Override
    public RFuture<Boolean> copyAndReplaceAsync(String destination) {
        return submit(copying(destination, HERE, true), RedissonObject::isOne);
    }

    @Override
    public boolean copyAndReplace(String destination, int database) {
        return isOne(run(copying(destination, database, true)));
    }

    @Override
    public RFuture<Boolean> copyAndReplaceAsync(String destination, int database) {
        return submit(copying(destination, database, true), RedissonObject::isOne);
    }

    /** @param database below 0: this one */
    Request copying(String destination, int database, boolean replace) {
        List<byte[]> words = new ArrayList<>(List.of(place.named(destination).key));
        if (database >= 0) {
            words.add(word("DB"));
            words.add(word(database));
        }
        if (replace) {
            words.add(word("REPLACE"));
        }
        return command("COPY", words.toArray(new byte[0][]));
    }

    @Override
    public void copy(String host, int port, int database, long timeout) {
        run(command("MIGRATE", word(host), word(port), word(""), word(database), word(timeout), word("COPY")));
    }

    @Override
    public RFuture<Void> copyAsync(String host, int port, int database, long timeout) {
        return submit(command("MIGRATE", word(host), word(port), word(""), word(database), word(timeout), word("COPY")), answer -> null);
    }

    @Override
    public void migrate(String host, int port, int database, long timeout) {
        run(command("MIGRATE", word(host), word(port), word(""), word(database), word(timeout)));
    }

    @Override
    public RFuture<Void> migrateAsync(String host, int port, int database, long timeout) {
        return submit(command("MIGRATE", word(host), word(port), word(""), word(database), word(timeout)), answer -> null);
    }

    @Override
    public byte[] dump() {
        return text(run(command("DUMP")));
    }

    @Override
    public RFuture<byte[]> dumpAsync() {
        return submit(command("DUMP"), RedissonObject::text);
    }

    @Override
    public void restore(byte[] state) {
        run(command("RESTORE", word(0), state));
    }

    @Override
    public RFuture<Void> restoreAsync(byte[] state) {
        return submit(command("RESTORE", word(0), state), answer -> null);
    }

    @Override
    public void restore(byte[] state, long timeToLive, TimeUnit timeUnit) {
        run(command("RESTORE", word(Times.toLive(timeToLive, timeUnit)), state));
    }

    @Override
    public RFuture<Void> restoreAsync(byte[] state, long timeToLive, TimeUnit timeUnit) {
        return submit(command("RESTORE", word(Times.toLive(timeToLive, timeUnit)), state), answer -> null);
    }

    @Override
    public void restoreAndReplace(byte[] state) {
        run(command("RESTORE", word(0), state, word("REPLACE")));
    }

    @Override
    public RFuture<Void> restoreAndReplaceAsync(byte[] state) {
        return submit(command("RESTORE", word(0), state, word("REPLACE")), answer -> null);
    }

    @Override
    public void restoreAndReplace(byte[] state, long timeToLive, TimeUnit timeUnit) {
        run(command("RESTORE", word(Times.toLive(timeToLive, timeUnit)), state, word("REPLACE")));
    }

    @Override
    public RFuture<Void> restoreAndReplaceAsync(byte[] state, long timeToLive, TimeUnit timeUnit) {
        return submit(command("RESTORE", word(Times.toLive(timeToLive, timeUnit)), state, word("REPLACE")), answer -> null);
    }

    @Override
    public long sizeInMemory() {
        return run(command("MEMORY USAGE")).number();
    }

    @Override
    public RFuture<Long> sizeInMemoryAsync() {
        return submit(command("MEMORY USAGE"), Answer::number);
    }

    @Override
    public Long getIdleTime() {
        return run(command("OBJECT IDLETIME")).number();
    }

    @Override
    public RFuture<Long> getIdleTimeAsync() {
        return submit(command("OBJECT IDLETIME"), Answer::number);
    }

    @Override
    public int getReferenceCount() {
        return (int) run(command("OBJECT REFCOUNT")).number();
    }

    @Override
    public RFuture<Integer> getReferenceCountAsync() {
        return submit(command("OBJECT REFCOUNT"), answer -> (int) answer.number());
    }

    @Override
    public int getAccessFrequency() {
        return (int) run(command("OBJECT FREQ")).number();
    }

    @Override
    public RFuture<Integer> getAccessFrequencyAsync() {
        return submit(command("OBJECT FREQ"), answer -> (int) answer.number());
    }

    @Override
    public ObjectEncoding getInternalEncoding() {
        return encoding(run(command("OBJECT ENCODING")));
    }

    @Override
    public RFuture<ObjectEncoding> getInternalEncodingAsync() {
        return submit(command("OBJECT ENCODING"), RedissonObject::encoding);
    }


    @Override
    public int addListener(ObjectListener listener) {
        return new KeyEvents(place, kind).add(listener);
    }

    @Override
    public RFuture<Integer> addListenerAsync(ObjectListener listener) {
        return new KeyEvents(place, kind).addAsync(listener);
    }

    @Override
    public void removeListener(int listenerId) {
        place.listeners.remove(listenerId);
    }

    @Override
    public RFuture<Void> removeListenerAsync(int listenerId) {
        place.listeners.remove(listenerId);
        return RedissonFuture.completed();
    }

    /** An operation that never waits. */
    Request ask(int operation, long... numbers) {
        return waiting(operation, Times.ONCE, numbers);
    }

    Request waiting(int operation, long wait, long... numbers) {
        Place at = place;
        return at.limits.on(Request.of(operation, kind, at.key, RedissonBaseLock.currentThread(), wait, numbers));
    }

    /** A command about the keys of this, see {@link Request#keys}. */
    Request command(String action, byte[]... words) {
        Place at = place;
        return at.limits.on(Request.keys(action, kind, at.key, words));
    }

    static byte[] word(Object word) {
        return String.valueOf(word).getBytes(StandardCharsets.UTF_8);
    }

    Answer run(Request request) {
        return checked(core.run(request));
    }

    Answer runInterruptibly(Request request) throws InterruptedException {
        return checked(core.runInterruptibly(request));
    }

    /** As {@link #run(Request)}, with a result that needs memory. */
    <V> V run(Request acquire, Function<Answer, V> decode) {
        return core.run(acquire, answer -> decode.apply(checked(answer)));
    }

    /** As {@link #runInterruptibly(Request)}, with a result that needs memory. */
    <V> V runInterruptibly(Request acquire, Function<Answer, V> decode) throws InterruptedException {
        return core.runInterruptibly(acquire, answer -> decode.apply(checked(answer)));
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

    /** Null: there is no value. */
    static byte[] text(Answer answer) {
        return answer.texts().isEmpty() ? null : answer.texts().get(0);
    }

    private static ObjectEncoding encoding(Answer answer) {
        byte[] name = text(answer);
        return ObjectEncoding.valueOfEncoding(name == null ? null : new String(name, StandardCharsets.UTF_8));
    }

    private Answer checked(Answer answer) {
        if (answer.failed()) {
            throw Failures.of(answer, place.rawName, core.id(), RedissonBaseLock.currentThread());
        }
        return answer;
    }
}
