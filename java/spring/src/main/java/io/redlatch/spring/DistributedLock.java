package io.redlatch.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method of a bean runs under a lock that all processes share:
 *
 * <pre>{@code
 * @DistributedLock(name = "order:#{id}", waitTime = "5s")
 * @Transactional
 * public void pay(long id) { … }
 * }</pre>
 *
 * <p>The lock is taken before a transaction of the same method begins, and is released after it was committed or rolled back. If the caller has a
 * transaction already, the lock is released after that one, and a loss of the lock until then rolls it back.
 *
 * <p>The lock is that of {@link org.redisson.api.RedissonClient#getLock(String)}: the thread that holds it may enter it again. As with every
 * annotation that Spring's proxies serve, a call on {@code this} takes no lock. On a class the annotation is that of each public method without one
 * of its own; it may also stand on an annotation of yours.
 *
 * <p>A method that returns a {@code CompletionStage} or a {@code Mono} holds the lock until that has ended. It is called when the lock is held: for
 * a stage on another thread, for a {@code Mono} once for each subscription. Each call or subscription is an owner of its own, which enters the lock
 * beside no other hold, and a transaction of the caller is not waited for.
 *
 * <p>Mistakes that can be seen without a call, in durations, expressions, return types, end the start of the application with an {@link
 * InvalidDistributedLockException}. A call throws {@link LockBusyException} if the wait was in vain, {@link LockInterruptedException} if the thread
 * was interrupted while it waited, {@link io.redlatch.LockLostException} if the method went well and the lock was lost meanwhile, and what a call of
 * {@link org.redisson.api.RLock} throws if the server cannot be asked.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface DistributedLock {
    /**
     * The name of the lock, with expressions of Spring in <code>#{…}</code>: the parameter {@code id} is <code>#{id}</code> or <code>#{#id}</code>,
     * a bean is <code>#{&#64;bean}</code>. The code must be compiled with {@code -parameters}, as Spring Boot's build plugins do. <code>${…}</code>
     * is a property of the environment. A part that is null or empty is an {@link InvalidDistributedLockException} of the call.
     */
    String name();

    /**
     * How long to wait for the lock, as {@code 5s}, {@code 500ms} or {@code PT5S}; a number is in ms. Empty: as long as it takes. {@code 0s} tries
     * once. <code>${…}</code> is a property of the environment.
     */
    String waitTime() default "";

    /**
     * After what time the lock ends by itself, 1 ms at least, written as {@link #waitTime()}. Empty: it is renewed until the method has ended or its
     * process has died.
     */
    String leaseTime() default "";

    /** The end of a call whose wait was in vain. */
    OnBusy onBusy() default OnBusy.FAIL;
}
