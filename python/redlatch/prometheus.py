"""The figures of a client for Prometheus. It needs prometheus-client: `pip install redlatch[prometheus]`.

prometheus_client.REGISTRY.register(redlatch.prometheus.collector(client))
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from redlatch.aio.client import AsyncClient
from redlatch.client import Client
from redlatch.figures import FIGURES, Figure, Source, source

__all__ = ["collector"]


def collector(client: Client | AsyncClient, *, name: str = "default") -> Collector:
    """Returns a collector of the figures of a client, each with the label `client`, whose value is `name`.

    Clients of one registry need names that differ. Collecting asks nothing of the server. The collector does not keep
    the client alive, and gives nothing once the client is gone. Raises ConfigError for what is no client or no name.
    """
    return _Figures(source(client, name), name)


class _Figures(Collector):
    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self._name = name

    def collect(self) -> Iterator[Metric]:
        now = self._source()
        if now is None:
            return
        for figure in FIGURES:
            labels = ["client"] if figure.label is None else ["client", figure.label]
            family = (GaugeMetricFamily if figure.kind == "gauge" else CounterMetricFamily)(
                prometheus_name(figure), figure.text, labels=labels
            )
            for label, value in figure.values(now).items():
                family.add_metric([self._name] if figure.label is None else [self._name, label], value)
            yield family

    def describe(self) -> list[Metric]:
        """The registry asks for no figures when the collector is registered: several clients share the names."""
        return []


def prometheus_name(figure: Figure) -> str:
    """The name of a figure in Prometheus, which adds `_total` to that of a counter."""
    seconds = "_seconds" if figure.unit == "s" else ""
    return f"redlatch_client_{figure.name.replace('.', '_')}{seconds}"
