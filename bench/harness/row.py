"""A row: its peers, its figures, and their aims."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Callable

from harness.peers import KNOWN
from harness.window import FREE, Bench, Figures


@dataclass(frozen=True)
class Aim:
    sign: str
    bound: float

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "≤" else value >= self.bound


@dataclass(frozen=True)
class Column:
    title: str
    figure: str
    digits: int = 0
    # The peer of the same round that the figure is divided by, or that of each peer.
    against: str | Mapping[str, str] | None = None
    aims: dict[str, Aim] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    key: str
    title: str
    peers: tuple[str, ...]
    measure: Callable[[Bench, str, str, float], Figures]
    columns: tuple[Column, ...]
    modes: tuple[str, ...] = (FREE,)
    once: tuple[str, ...] = ()  # further modes, in the first round and for the best-known peers only
    seconds: float = 1
    warm: float = 1 / 9  # of the time for which JVMs are warmed
    warmed_by: str | None = None  # a row that does the same, with the same programs
    rounds: int | None = None  # at most so many
    together: bool = (
        False  # all peers at a time, each at a server of its own: it is their CPU that counts, and they need little
    )
    quick: bool = True  # whether it is for a first look too
    plot: str | None = None  # the figure that is drawn; less is better where it is a time


def among(row: Row, peers: Container[str]) -> Row:
    """The row with no others than these."""
    return replace(row, peers=tuple(peer for peer in row.peers if peer in peers))


def glance(row: Row) -> Row:
    """The row of a first look: the best-known peers, and no JVM warmed."""
    return replace(among(row, KNOWN), warm=0)


def each(peers: tuple[str, ...], sign: str, bound: float) -> dict[str, Aim]:
    return dict.fromkeys(peers, Aim(sign, bound))


def at_most(**bounds: float) -> dict[str, Aim]:
    """`rust=1.1, java_virtual=2`"""
    return {peer.replace("_", "-"): Aim("≤", bound) for peer, bound in bounds.items()}


def at_least(**bounds: float) -> dict[str, Aim]:
    return {peer.replace("_", "-"): Aim("≥", bound) for peer, bound in bounds.items()}
