"""A worker of the demo: counts one sale in a plain file for every line that it reads, under the lock."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import redlatch
from redlatch import Lock, RedLock


def say(event: str, at: int) -> None:
    print(event, at, flush=True)


def find(urls: list[str], name: str, watchdog: float) -> Lock | RedLock:
    """The lock of one URL, or of a majority of several."""
    if len(urls) == 1:
        return redlatch.connect(urls[0], watchdog=watchdog).get_lock(name)
    return redlatch.red_lock(urls, name, watchdog=watchdog)


def main(urls: str, name: str, file: str, lease: str) -> None:
    stock, lock = Path(file), find(urls.split(), name, float(lease))
    say("ready", time.monotonic_ns())
    for order in sys.stdin:
        say("waits", time.monotonic_ns())
        with lock:
            say("holds", time.monotonic_ns())
            sold = int(stock.read_text())
            if order.strip() == "hang":
                say("hangs", time.monotonic_ns())
                time.sleep(3600)
            time.sleep(0.001)
            stock.write_text(str(sold + 1))
            end = time.monotonic_ns()
        say("frees", end)
        time.sleep(random.uniform(0, 0.004))


if __name__ == "__main__":
    main(*sys.argv[1:])
