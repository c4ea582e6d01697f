"""Tables out of windows: medians over rounds, ratios within a round, and whether the aims are met."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from harness.row import Column, Row

Window = dict[str, Any]  # row, mode, round, peer, figures
MARKS = {True: "✓", False: "✗"}


def value(column: Column, peer: str, windows: list[Window]) -> float | None:
    """The median over the rounds in which there is a figure, and one to compare it with."""
    figures = {(w["round"], w["peer"]): w["figures"].get(column.figure) for w in windows}
    against = column.against
    if isinstance(against, Mapping):
        if peer not in against:
            return None
        against = against[peer]
    rounds = [r for r, p in figures if p == peer and figures[r, p] is not None]
    rounds = [r for r in rounds if against is None or figures.get((r, against))]
    by = {r: figures[r, against] if against else 1 for r in rounds}
    return median(figures[r, peer] / by[r] for r in rounds) if rounds else None


def cell(column: Column, peer: str, windows: list[Window]) -> str:
    found = value(column, peer, windows)
    if found is None:
        return "-"
    aim = column.aims.get(peer)
    # The rounded figure is judged, as it is shown.
    shown = f"{found:,.{column.digits}f}"
    return shown if aim is None else f"{shown} {MARKS[aim.met(round(found, column.digits))]} {aim.sign}{aim.bound:g}"


def lines(row: Row, windows: list[Window]) -> list[list[str]]:
    """A heading, and a line for each peer that has figures; a column without any figure is left out."""
    peers = [peer for peer in row.peers if any(w["peer"] == peer for w in windows)]
    columns = [column for column in row.columns if any(value(column, peer, windows) is not None for peer in peers)]
    return [["", *(column.title for column in columns)]] + [
        [peer, *(cell(column, peer, windows) for column in columns)] for peer in peers
    ]


def caption(windows: list[Window]) -> str:
    """How often the row was measured, and how much other processes disturbed."""
    foreign = [w["figures"]["foreign"] for w in windows if "foreign" in w["figures"]]
    rounds = len({w["round"] for w in windows})
    noise = f"; other processes used {median(foreign):.2f} of a core, at most {max(foreign):.2f}" if foreign else ""
    return f"{rounds} round{'s' if rounds > 1 else ''}{noise}"


def text(row: Row, mode: str, windows: list[Window]) -> str:
    """One table for a terminal."""
    windows = [w for w in windows if (w["row"], w["mode"]) == (row.key, mode)]
    if not windows:
        return ""
    cells = lines(row, windows)
    widths = [max(map(len, column)) for column in zip(*cells)]
    texts = [line[0].ljust(widths[0]) + aligned(line[1:], widths[1:]) for line in cells]
    return "\n".join([f"{row.title}{'; ' if mode else ''}{mode} ({caption(windows)})", *texts, ""])


def aligned(texts: list[str], widths: list[int]) -> str:
    return "".join(f"  {text:>{width}}" for text, width in zip(texts, widths))
