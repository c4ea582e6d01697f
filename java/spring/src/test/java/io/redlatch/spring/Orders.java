package io.redlatch.spring;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Mono;

/** A bean with methods under locks. Each runs the work that it is given. */
class Orders {
    record Order(String id) {
        public String getId() {
            return id;
        }
    }

    @DistributedLock(name = "order:#{id}")
    public <V> V pay(String id, Callable<V> work) throws Exception {
        return work.call();
    }

    @DistributedLock(name = "order:#{#id}", waitTime = "0s")
    public String once(String id, Callable<String> work) throws Exception {
        return work.call();
    }

    @DistributedLock(name = "order:#{order.id}", waitTime = "${orders.wait:50ms}", onBusy = OnBusy.SKIP)
    public String skipped(Order order, Callable<String> work) throws Exception {
        return work.call();
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s", onBusy = OnBusy.SKIP)
    public Optional<String> maybe(String id) {
        return Optional.of(id);
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s", onBusy = OnBusy.SKIP)
    public void nothing(String id, Runnable work) {
        work.run();
    }

    @DistributedLock(name = "order:#{id}", leaseTime = "300ms")
    public <V> V leased(String id, Callable<V> work) throws Exception {
        return work.call();
    }

    @DistributedLock(name = "order:#{@prefixes.of(id)}")
    public String ofBean(String id, Callable<String> work) throws Exception {
        return work.call();
    }

    public <V> V onThis(String id, Callable<V> work) throws Exception {
        return pay(id, work);
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s")
    public CompletionStage<String> stage(String id, CompletionStage<String> work) {
        return work;
    }

    @DistributedLock(name = "order:#{id}")
    public CompletableFuture<String> future(String id, Callable<CompletableFuture<String>> work) throws Exception {
        return work.call();
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s", onBusy = OnBusy.SKIP)
    public CompletableFuture<String> skippedFuture(String id) {
        return CompletableFuture.completedFuture(id);
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s")
    public Mono<String> mono(String id, Mono<String> work) {
        return work;
    }

    @DistributedLock(name = "order:#{id}", waitTime = "0s", onBusy = OnBusy.SKIP)
    public Mono<String> skippedMono(String id) {
        return Mono.just(id);
    }

    @DistributedLock(name = "order:#{id}", leaseTime = "300ms")
    public Mono<String> leasedMono(String id, Mono<String> work) {
        return work;
    }

    @Async
    @DistributedLock(name = "order:#{id}")
    public CompletableFuture<String> elsewhere(String id, Callable<String> work) throws Exception {
        return CompletableFuture.completedFuture(work.call());
    }

    @Every
    public String ofMine(String id, Callable<String> work) throws Exception {
        return work.call();
    }
}
