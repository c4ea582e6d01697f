"""Cost as a number grows: how rates change with callers, workers and processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from harness import rates
from harness.window import Bench, Figures


@dataclass(frozen=True)
class Curve:
    key: str
    title: str
    counted: str
    counts: tuple[int, ...]
    peers: tuple[str, ...]
    measure: Callable[[Bench, str, str, float, int], Figures]
    seconds: float = 0.3


def own(bench: Bench, peer: str, mode: str, seconds: float, count: int) -> Figures:
    return rates.own(bench, peer, mode, seconds, callers=count)


def crowd(bench: Bench, peer: str, mode: str, seconds: float, count: int) -> Figures:
    return rates.crowd(bench, peer, mode, seconds, workers=count)


def processes(bench: Bench, peer: str, mode: str, seconds: float, count: int) -> Figures:
    return rates.crowd(bench, peer, mode, seconds, processes=count, workers=4)


PEERS = ("rust", "python", "java", "redisson")
CURVES = (
    Curve("own", "locks of their own", "callers", (1, 8, 64, 512), (*PEERS, "asyncio", "redis-asyncio"), own),
    Curve("crowd", "one lock", "workers in one process", (1, 2, 4, 16, 128), (*PEERS, "redis-py"), crowd),
    Curve("processes", "one lock", "processes with 4 workers each", (1, 2, 4, 8), PEERS, processes, seconds=0.6),
)


def drawn(curve: Curve) -> list[tuple[str, int]]:
    """Every point: the peer and the number."""
    return [(peer, count) for count in curve.counts for peer in curve.peers]
