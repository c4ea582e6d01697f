package io.redlatch.spring;

import io.redlatch.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;

/** Takes the lock around a call. */
final class DistributedLockInterceptor implements MethodInterceptor {
    private static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent("org.springframework.transaction.support.TransactionSynchronizationManager",
            DistributedLockInterceptor.class.getClassLoader());
    private static final CompletableFuture<Object> NOTHING = CompletableFuture.completedFuture(null);
    static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final LockedMethods methods;
    private final BeanFactory beans;
    /** Null before the first call: a client that was asked for earlier would be made before all processors of beans are there. */
    private volatile RedissonClient client;

    DistributedLockInterceptor(LockedMethods methods, BeanFactory beans) {
        this.methods = methods;
        this.beans = beans;
    }

    @Override
    public Object invoke(MethodInvocation call) throws Throwable {
        Object target = call.getThis();
        Class<?> type = target == null ? call.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        LockedMethod method = methods.find(call.getMethod(), type);
        if (method == null) {
            return call.proceed();
        }
        String name = method.name(call.getArguments());
        RLock lock = client().getLock(name);
        switch (method.ending) {
            case MONO:
                return LockedMono.of(call, method, name, lock);
            case STAGE:
                return stage(call, method, name, lock);
            default:
                return value(call, method, name, lock);
        }
    }

    /** Without a lock of ours: the thread that makes beans has Spring's own, and may come here as well. */
    private RedissonClient client() {
        RedissonClient known = client;
        if (known == null) {
            known = beans.getBean(RedissonClient.class);
            client = known;
        }
        return known;
    }

    private static Object value(MethodInvocation call, LockedMethod method, String name, RLock lock) throws Throwable {
        Lease lease = take(method, name, lock);
        if (lease == null) {
            if (method.onBusy == OnBusy.FAIL) {
                throw new LockBusyException(name, method.wait);
            }
            return call.getMethod().getReturnType() == Optional.class ? Optional.empty() : null;
        }
        boolean later = false; // by the end of the caller's transaction
        Object result;
        try {
            later = HAS_TRANSACTIONS && LeaseOfTransaction.takesOver(lease);
            result = call.proceed();
        } catch (Throwable failure) {
            if (!later) {
                close(lease, failure);
            }
            throw failure;
        }
        if (later) {
            lease.hold().ensure();
        } else {
            lease.close();
        }
        return result;
    }

    /** Null: the wait was in vain. */
    private static Lease take(LockedMethod method, String name, RLock lock) {
        Duration wait = method.wait == null ? FOR_EVER : method.wait;
        try {
            return (method.lease == null ? Lease.tryLock(lock, wait) : Lease.tryLock(lock, wait, method.lease)).orElse(null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockInterruptedException(name, e);
        }
    }

    /** After a failure of the method, which is what its caller gets. */
    private static void close(Lease lease, Throwable failure) {
        try {
            lease.close();
        } catch (Throwable second) {
            if (second != failure) {
                failure.addSuppressed(second);
            }
        }
    }

    private static CompletableFuture<Object> stage(MethodInvocation call, LockedMethod method, String name, RLock lock) {
        Duration wait = method.wait == null ? FOR_EVER : method.wait;
        CompletableFuture<Optional<Lease>> taken = method.lease == null ? Lease.tryLockAsync(lock, wait)
                : Lease.tryLockAsync(lock, wait, method.lease);
        CompletableFuture<Object> end = new CompletableFuture<>();
        taken.whenComplete((lease, error) -> {
            if (error != null) {
                end.completeExceptionally(error);
            } else if (lease.isPresent()) {
                run(call, lease.get(), end);
            } else if (method.onBusy == OnBusy.FAIL) {
                end.completeExceptionally(new LockBusyException(name, method.wait));
            } else {
                end.complete(null);
            }
        });
        // A caller that gives up waits no more. Work that has begun keeps the lock until it ends.
        end.whenComplete((value, error) -> taken.cancel(true));
        return end;
    }

    private static void run(MethodInvocation call, Lease lease, CompletableFuture<Object> end) {
        CompletableFuture<Lease> taken = CompletableFuture.completedFuture(lease);
        // A caller that has given up meanwhile has no work.
        Lease.<Object>during(taken, held -> end.isDone() ? NOTHING : called(call)).whenComplete((value, failure) -> {
            if (failure != null) {
                end.completeExceptionally(failure);
            } else {
                end.complete(value);
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static CompletionStage<Object> called(MethodInvocation call) {
        try {
            Object made = call.proceed();
            return made == null ? NOTHING : (CompletionStage<Object>) made;
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
