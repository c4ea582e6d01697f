package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes of the sample application under load, of which one is killed, and a Redis that is killed and comes back with its data. */
class ShopTest {
    /** Of a process that SIGTERM has ended. */
    private static final int TERMINATED = 143;
    private static final Set<String> METERS = Set.of("redlatch_holds", "redlatch_waiting", "redlatch_acquires_total", "redlatch_wait_seconds_count",
            "redlatch_wait_seconds_sum", "redlatch_hold_seconds_count", "redlatch_hold_seconds_sum", "redlatch_losses_total",
            "redlatch_renewals_failed_total");

    @TempDir
    Path folder;

    private final List<RunningShop> shops = new ArrayList<>();
    private Server redis;
    private ShopLoad load;

    @BeforeEach
    void start() throws Exception {
        // All that Redis has answered is on the disk then.
        redis = Server.start("--appendonly", "yes", "--appendfsync", "always");
        load = new ShopLoad(folder);
    }

    @AfterEach
    void stop() {
        shops.forEach(RunningShop::close);
        redis.close();
    }

    @Test
    @Timeout(180)
    void counts_are_right_after_the_death_of_a_process_and_of_redis() throws Exception {
        RunningShop doomed = starting();
        RunningShop stays = starting();
        load.enter(doomed.open());
        load.enter(stays.open());
        load.fill();
        long idle = stays.threads();

        CompletableFuture<Void> calm = load.start(20);
        underWay();
        long busy = stays.threads();
        calm.get();
        assertTrue(busy <= 3, busy + " threads: a lock around a method needs none for its end");
        load.judgeExactly();
        load.crowd();
        healthIs("UP", stays, doomed);

        // The process dies while it holds the lock of the lamps, for which all customers come.
        CompletableFuture<Void> withDeath = load.start(20);
        underWay();
        Wait.until("the process that is to die holds the lock", () -> isStoppedAsHolder(doomed));
        load.leave(doomed);
        doomed.kill();
        healthIs("UP", stays);
        withDeath.get();
        load.judge();

        RunningShop next = starting();
        load.enter(next.open());
        CompletableFuture<Void> withRestart = load.start(20);
        underWay();
        redis.stop();
        healthIs("DOWN", stays, next);
        redis.restart();
        Wait.until("the health is up again", () -> stays.health().startsWith("{") && next.health().startsWith("{"));
        healthIs("UP", stays, next);
        withRestart.get();
        load.judge();

        load.start(20).get();
        load.judge();
        metricsAreOf(stays);
        metricsAreOf(next);
        Wait.until("no lock is left", () -> redis.call("DBSIZE").equals("0"));
        for (RunningShop shop : List.of(stays, next)) {
            assertEquals(TERMINATED, shop.end());
        }
        System.out.println("the shop: " + load + "; threads of the library: " + idle + " at rest, " + busy + " under load");
    }

    private RunningShop starting() throws Exception {
        RunningShop shop = new RunningShop(folder, redis.url() + "?watchdog=5");
        shops.add(shop);
        return shop;
    }

    /** Returns when each customer has come back for some more orders. */
    private void underWay() throws Exception {
        int before = load.orders();
        Wait.until("the load is under way", () -> load.orders() > before + 3 * ShopLoad.CUSTOMERS);
    }

    /** Stops a process; false if it held nothing at that moment, and goes on. */
    private boolean isStoppedAsHolder(RunningShop shop) throws Exception {
        shop.signal("STOP");
        for (int look = 0; look < 2; look++) { // the first may come before the signal
            if (!redis.call("EVAL", "return table.concat(redis.call('hkeys', KEYS[1]))", "1", "stock:lamp").startsWith(shop.client())) {
                shop.signal("CONT");
                return false;
            }
        }
        return true;
    }

    private static void healthIs(String status, RunningShop... shops) {
        String code = status.equals("UP") ? "{" : "503 {";
        for (RunningShop shop : shops) {
            for (String health : List.of(shop.health(), shop.get("/actuator/health/redlatch"))) {
                assertTrue(health.startsWith(code) && health.contains("\"status\":\"" + status + "\""), health);
            }
        }
    }

    /** The meters of docs/java.md under the names that Prometheus has for them, with the figures of a client at rest. */
    private void metricsAreOf(RunningShop shop) {
        Map<String, Double> meters = new TreeMap<>();
        shop.get("/actuator/prometheus").lines().filter(line -> line.startsWith("redlatch_")).forEach(line -> {
            int space = line.lastIndexOf(' ');
            meters.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
        });
        assertEquals(METERS, meters.keySet().stream().map(name -> name.replaceAll("\\{.*", "")).collect(Collectors.toSet()));
        double acquired = meters.get("redlatch_acquires_total{outcome=\"acquired\"}");
        assertTrue(load.answered(shop) <= acquired && acquired <= load.asked(shop), load.answered(shop) + " to " + load.asked(shop) + " calls: " + meters);
        double acquires = meters.entrySet().stream().filter(meter -> meter.getKey().startsWith("redlatch_acquires_total"))
                .mapToDouble(Map.Entry::getValue).sum();
        assertEquals(acquires, meters.get("redlatch_wait_seconds_count"), meters::toString);
        assertEquals(acquired, meters.get("redlatch_hold_seconds_count"), meters::toString);
        assertTrue(meters.get("redlatch_hold_seconds_sum") > 0, meters::toString);
        assertTrue(meters.get("redlatch_wait_seconds_sum") > 0, meters::toString);
        assertEquals(0, meters.get("redlatch_holds"), meters::toString);
        assertEquals(0, meters.get("redlatch_waiting"), meters::toString);
    }
}
