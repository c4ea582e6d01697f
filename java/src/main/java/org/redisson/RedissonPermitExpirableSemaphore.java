package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.api.RFuture;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.client.RedisException;

/** Permits with ids, each of which may end by itself. */
public class RedissonPermitExpirableSemaphore extends RedissonExpirable implements RPermitExpirableSemaphore {
    private static final long ENDLESS = -1;

    RedissonPermitExpirableSemaphore(Place place) {
        super(place, "permit_semaphore");
    }

    @Override
    public String acquire() throws InterruptedException {
        return acquire(ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public List<String> acquire(int permits) throws InterruptedException {
        return acquire(permits, ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public String acquire(long leaseTime, TimeUnit unit) throws InterruptedException {
        return first(acquire(1, leaseTime, unit));
    }

    @Override
    public List<String> acquire(int permits, long leaseTime, TimeUnit unit) throws InterruptedException {
        return take(permits, Times.FOR_EVER, leaseTime, unit);
    }

    @Override
    public RFuture<String> acquireAsync() {
        return acquireAsync(ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public RFuture<List<String>> acquireAsync(int permits) {
        return acquireAsync(permits, ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public RFuture<String> acquireAsync(long leaseTime, TimeUnit unit) {
        return takeAsync(1, Times.FOR_EVER, leaseTime, unit, RedissonPermitExpirableSemaphore::first);
    }

    @Override
    public RFuture<List<String>> acquireAsync(int permits, long leaseTime, TimeUnit unit) {
        return takeAsync(permits, Times.FOR_EVER, leaseTime, unit, ids -> ids);
    }

    @Override
    public String tryAcquire() {
        return first(tryAcquire(1));
    }

    @Override
    public List<String> tryAcquire(int permits) {
        if (!RedissonSemaphore.some(permits)) {
            return Collections.emptyList();
        }
        return run(ask(Request.ACQUIRE, permits), answer -> PermitIds.taken(answer, permits));
    }

    @Override
    public RFuture<String> tryAcquireAsync() {
        return tryAcquireAsync(0, ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public RFuture<List<String>> tryAcquireAsync(int permits) {
        return tryAcquireAsync(permits, 0, ENDLESS, TimeUnit.MILLISECONDS);
    }

    @Override
    public String tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException {
        return tryAcquire(waitTime, ENDLESS, unit);
    }

    @Override
    public RFuture<String> tryAcquireAsync(long waitTime, TimeUnit unit) {
        return tryAcquireAsync(waitTime, ENDLESS, unit);
    }

    @Override
    public String tryAcquire(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
        return first(tryAcquire(1, waitTime, leaseTime, unit));
    }

    @Override
    public RFuture<String> tryAcquireAsync(long waitTime, long leaseTime, TimeUnit unit) {
        return takeAsync(1, Times.toWait(waitTime, unit), leaseTime, unit, RedissonPermitExpirableSemaphore::first);
    }

    @Override
    public List<String> tryAcquire(int permits, long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
        return take(permits, Times.toWait(waitTime, unit), leaseTime, unit);
    }

    @Override
    public RFuture<List<String>> tryAcquireAsync(int permits, long waitTime, long leaseTime, TimeUnit unit) {
        return takeAsync(permits, Times.toWait(waitTime, unit), leaseTime, unit, ids -> ids);
    }

    @Override
    public boolean tryRelease(String permitId) {
        return tryRelease(one(permitId)) == 1;
    }

    @Override
    public RFuture<Boolean> tryReleaseAsync(String permitId) {
        return releaseAsync(one(permitId), count -> count == 1);
    }

    @Override
    public int tryRelease(List<String> permitsIds) {
        long[] ids = some(permitsIds);
        return ids == null ? 0 : count(run(ask(Request.RELEASE, ids)));
    }

    @Override
    public RFuture<Integer> tryReleaseAsync(List<String> permitsIds) {
        return releaseAsync(permitsIds, count -> count);
    }

    @Override
    public void release(String permitId) {
        if (!tryRelease(permitId)) {
            throw gone(missing(permitId));
        }
    }

    @Override
    public RFuture<Void> releaseAsync(String permitId) {
        return releaseAsync(one(permitId), count -> allOf(1, count, missing(permitId)));
    }

    @Override
    public void release(List<String> permitsIds) {
        if (tryRelease(permitsIds) != permitsIds.size()) {
            throw gone(missing(permitsIds));
        }
    }

    @Override
    public RFuture<Void> releaseAsync(List<String> permitsIds) {
        return releaseAsync(permitsIds, count -> allOf(permitsIds.size(), count, missing(permitsIds)));
    }

    @Override
    public int availablePermits() {
        return count(run(ask(Request.INSPECT)));
    }

    @Override
    public RFuture<Integer> availablePermitsAsync() {
        return submit(ask(Request.INSPECT), RedissonPermitExpirableSemaphore::count);
    }

    @Override
    public int getPermits() {
        return all(run(ask(Request.INSPECT)));
    }

    @Override
    public RFuture<Integer> getPermitsAsync() {
        return submit(ask(Request.INSPECT), RedissonPermitExpirableSemaphore::all);
    }

    @Override
    public int acquiredPermits() {
        return (int) run(ask(Request.INSPECT)).item(1);
    }

    @Override
    public RFuture<Integer> acquiredPermitsAsync() {
        return submit(ask(Request.INSPECT), answer -> (int) answer.item(1));
    }

    @Override
    public boolean trySetPermits(int permits) {
        return isOne(run(ask(Request.TRY_SET, permits)));
    }

    @Override
    public RFuture<Boolean> trySetPermitsAsync(int permits) {
        return submit(ask(Request.TRY_SET, permits), RedissonObject::isOne);
    }

    @Override
    public void setPermits(int permits) {
        run(ask(Request.SET, permits));
    }

    @Override
    public RFuture<Void> setPermitsAsync(int permits) {
        return submit(ask(Request.SET, permits), answer -> null);
    }

    @Override
    public void addPermits(int permits) {
        run(ask(Request.ADD, permits));
    }

    @Override
    public RFuture<Void> addPermitsAsync(int permits) {
        return submit(ask(Request.ADD, permits), answer -> null);
    }

    @Override
    public boolean updateLeaseTime(String permitId, long leaseTime, TimeUnit unit) {
        long lease = lease(leaseTime, unit);
        long[] id = some(one(permitId));
        return id != null && run(ask(Request.EXTEND, id).lasting(lease)).done();
    }

    @Override
    public RFuture<Boolean> updateLeaseTimeAsync(String permitId, long leaseTime, TimeUnit unit) {
        long lease = lease(leaseTime, unit);
        long[] id = some(one(permitId));
        return id == null ? RedissonFuture.completed(false) : submit(ask(Request.EXTEND, id).lasting(lease), Answer::done);
    }

    @Override
    public long getLeaseTime(String permitId) {
        long[] id = some(one(permitId));
        Answer answer = id == null ? null : run(ask(Request.LEASE, id));
        if (answer == null || !answer.done()) {
            throw gone(missing(permitId));
        }
        return answer.number();
    }

    @Override
    public RFuture<Long> getLeaseTimeAsync(String permitId) {
        long[] id = some(one(permitId));
        if (id == null) {
            return RedissonFuture.failed(missing(permitId));
        }
        return submit(ask(Request.LEASE, id), answer -> {
            if (!answer.done()) {
                throw missing(permitId);
            }
            return answer.number();
        });
    }

    private List<String> take(int permits, long wait, long leaseTime, TimeUnit unit) throws InterruptedException {
        long lease = lease(leaseTime, unit);
        if (!RedissonSemaphore.some(permits)) {
            return Collections.emptyList();
        }
        return runInterruptibly(waiting(Request.ACQUIRE, wait, permits).lasting(lease), answer -> PermitIds.taken(answer, permits));
    }

    private <V> RFuture<V> takeAsync(int permits, long wait, long leaseTime, TimeUnit unit, Function<List<String>, V> decode) {
        long lease = lease(leaseTime, unit);
        if (!RedissonSemaphore.some(permits)) {
            return RedissonFuture.completed(decode.apply(Collections.emptyList()));
        }
        Request request = waiting(Request.ACQUIRE, wait, permits).lasting(lease);
        return submit(request, answer -> decode.apply(PermitIds.taken(answer, permits)));
    }

    private <V> RFuture<V> releaseAsync(List<String> permitsIds, Function<Integer, V> decode) {
        long[] ids = some(permitsIds);
        if (ids == null) {
            try {
                return RedissonFuture.completed(decode.apply(0));
            } catch (IllegalArgumentException e) {
                return RedissonFuture.failed(e);
            }
        }
        return submit(ask(Request.RELEASE, ids), answer -> decode.apply(count(answer)));
    }

    @Override
    Request copying(String destination, int database, boolean replace) {
        throw new UnsupportedOperationException("`" + getName() + "` has permits with ids, and no id can be out twice; set up another semaphore");
    }

    /** The core's number for a permit without end is 0. */
    private long lease(long leaseTime, TimeUnit unit) {
        if (leaseTime == ENDLESS) {
            return 0;
        }
        if (leaseTime <= 0) {
            throw new IllegalArgumentException(
                    "the lease of a permit of `" + getName() + "` is " + leaseTime + " " + unit + "; give more than 0, or -1 for no end");
        }
        return Times.toLease(leaseTime, unit);
    }

    private static String first(List<String> ids) {
        return ids.isEmpty() ? null : ids.get(0);
    }

    private static List<String> one(String permitId) {
        if (permitId == null) {
            throw new IllegalArgumentException("the id of a permit is null; give the one that acquire returned");
        }
        return Collections.singletonList(permitId);
    }

    private static long[] some(List<String> permitsIds) {
        if (permitsIds == null || permitsIds.isEmpty()) {
            throw new IllegalArgumentException("there are no ids of permits; give those that acquire returned");
        }
        return PermitIds.toNumbers(permitsIds);
    }

    private static int count(Answer answer) {
        return (int) answer.number();
    }

    private static int all(Answer answer) {
        return isThere(answer) ? (int) (answer.number() + answer.item(1)) : 0;
    }

    private static Void allOf(int permits, int count, IllegalArgumentException missing) {
        if (count != permits) {
            throw missing;
        }
        return null;
    }

    private static IllegalArgumentException missing(String permitId) {
        return new IllegalArgumentException("no permit " + permitId + " is out: it was released, its lease has ended, or it never was");
    }

    private static IllegalArgumentException missing(List<String> permitsIds) {
        return new IllegalArgumentException("not all of the permits " + permitsIds + " are out: they were released, their leases have ended, or they never were");
    }

    private static RedisException gone(IllegalArgumentException missing) {
        return Failures.wrapped("the call", missing);
    }
}
