import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.instrumentation.micrometer.v1_5.OpenTelemetryMeterRegistry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.PointData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.redlatch.LockMetrics;
import io.redlatch.LostReason;
import io.redlatch.Stats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;

/** The figures of a client as meters of Micrometer. */
class LockMetricsTest extends LockTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @BeforeEach
    void bind() {
        new LockMetrics(client, Tags.of("client", "one")).bindTo(registry);
    }

    private double acquires(String outcome) {
        return registry.get("redlatch.acquires").tags("client", "one", "outcome", outcome).functionCounter().count();
    }

    private double losses(LostReason reason) {
        return registry.get("redlatch.losses").tag("reason", reason.toString()).functionCounter().count();
    }

    @Test
    void the_meters_follow_the_figures() throws Exception {
        lock.lock();
        assertEquals(1, registry.get("redlatch.holds").gauge().value());
        Worker.elsewhere(() -> client.getLock(name).tryLock(20, TimeUnit.MILLISECONDS));
        lock.unlock();
        lock.lock();
        server.call("DEL", name);
        Wait.until("the loss is known", () -> Stats.of(client).held() == 0);
        assertEquals(2, acquires("acquired"));
        assertEquals(1, acquires("not acquired"));
        assertEquals(0, acquires("failed") + acquires("cancelled"));
        FunctionTimer wait = registry.get("redlatch.wait").functionTimer();
        assertTrue(wait.count() == 3 && wait.totalTime(TimeUnit.MILLISECONDS) >= 20, wait.count() + " " + wait.totalTime(TimeUnit.MILLISECONDS));
        FunctionTimer hold = registry.get("redlatch.hold").functionTimer();
        assertTrue(hold.count() == 2 && hold.totalTime(TimeUnit.NANOSECONDS) > 0, hold.count() + " " + hold.totalTime(TimeUnit.NANOSECONDS));
        for (LostReason reason : LostReason.values()) {
            assertEquals(reason == LostReason.DELETED ? 1 : 0, losses(reason), reason.toString());
        }
        assertEquals(0, registry.get("redlatch.renewals.failed").functionCounter().count());
        assertEquals(0, registry.get("redlatch.waiting").gauge().value());
    }

    @Test
    void after_the_shutdown_of_the_client_the_meters_keep_their_last_figures() {
        lock.lock();
        lock.unlock();
        assertEquals(1, acquires("acquired"));
        client.shutdown();
        assertEquals(1, acquires("acquired"));
        assertEquals(0, registry.get("redlatch.holds").gauge().value());
        assertThrows(RedissonShutdownException.class, () -> new LockMetrics(client));
    }

    @Test
    void opentelemetry_gets_the_same_figures_by_the_bridge_of_micrometer() throws Exception {
        InMemoryMetricReader reader = InMemoryMetricReader.create();
        SdkMeterProvider provider = SdkMeterProvider.builder().registerMetricReader(reader).build();
        OpenTelemetry telemetry = OpenTelemetrySdk.builder().setMeterProvider(provider).build();
        new LockMetrics(client, Tags.of("client", "two")).bindTo(OpenTelemetryMeterRegistry.create(telemetry));
        lock.lock();
        server.call("DEL", name);
        Wait.until("the loss is known", () -> Stats.of(client).held() == 0);
        lock.lock();
        Map<String, Double> points = points(reader.collectAllMetrics());
        Stats stats = Stats.of(client);
        assertEquals(1, points.get("redlatch.holds{client=two}"), points.toString());
        assertEquals(0, points.get("redlatch.waiting{client=two}"), points.toString());
        assertEquals(2, points.get("redlatch.acquires{client=two, outcome=acquired}"), points.toString());
        assertEquals(2, points.get("redlatch.wait.count{client=two}"), points.toString());
        assertEquals(stats.waited().toNanos() / 1e9, points.get("redlatch.wait.sum{client=two}"), 1e-9, points.toString());
        assertEquals(1, points.get("redlatch.hold.count{client=two}"), points.toString());
        assertEquals(stats.heldFor().toNanos() / 1e9, points.get("redlatch.hold.sum{client=two}"), 1e-9, points.toString());
        assertEquals(1, points.get("redlatch.losses{client=two, reason=deleted}"), points.toString());
        assertEquals(0, points.get("redlatch.losses{client=two, reason=expired}"), points.toString());
        assertEquals(0, points.get("redlatch.renewals.failed{client=two}"), points.toString());
        lock.unlock();
        assertEquals(0, points(reader.collectAllMetrics()).get("redlatch.holds{client=two}"));
        provider.close();
    }

    /** The figures by name and attributes. */
    private static Map<String, Double> points(Collection<MetricData> metrics) {
        Map<String, Double> points = new TreeMap<>();
        for (MetricData metric : metrics) {
            for (PointData point : metric.getData().getPoints()) {
                Map<String, Object> attributes = new TreeMap<>();
                point.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
                double value = point instanceof LongPointData ? ((LongPointData) point).getValue() : ((DoublePointData) point).getValue();
                points.put(metric.getName() + attributes, value);
            }
        }
        return points;
    }

    @Test
    void a_span_of_opentelemetry_stays_the_current_one_around_blocking_calls() throws Exception {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        SdkTracerProvider provider = SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build();
        Tracer tracer = provider.get("test");
        Span span = tracer.spanBuilder("order").startSpan();
        Scope scope = span.makeCurrent();
        lock.lock();
        assertSame(span, Span.current());
        tracer.spanBuilder("charge").startSpan().end();
        lock.unlock();
        assertSame(span, Span.current());
        scope.close();
        span.end();
        List<SpanData> spans = exporter.getFinishedSpanItems();
        assertEquals(List.of("charge", "order"), spans.stream().map(SpanData::getName).collect(Collectors.toList()));
        assertEquals(spans.get(1).getSpanId(), spans.get(0).getParentSpanId());
        provider.close();
    }

    @Test
    void the_page_has_each_meter() throws Exception {
        Set<String> documented = new TreeSet<>();
        Matcher rows = Pattern.compile("(?m)^\\| `(redlatch\\.[a-z.]+)`.*\\| (gauge|timer|counter) \\|").matcher(Files.readString(Path.of("docs/java.md")));
        while (rows.find()) {
            documented.add(rows.group(1));
        }
        Set<String> bound = new TreeSet<>();
        registry.getMeters().stream().map(Meter::getId).forEach(id -> bound.add(id.getName()));
        assertEquals(bound, documented);
    }
}
