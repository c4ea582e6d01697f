"""Pictures for docs/performance.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

from harness.curves import CURVES, Curve
from harness.peers import ALL_OURS, FLOORS, OURS

OURS_COLOUR, FLOOR_COLOUR, OTHERS_COLOUR = "#c0392b", "#2c3e50", "#95a5a6"
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "redlatch",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def bars(path: Path, title: str, unit: str, figures: dict[str, float]) -> None:
    """One bar for each peer, the best first, on a scale that shows factors."""
    less_is_better = unit.endswith(("µs", "ms"))
    peers = sorted(figures, key=lambda peer: figures[peer], reverse=less_is_better)
    picture, axes = pyplot.subplots(figsize=(8, 0.24 * len(peers) + 0.9))
    axes.barh(peers, [figures[peer] for peer in peers], color=[colour(peer) for peer in peers])
    axes.set_xscale("log")
    axes.set_title(title, loc="left")
    axes.set_xlabel(f"{unit}, {'less' if less_is_better else 'more'} is better")
    for place, peer in enumerate(peers):
        axes.text(figures[peer], place, f" {figures[peer]:,.0f}", va="center", fontsize=8)
    save(picture, path)


def lines(path: Path, curve: Curve, points: list[dict[str, Any]]) -> None:
    picture, axes = pyplot.subplots(figsize=(8, 3.6))
    for peer in curve.peers:
        mine = [(p["count"], p["figures"]["rate"]) for p in points if p["peer"] == peer]
        if mine:
            axes.plot(*zip(*mine), marker="o", label=peer, linestyle="-" if peer in OURS else "--")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(curve.counts, [str(count) for count in curve.counts])
    axes.set_title(curve.title, loc="left")
    axes.set_xlabel(curve.counted)
    axes.set_ylabel("acquisitions/s")
    axes.legend(frameon=False)
    save(picture, path)


def curves(folder: Path, points: list[dict[str, Any]]) -> list[tuple[Curve, str]]:
    """A picture for each curve that was measured, with its name."""
    found = [(curve, [point for point in points if point["curve"] == curve.key]) for curve in CURVES]
    for curve, mine in found:
        if mine:
            lines(folder / f"curve-{curve.key}.svg", curve, mine)
    return [(curve, f"curve-{curve.key}.svg") for curve, mine in found if mine]


def colour(peer: str) -> str:
    return FLOOR_COLOUR if peer in FLOORS else OURS_COLOUR if peer in (*ALL_OURS, "java-fair") else OTHERS_COLOUR


def save(picture: Any, path: Path) -> None:
    picture.tight_layout()
    picture.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(picture)
