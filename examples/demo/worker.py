"""A worker of the demo: counts one sale in a plain file for every line that it reads, under the lock."""

import random
import sys
import time
from pathlib import Path

import redlatch


def say(event: str, at: int) -> None:
    print(event, at, flush=True)


def main(url: str, name: str, file: str, lease: str) -> None:
    stock = Path(file)
    with redlatch.connect(url, watchdog=float(lease)) as client:
        lock = client.get_lock(name)
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
