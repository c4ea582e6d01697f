"""One run: warm-up, rounds and curves, their figures, and the peers that broke or cannot do a row."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from harness.curves import Curve, drawn
from harness.machine import CPUS
from harness.peers import JVMS, KNOWN
from harness.program import LAUNCHERS, Broken, Cannot
from harness.row import Row, among
from harness.table import Window
from harness.window import FREE, TWO_CPUS, Bench, Figures

Measure = Callable[[Bench, str, str, float], Figures]


class Session:
    def __init__(self, bench: Bench, scale: float) -> None:
        self.bench, self.scale = bench, scale
        self.windows: list[Window] = []
        self.points: list[dict[str, Any]] = []
        self.broken: dict[tuple[str, str], str] = {}
        self.cannot: set[tuple[str, str]] = set()

    def warm_up(self, rows: list[Row], seconds: float) -> None:
        """Lets every JVM do the work that is measured later."""
        chosen = {row.key for row in rows}
        for row in (row for row in rows if row.warm * seconds and row.warmed_by not in chosen):
            for peer in (peer for peer in present(row.peers) if peer in JVMS):
                say(f"warming {peer} for {seconds * row.warm:.0f} s: {row.title}")
                mode = FREE if FREE in row.modes else row.modes[-1]
                self._attempt(row.key, peer, row.measure, mode, seconds * row.warm)

    def round(self, rows: list[Row], number: int) -> None:
        for row in (row for row in rows if row.rounds is None or number < row.rounds):
            say(f"round {number + 1}: {row.key}")
            turns = [(row, mode) for mode in row.modes]
            turns += [(among(row, KNOWN), mode) for mode in row.once if number == 0]
            for some, mode in turns:
                if mode == TWO_CPUS and len(CPUS) < 2:
                    continue
                # The first peer of one round is the last of the next.
                self._measure(some, mode, number, present(some.peers)[:: 1 - number % 2 * 2])

    def _measure(self, row: Row, mode: str, number: int, peers: list[str]) -> None:
        seconds = row.seconds * (1 if row.together else self.scale)
        with ThreadPoolExecutor(max(1, len(peers)) if row.together else 1) as hands:
            attempts = [hands.submit(self._attempt, row.key, peer, row.measure, mode, seconds) for peer in peers]
        for peer, attempt in zip(peers, attempts):
            if figures := attempt.result():
                self.windows.append({"row": row.key, "mode": mode, "round": number, "peer": peer, "figures": figures})

    def curves(self, curves: Iterable[Curve]) -> None:
        for curve in curves:
            say(f"{curve.title}: how many {curve.counted}")
            for peer, count in drawn(curve):
                self._point(curve, peer, count)

    def _point(self, curve: Curve, peer: str, count: int) -> None:
        def measure(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
            return curve.measure(bench, peer, mode, seconds, count)

        figures = self._attempt(curve.key, peer, measure, FREE, curve.seconds * self.scale) if present([peer]) else None
        if figures:
            self.points.append({"curve": curve.key, "peer": peer, "count": count, "figures": figures})

    def _attempt(self, key: str, peer: str, measure: Measure, mode: str, seconds: float) -> Figures | None:
        if (key, peer) in self.broken or (key, peer) in self.cannot:
            return None
        try:
            return measure(self.bench, peer, mode, seconds)
        except Broken as e:
            self.broken[key, peer] = str(e)
        except Cannot:
            self.cannot.add((key, peer))
        return None

    def result(self) -> dict[str, Any]:
        broken = [" ".join((*at, why)) for at, why in self.broken.items()]
        return {"windows": self.windows, "points": self.points, "broken": broken, "cannot": sorted(self.cannot)}


def present(peers: Iterable[str]) -> list[str]:
    """The peers whose launcher could be made here."""
    return [peer for peer in peers if (LAUNCHERS / peer).exists()]


def say(what: str) -> None:
    print(f"{time.strftime('%T')} {what}", file=sys.stderr, flush=True)
