"""The figures of a client for OpenTelemetry. It needs its API: `pip install redlatch[otel]`.

redlatch.otel.observe(client)
"""

from __future__ import annotations

import functools
import weakref
from typing import Callable

from opentelemetry.metrics import CallbackOptions, Meter, Observation, get_meter

from redlatch._redlatch import __version__
from redlatch.aio.client import AsyncClient
from redlatch.client import Client
from redlatch.figures import FIGURES, Figure, Source, source

__all__ = ["observe"]

#: The clients of each meter, by their names.
_sources: weakref.WeakKeyDictionary[Meter, list[tuple[str, Source]]] = weakref.WeakKeyDictionary()


def observe(client: Client | AsyncClient, *, name: str = "default", meter: Meter | None = None) -> None:
    """Has a meter observe the figures of a client, each with the attribute `client`, whose value is `name`.

    Clients of one meter need names that differ. `meter` is by default that of the global provider for `redlatch`.
    Observing asks nothing of the server. The meter does not keep the client alive, and observes nothing once the client
    is gone. Raises ConfigError for what is no client or no name.
    """
    seen = source(client, name)
    meter = _global_meter() if meter is None else meter
    if meter in _sources:
        _sources[meter].append((name, seen))
        return
    # A meter takes an instrument of one name once, so all clients of a meter share the instruments.
    _sources[meter] = sources = [(name, seen)]
    for figure in FIGURES:
        create = meter.create_observable_gauge if figure.kind == "gauge" else meter.create_observable_counter
        create(otel_name(figure), [_observations(figure, sources)], unit=figure.unit, description=figure.text)


@functools.cache
def _global_meter() -> Meter:
    """The meter of the global provider, also of one that the program sets later."""
    return get_meter("redlatch", __version__)


def _observations(figure: Figure, sources: list[tuple[str, Source]]) -> Callable[[CallbackOptions], list[Observation]]:
    def observations(options: CallbackOptions) -> list[Observation]:
        del options
        observed = []
        for name, figures in list(sources):
            now = figures()
            if now is None:
                continue
            for label, value in figure.values(now).items():
                attributes = {"client": name} if figure.label is None else {"client": name, figure.label: label}
                observed.append(Observation(value, attributes))
        return observed

    return observations


def otel_name(figure: Figure) -> str:
    """The name of a figure in OpenTelemetry."""
    return f"redlatch.client.{figure.name}"
