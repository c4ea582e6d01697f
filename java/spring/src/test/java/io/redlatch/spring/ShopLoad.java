package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Customers of all shops that are open. Their answers are compared with the files that the shops share, which nothing but the locks keeps from being
 * changed by two processes at once.
 */
final class ShopLoad {
    static final int CUSTOMERS = 8;
    private static final int LAMPS = 100_000;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(40);

    private final Path folder;
    private final List<RunningShop> open = new CopyOnWriteArrayList<>();
    private final Map<RunningShop, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final Map<RunningShop, AtomicInteger> answered = new ConcurrentHashMap<>();
    private final Set<String> orders = ConcurrentHashMap.newKeySet();
    private final Set<String> charged = ConcurrentHashMap.newKeySet();
    private final AtomicInteger sold = new AtomicInteger();
    private final AtomicInteger unclear = new AtomicInteger();

    /** @param folder where the shops have their files */
    ShopLoad(Path folder) {
        this.folder = folder;
    }

    void enter(RunningShop shop) {
        asked.put(shop, new AtomicInteger());
        answered.put(shop, new AtomicInteger());
        open.add(shop);
    }

    /** No customer comes to this shop from now on. */
    void leave(RunningShop shop) {
        open.remove(shop);
    }

    void fill() {
        assertEquals("", call(open.get(0), shop -> shop.put("/stock/lamp", String.valueOf(LAMPS))).join());
    }

    /** The customers pay for this many orders each, and buy a lamp with each of them. */
    CompletableFuture<Void> start(int each) {
        return CompletableFuture.allOf(Stream.generate(() -> LockedTest.call(() -> {
            for (int number = 0; number < each; number++) {
                pay();
                buy();
            }
            return null;
        })).limit(CUSTOMERS).toArray(CompletableFuture[]::new));
    }

    /** Sixty customers of all shops want one of twenty. */
    void crowd() throws Exception {
        assertEquals("", call(open.get(0), shop -> shop.put("/stock/rare", "20")).join());
        List<CompletableFuture<String>> answers = Stream.iterate(0, number -> number + 1).limit(60)
                .map(number -> call(open.get(number % open.size()), shop -> shop.post("/buy/rare"))).toList();
        List<String> words = answers.stream().map(CompletableFuture::join).toList();
        assertEquals(Map.of("sold", 20, "sold out", 40), Map.of("sold", Collections.frequency(words, "sold"), "sold out", Collections.frequency(words, "sold out")),
                words::toString);
        assertEquals(0, left("rare"));
    }

    /** The files have each order once, and each lamp that was sold. */
    void judge() throws Exception {
        List<String> lines = Files.readAllLines(folder.resolve("shop-charged.txt"));
        Map<String, Integer> counts = new HashMap<>();
        lines.forEach(order -> counts.merge(order, 1, Integer::sum));
        counts.values().removeIf(count -> count == 1);
        assertEquals(Map.of(), counts, "orders that were charged more than once");
        assertEquals(orders, Set.copyOf(lines));
        int taken = LAMPS - left("lamp");
        assertTrue(sold.get() <= taken && taken <= sold.get() + unclear.get(), taken + " lamps are gone; " + this);
    }

    /** The same after a time without faults, in which each call has its answer. */
    void judgeExactly() throws Exception {
        assertEquals(0, unclear.get());
        judge();
    }

    /** How many orders were begun. */
    int orders() {
        return orders.size();
    }

    /** How many calls this shop has answered with success: each had a lock. */
    int answered(RunningShop shop) {
        return answered.get(shop).get();
    }

    /** How many calls were sent to this shop: none asks for more than one lock. */
    int asked(RunningShop shop) {
        return asked.get(shop).get();
    }

    @Override
    public String toString() {
        return orders.size() + " orders, " + sold + " lamps sold, " + unclear + " calls for a lamp without a clear end";
    }

    /** One order, in two shops at once, as a customer does who clicks twice; again until a shop has said that it is charged. */
    private void pay() {
        String order = UUID.randomUUID().toString();
        orders.add(order);
        for (long end = System.nanoTime() + PATIENCE;;) {
            List<CompletableFuture<String>> answers = Stream.of(some(0), some(1)).map(one -> call(one, shop -> shop.post("/orders/" + order + "/pay"))).toList();
            boolean paid = false;
            for (CompletableFuture<String> answer : answers) {
                String word = answer.join();
                if (word.equals("charged")) {
                    assertTrue(charged.add(order), order + " was charged twice");
                }
                paid |= word.equals("charged") || word.equals("charged before");
            }
            if (paid) {
                return;
            }
            assertTrue(System.nanoTime() < end, () -> order + " is never charged: " + answers);
        }
    }

    private void buy() {
        String word = call(some(sold.get()), shop -> shop.post("/buy/lamp")).join();
        if (word.equals("sold")) {
            sold.incrementAndGet();
        } else {
            unclear.incrementAndGet();
        }
    }

    private RunningShop some(int number) {
        Object[] now = open.toArray();
        return (RunningShop) now[number % now.length];
    }

    private CompletableFuture<String> call(RunningShop shop, Function<RunningShop, CompletableFuture<String>> request) {
        asked.get(shop).incrementAndGet();
        return request.apply(shop).thenApply(answer -> {
            if (!answer.startsWith("broken") && !answer.matches("(?s)\\d{3} .*")) {
                answered.get(shop).incrementAndGet();
            }
            return answer;
        });
    }

    private int left(String item) throws Exception {
        return Integer.parseInt(Files.readString(folder.resolve("shop-" + item)));
    }
}
