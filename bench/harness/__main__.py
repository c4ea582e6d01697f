"""Warms the JVMs, measures all rows in interleaved rounds, and prints their tables; figures never make it fail."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import time
from pathlib import Path

from harness import report, table
from harness.curves import CURVES
from harness.machine import CPUS
from harness.peers import ALL_OURS
from harness.row import among, glance
from harness.rows import ROWS
from harness.session import Session
from harness.window import Bench

RESULTS = Path(__file__).parents[1] / "results"


def main() -> int:
    options = arguments()
    rows = [among(row, options.peers) for row in ROWS if row.key in options.only]
    whole = rows == list(ROWS) and not options.quick
    if options.quick:
        rows = [glance(row) for row in rows if row.quick]
    begun, load = time.monotonic(), os.getloadavg()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers and programs end with it
    bench = Bench()
    session = Session(bench, options.scale)
    try:
        session.warm_up(rows, options.warm)
        for number in range(options.rounds):
            session.round(rows, number)
        if whole:
            session.curves(CURVES)
    finally:
        bench.close()
    tables = [table.text(row, mode, session.windows) for row in rows for mode in row.modes + row.once]
    print("\n" + "\n".join(filter(None, tables)))
    about = {"cpus": len(CPUS), "processor": processor(), "system": platform.platform(), "load_before": load}
    took = {"at": time.strftime("%F %T %Z"), "minutes": round((time.monotonic() - begun) / 60, 1)}
    result = {"options": vars(options), "machine": about, **took, **session.result()}
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / f"{'full' if whole else 'quick' if options.quick else 'part'}.json"
    out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    print("Medians over rounds; every ratio is taken within a round. ✓: the aim is met; ✗: it is missed.")
    print(f"All windows: {out}; it took {took['minutes']} minutes")
    if whole:
        report.write(result)
    for peer, why in session.broken.items():
        print(f"broken: {' '.join(peer)}: {why}")
    return 1 if any(peer in ALL_OURS for _, peer in session.broken) else 0


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def arguments() -> argparse.Namespace:
    keys, peers = [row.key for row in ROWS], sorted({peer for row in ROWS for peer in row.peers})
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warm", type=float, default=15, help="seconds for which JVMs are warmed")
    parser.add_argument("--scale", type=float, default=1, help="makes every window so many times as long")
    parser.add_argument("--quick", action="store_true", help="a first look: fewer rows and peers, cold JVMs")
    parser.add_argument("--only", type=lambda text: text.split(","), default=keys, help=f"some of {','.join(keys)}")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=peers, help=f"some of {','.join(peers)}")
    options = parser.parse_args()
    unknown = set(options.only) - set(keys)
    if unknown or options.rounds < 1:
        rows = ", ".join(keys)
        parser.error(f"no row `{unknown.pop()}`; take some of {rows}" if unknown else "take one round at least")
    if strangers := set(options.peers) - set(peers):
        parser.error(f"no peer `{strangers.pop()}`; take some of {', '.join(peers)}")
    if options.quick:
        options.rounds, options.scale = 1, options.scale / 4
    return options


if __name__ == "__main__":
    sys.exit(main())
