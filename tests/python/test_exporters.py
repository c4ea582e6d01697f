"""The figures of a client in Prometheus and OpenTelemetry, by their real libraries."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, generate_latest

import redlatch
from redlatch import Client, aio, otel, prometheus
from redlatch.figures import FIGURES
from servers import Server

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def lose(client: Client, other: Client, name: str) -> None:
    """Has the client hold one lock, lose one and miss one."""
    hold = client.lock(f"{name}:lost").lock()
    other.lock(f"{name}:lost").force_unlock()
    assert hold.wait_lost(30)
    with other.lock(f"{name}:taken"):
        assert client.lock(f"{name}:taken").try_lock() is None


def scraped(registry: CollectorRegistry) -> dict[str, float]:
    lines = generate_latest(registry).decode().splitlines()
    return {key: float(value) for key, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_prometheus_gets_the_figures_of_now(client: Client, stranger: Client, name: str) -> None:
    registry = CollectorRegistry()
    registry.register(prometheus.collector(client, name="orders"))
    lose(client, stranger, name)
    with client.lock(name):
        now = scraped(registry)
    assert now['redlatch_client_holds{client="orders"}'] == 1
    assert now['redlatch_client_waiters{client="orders"}'] == 0
    assert now['redlatch_client_acquires_total{client="orders",outcome="acquired"}'] == 2
    assert now['redlatch_client_acquires_total{client="orders",outcome="not acquired"}'] == 1
    assert now['redlatch_client_losses_total{client="orders",reason="deleted"}'] == 1
    assert now['redlatch_client_losses_total{client="orders",reason="expired"}'] == 0
    assert now['redlatch_client_wait_seconds_total{client="orders"}'] > 0
    assert now['redlatch_client_hold_seconds_total{client="orders"}'] > 0
    assert scraped(registry)['redlatch_client_releases_total{client="orders"}'] == 1


def test_clients_of_one_registry_are_told_apart(client: Client, aio_client: aio.Client) -> None:
    registry = CollectorRegistry()
    registry.register(prometheus.collector(client, name="a"))
    registry.register(prometheus.collector(aio_client, name="b"))
    assert {'redlatch_client_holds{client="a"}', 'redlatch_client_holds{client="b"}'} < set(scraped(registry))


def observed(reader: InMemoryMetricReader) -> dict[tuple[str, ...], float]:
    data: Any = reader.get_metrics_data()
    if data is None:
        return {}
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    return {
        (metric.name, *map(str, point.attributes.values())): point.value
        for metric in metrics
        for point in metric.data.data_points
    }


def test_opentelemetry_gets_the_figures_of_now(client: Client, stranger: Client, name: str) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    otel.observe(client, name="orders", meter=provider.get_meter("of a test"))
    lose(client, stranger, name)
    with client.lock(name):
        now = observed(reader)
    assert now["redlatch.client.holds", "orders"] == 1
    assert now["redlatch.client.acquires", "orders", "acquired"] == 2
    assert now["redlatch.client.acquires", "orders", "not acquired"] == 1
    assert now["redlatch.client.losses", "orders", "deleted"] == 1
    assert now["redlatch.client.wait", "orders"] > 0
    assert observed(reader)["redlatch.client.releases", "orders"] == 1
    provider.shutdown()


def test_a_meter_and_a_registry_observe_several_clients_and_keep_none_alive(server: Server) -> None:
    registry, reader = CollectorRegistry(), InMemoryMetricReader()
    provider = MeterProvider([reader])
    clients: dict[str, Client | aio.Client] = {"a": redlatch.connect(server.url), "b": aio.connect(server.url)}
    meter = provider.get_meter("of a test")
    for name, client in clients.items():
        registry.register(prometheus.collector(client, name=name))
        otel.observe(client, name=name, meter=meter)
    assert scraped(registry)
    assert {("redlatch.client.holds", "a"), ("redlatch.client.holds", "b")} < set(observed(reader))
    clients.clear()
    del client
    gc.collect()
    assert (scraped(registry), observed(reader)) == ({}, {})
    provider.shutdown()


def test_the_global_provider_may_be_absent(client: Client) -> None:
    otel.observe(client)


@pytest.mark.parametrize("wrong", [None, "redis://localhost", object(), redlatch.Client])
def test_what_is_no_client_or_no_name_is_refused(client: Client, wrong: Any) -> None:
    for export in (prometheus.collector, otel.observe):
        with pytest.raises(redlatch.ConfigError, match="give a client of redlatch"):
            export(wrong)
        with pytest.raises(redlatch.ConfigError, match="name of a client in metrics"):
            export(client, name=5)  # type: ignore[arg-type]


def test_the_page_names_each_metric_in_both() -> None:
    table = PAGE.read_text().partition("## Of a client for Prometheus and OpenTelemetry\n")[2].partition("\n## ")[0]
    names = set(re.findall(r"`(redlatch[._]client[._][\w.]+)`", table))
    assert names == {otel.otel_name(figure) for figure in FIGURES} | {
        prometheus.prometheus_name(figure) + ("_total" if figure.kind == "counter" else "") for figure in FIGURES
    }
