import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLockReactive;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handlers of Spring WebFlux that lock an order while they work at it. */
final class WebFluxHandlers implements SmallProgram {
    private RedissonReactiveClient redisson;
    private int stock = 5;

    @Override
    public void run(RedissonClient client, Show show) throws Exception {
        redisson = client.reactive();
        HttpHandler handler = RouterFunctions.toHttpHandler(route(POST("/buy/{article}"), this::buy).andRoute(POST("/audit/{article}"), this::audit));
        show.line("one", answer(handler, "/buy/42").block(), stock);
        Flux<String> six = Flux.range(0, 6).flatMap(i -> answer(handler, "/buy/42"), 6);
        show.line("six at once", six.sort().collectList().block(Duration.ofSeconds(50)), stock);
        show.line("free", redisson.getLock("article:42").isLocked().block());
        RLockReactive auditor = redisson.getLock("article:43");
        auditor.lock(1).block();
        show.line("busy", answer(handler, "/audit/43").block());
        auditor.unlock(1).block();
        show.line("free", answer(handler, "/audit/43").block(), auditor.isLocked().block());
    }

    /** Waits for the article's lock. */
    private Mono<ServerResponse> buy(ServerRequest request) {
        RLockReactive lock = redisson.getLock("article:" + request.pathVariable("article"));
        long owner = ThreadLocalRandom.current().nextLong(1L << 40);
        return Mono.usingWhen(lock.lock(owner).thenReturn(owner), own -> sell(), lock::unlock);
    }

    private Mono<ServerResponse> sell() {
        int seen = stock;
        return Mono.delay(Duration.ofMillis(5)).flatMap(nothing -> {
            if (seen == 0) {
                return ServerResponse.status(409).bodyValue("sold out");
            }
            stock = seen - 1;
            return ServerResponse.ok().bodyValue("bought");
        });
    }

    /** Gives up at once if the article is locked. */
    private Mono<ServerResponse> audit(ServerRequest request) {
        RLockReactive lock = redisson.getLock("article:" + request.pathVariable("article"));
        long owner = ThreadLocalRandom.current().nextLong(1L << 40);
        return lock.tryLock(0, 10, TimeUnit.SECONDS, owner).flatMap(isHeld -> isHeld
                ? ServerResponse.ok().bodyValue("audited").flatMap(response -> lock.unlock(owner).thenReturn(response))
                : ServerResponse.status(423).bodyValue("locked"));
    }

    private static Mono<String> answer(HttpHandler handler, String path) {
        MockServerHttpResponse response = new MockServerHttpResponse();
        return handler.handle(MockServerHttpRequest.post(path).build(), response).then(Mono.defer(response::getBodyAsString))
                .map(text -> response.getStatusCode().value() + " " + text);
    }
}
