package io.redlatch.spring;

import io.redlatch.Lease;
import io.redlatch.LockLostException;
import io.redlatch.ReactiveLease;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.redisson.api.RLock;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Mono;

/** Takes the lock around a {@code Mono}, at each subscription. Apart, for programs without Reactor. */
final class LockedMono {
    private LockedMono() {}

    static Mono<?> of(MethodInvocation call, LockedMethod method, String name, RLock lock) {
        Duration wait = method.wait == null ? DistributedLockInterceptor.FOR_EVER : method.wait;
        Mono<Lease> taken = method.lease == null ? ReactiveLease.tryLock(lock, wait) : ReactiveLease.tryLock(lock, wait, method.lease);
        // A call can be made once; each subscription makes a copy of its own.
        ProxyMethodInvocation original = (ProxyMethodInvocation) ((ProxyMethodInvocation) call).invocableClone();
        return Mono.defer(() -> {
            AtomicBoolean entered = new AtomicBoolean();
            Mono<Object> work = Mono.usingWhen(taken, lease -> {
                entered.set(true);
                return called((ProxyMethodInvocation) original.invocableClone());
            }, ReactiveLease::close, LockedMono::closeAfter, ReactiveLease::close);
            Mono<Object> busy = Mono.error(() -> new LockBusyException(name, method.wait));
            Mono<Object> told = work.onErrorMap(RuntimeException.class, LockedMono::told);
            return method.onBusy == OnBusy.SKIP ? told : told.switchIfEmpty(Mono.defer(() -> entered.get() ? Mono.empty() : busy));
        });
    }

    @SuppressWarnings("unchecked")
    private static Mono<Object> called(MethodInvocation call) {
        try {
            Object made = call.proceed();
            return made == null ? Mono.empty() : (Mono<Object>) made;
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }

    /** After a failure of the method, which is what its subscriber gets. */
    private static Mono<Void> closeAfter(Lease lease, Throwable failure) {
        return ReactiveLease.close(lease).onErrorResume(second -> {
            if (second != failure) {
                failure.addSuppressed(second);
            }
            return Mono.empty();
        });
    }

    /** Reactor wraps a failure of the release; a loss is told as it is. */
    private static Throwable told(RuntimeException error) {
        return error.getCause() instanceof LockLostException && error.getClass() == RuntimeException.class ? error.getCause() : error;
    }
}
