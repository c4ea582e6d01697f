"""Tables out of windows: medians over rounds, ratios within a round, and whether the aims are met."""

from __future__ import annotations

from statistics import median
from typing import Any

from harness.rows import Column, Row

Window = dict[str, Any]  # row, mode, round, peer, figures
MARKS = {True: "✓", False: "✗"}


def value(column: Column, peer: str, windows: list[Window]) -> float | None:
    """The median over the rounds in which there is a figure, and one to compare it with."""
    figures = {(w["round"], w["peer"]): w["figures"][column.figure] for w in windows}
    rounds = [r for r, p in figures if p == peer and (column.against is None or figures.get((r, column.against)))]
    by = {r: figures[r, column.against] if column.against else 1 for r in rounds}
    return median(figures[r, peer] / by[r] for r in rounds) if rounds else None


def cell(column: Column, peer: str, windows: list[Window]) -> str:
    found = value(column, peer, windows)
    if found is None:
        return "-"
    aim = column.aims.get(peer)
    # What is shown is what is judged.
    shown = f"{found:,.{column.digits}f}"
    return shown if aim is None else f"{shown} {MARKS[aim.met(round(found, column.digits))]} {aim.sign}{aim.bound:g}"


def table(row: Row, mode: str, windows: list[Window]) -> str:
    """One table as text; its caption tells how much others disturbed."""
    windows = [w for w in windows if (w["row"], w["mode"]) == (row.key, mode)]
    if not windows:
        return ""
    peers = [peer for peer in row.peers if any(w["peer"] == peer for w in windows)]
    lines = [["", *(column.title for column in row.columns)]]
    lines += [[peer, *(cell(column, peer, windows) for column in row.columns)] for peer in peers]
    widths = [max(map(len, column)) for column in zip(*lines)]
    texts = [line[0].ljust(widths[0]) + aligned(line[1:], widths[1:]) for line in lines]
    foreign = [w["figures"]["foreign"] for w in windows]
    rounds = len({w["round"] for w in windows})
    noise = f"others used {median(foreign):.2f} of a core, at most {max(foreign):.2f}"
    title = f"{row.title}{'; ' if mode else ''}{mode} ({rounds} round{'s' if rounds > 1 else ''}; {noise})"
    return "\n".join([title, *texts, ""])


def aligned(texts: list[str], widths: list[int]) -> str:
    return "".join(f"  {text:>{width}}" for text, width in zip(texts, widths))
