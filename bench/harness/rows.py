"""The rows: who takes part, which figures are shown, and what they are to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from harness import measure
from harness.measure import FREE, ONE_CPU, TWO_CPUS, Bench, Figures

JVMS = {"java", "java-virtual", "redisson"}


@dataclass(frozen=True)
class Aim:
    sign: str
    bound: float

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "≤" else value >= self.bound


def at_most(bound: float) -> Aim:
    return Aim("≤", bound)


def at_least(bound: float) -> Aim:
    return Aim("≥", bound)


@dataclass(frozen=True)
class Column:
    title: str
    figure: str
    digits: int = 0
    against: str | None = None  # the peer of the same round that the figure is divided by
    aims: dict[str, Aim] = field(default_factory=dict)


def ours(aim: Aim) -> dict[str, Aim]:
    return dict.fromkeys(("rust", "java"), aim)


@dataclass(frozen=True)
class Row:
    key: str
    title: str
    peers: tuple[str, ...]
    measure: Callable[[Bench, str, str, float], Figures]
    columns: tuple[Column, ...]
    modes: tuple[str, ...] = (FREE,)
    seconds: float = 1
    warm: float = 1 / 3  # of the time for which JVMs are warmed
    once: bool = False  # measured once, not in every round, by processes of its own


P50, P99 = Column("p50 µs", "p50", 1), Column("p99 µs", "p99", 1)
RATE = Column("acquisitions/s", "rate")
SHARED = (
    Column("longest wait ms", "longest", 1),
    Column("server CPU µs", "server_cpu", 1),
    Column("client CPU µs", "cpu", 1),
)
CPU_RATIO = Column("CPU / Redisson", "cpu", 3, "redisson", ours(at_most(0.1)))
PEERS = ("rust", "java", "redisson")

ROWS = (
    Row(
        "solo",
        "lock + unlock, nobody else asks",
        (
            "floor",
            "rust",
            "rust-async",
            "python",
            "asyncio",
            "java",
            "java-virtual",
            "redisson",
            "redis-py",
            "redis-asyncio",
        ),
        measure.solo,
        (
            P50,
            P99,
            Column(
                "p50 / floor",
                "p50",
                2,
                "floor",
                {
                    "rust": at_most(1.1),
                    "python": at_most(1.25),
                    "java": at_most(1.25),
                    "rust-async": at_most(1.6),
                    "asyncio": at_most(2.5),
                    "java-virtual": at_most(2),
                },
            ),
            Column("client CPU µs", "cpu", 1),
            Column("script calls", "scripts", 2),
        ),
        (ONE_CPU, TWO_CPUS),
    ),
    Row(
        "crowd",
        "one lock, 16 workers in one process",
        PEERS,
        measure.crowd,
        (
            RATE,
            Column("/ Redisson", "rate", 1, "redisson", ours(at_least(4))),
            *SHARED,
            CPU_RATIO,
            Column("script calls", "scripts", 2),
            Column("commands", "commands", 2, None, ours(at_most(1.1))),
            Column("min/max share", "share", 2, None, ours(at_least(0.9))),
        ),
        seconds=2,
    ),
    Row(
        "tasks",
        "100 tasks of asyncio, own lock each, in one process",
        ("asyncio", "redis-asyncio"),
        measure.tasks,
        (
            Column("pairs/s", "rate"),
            Column("/ redis-asyncio", "rate", 1, "redis-asyncio", {"asyncio": at_least(8)}),
            P50,
            P99,
            Column("server CPU µs", "server_cpu", 1),
            Column("client CPU µs", "cpu", 1),
            Column("script calls", "scripts", 2),
        ),
        seconds=2,
    ),
    Row(
        "processes",
        "one lock, 4 processes with 4 workers each",
        PEERS,
        measure.processes,
        (
            RATE,
            Column("/ Redisson", "rate", 1, "redisson", ours(at_least(3))),
            *SHARED,
            Column("CPU / Redisson", "cpu", 3, "redisson"),
            Column("script calls", "scripts", 2),
            Column("commands", "commands", 2, None, ours(at_most(1.5))),
            Column("min/max share", "share", 2, None, ours(at_least(0.5))),
        ),
        seconds=2,
        warm=1,
    ),
    Row(
        "handover",
        "hand-over from one process to another that waits",
        ("floor", *PEERS),
        measure.handover,
        (
            P50,
            P99,
            Column("p50 / floor", "p50", 2, "floor", ours(at_most(1.6))),
            Column("p99 / floor", "p99", 2, "floor", ours(at_most(3))),
            Column("client CPU µs", "cpu", 1),
            Column("commands", "commands", 2),
        ),
        (ONE_CPU, TWO_CPUS),
        seconds=2,
    ),
    Row(
        "renewal",
        "10,000 renewed locks, lease 9 s, for 30 s",
        ("rust", "redisson"),
        measure.renewal,
        (
            Column("client CPU % of a core", "cpu_percent", 2, None, {"rust": at_most(0.3)}),
            Column("/ Redisson", "cpu_percent", 2, "redisson"),
            Column("RSS MiB", "rss", 1, None, {"rust": at_most(20)}),
            Column("growth MiB", "growth", 1),
            Column("threads", "threads"),
            Column("new threads", "new_threads", 0, None, {"rust": at_most(0)}),
            Column("names/s", "names"),
            Column("most names in 100 ms", "burst"),
            Column("lost", "lost", 0, None, {"rust": at_most(0)}),
        ),
        seconds=30,
        warm=0,
        once=True,
    ),
)
