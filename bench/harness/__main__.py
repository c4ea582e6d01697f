"""Warms the JVMs, measures all rows in interleaved rounds, and prints their tables; figures never make it fail."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time

from harness.machine import CPUS
from harness.measure import TWO_CPUS, Bench
from harness.program import LAUNCHERS, Broken
from harness.rows import JVMS, ROWS, Row
from harness.table import Window, table

RESULT = LAUNCHERS / "result.json"


class Session:
    """What was measured so far, and what broke meanwhile."""

    def __init__(self, bench: Bench, scale: float) -> None:
        self.bench, self.scale = bench, scale
        self.windows: list[Window] = []
        self.broken: dict[tuple[str, str], str] = {}

    def run(self, row: Row, peer: str, mode: str, number: int) -> None:
        figures = self.attempt(row, peer, mode, row.seconds * self.scale)
        if figures:
            self.windows.append({"row": row.key, "mode": mode, "round": number, "peer": peer, "figures": figures})

    def attempt(self, row: Row, peer: str, mode: str, seconds: float) -> dict[str, float] | None:
        if (row.key, peer) in self.broken:
            return None
        try:
            return row.measure(self.bench, peer, mode, seconds)
        except Broken as e:
            self.broken[row.key, peer] = str(e)
            return None


def main() -> int:
    options = arguments()
    rows = [row for row in ROWS if row.key in options.only]
    load = os.getloadavg()
    bench = Bench()
    session = Session(bench, options.scale)
    try:
        warm_up(session, rows, options.warm)
        for number in range(options.rounds):
            measure_round(session, rows, number)
    finally:
        bench.close()
    for row in (row for row in rows if row.once):
        say(row.title)
        for peer in present(row):
            session.run(row, peer, row.modes[0], 0)
    tables = [table(row, mode, session.windows) for row in rows for mode in row.modes]
    print("\n" + "\n".join(filter(None, tables)))
    about = {"load_before": load, "cpus": len(CPUS), "system": platform.platform(), "at": time.strftime("%F %T %Z")}
    broken = [" ".join((*at, why)) for at, why in session.broken.items()]
    result = {"options": vars(options), "machine": about, "windows": session.windows, "broken": broken}
    RESULT.write_text(json.dumps(result, indent=1))
    print("Medians over rounds; every ratio is taken within a round. ✓: the aim is met; ✗: it is missed.")
    print(f"All windows: {RESULT}")
    for line in broken:
        print(f"broken: {line}")
    return 1 if broken else 0


def warm_up(session: Session, rows: list[Row], seconds: float) -> None:
    """Lets every JVM do what it will be measured at."""
    for row in (row for row in rows if row.warm and not row.once):
        for peer in (peer for peer in present(row) if peer in JVMS):
            say(f"warming {peer} for {seconds * row.warm:.0f} s: {row.title}")
            session.attempt(row, peer, "", seconds * row.warm)


def measure_round(session: Session, rows: list[Row], number: int) -> None:
    say(f"round {number + 1}")
    for row in (row for row in rows if not row.once):
        for mode in row.modes:
            if mode == TWO_CPUS and len(CPUS) < 2:
                continue
            # Whoever comes first in one round comes last in the next.
            for peer in present(row)[:: 1 - number % 2 * 2]:
                session.run(row, peer, mode, number)


def present(row: Row) -> list[str]:
    """Without virtual threads where no JDK has them."""
    return [peer for peer in row.peers if (LAUNCHERS / peer).exists()]


def say(what: str) -> None:
    print(f"{time.strftime('%T')} {what}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    keys = [row.key for row in ROWS]
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm", type=float, default=45, help="seconds for which JVMs are warmed")
    parser.add_argument("--scale", type=float, default=1, help="makes every window so many times as long")
    parser.add_argument("--only", type=lambda text: text.split(","), default=keys, help=f"some of {','.join(keys)}")
    options = parser.parse_args()
    unknown = set(options.only) - set(keys)
    if unknown or options.rounds < 1:
        rows = ", ".join(keys)
        parser.error(f"no row `{unknown.pop()}`; take some of {rows}" if unknown else "take one round at least")
    return options


if __name__ == "__main__":
    sys.exit(main())
