"""Callers beside `redlatch ls` at a server with very many other keys: an operator must not slow the programs down."""

from __future__ import annotations

import signal
import subprocess
from statistics import median

from harness.program import LAUNCHERS, LOG, Broken, Program
from harness.rates import pairs, together
from harness.server import Redis
from harness.window import PATIENCE, Bench, Figures, fresh

CALLERS, KEYS, TURNS = 64, 1_000_000, 12


class Listing:
    """A listing that finds nothing. It stands still but for the windows beside which it is to work."""

    def __init__(self, url: str) -> None:
        words = [str(LAUNCHERS / "redlatch"), "ls", "--url", url, "none:*"]
        with LOG.open("ab") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.works(False)

    def works(self, does: bool) -> None:
        self._process.send_signal(signal.SIGCONT if does else signal.SIGSTOP)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def listing(_: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """Each of many callers locks and unlocks a lock of its own, in turn alone and beside a listing."""
    server = Redis()
    program = Program(peer, server.url)
    beside: Listing | None = None
    alone: list[Figures] = []
    with_it: list[Figures] = []
    try:
        program.tell("first", name=fresh())
        program.hear(PATIENCE)
        server.ask(f"EVAL \"for key = 1, {KEYS} do redis.call('SET', 'other:' .. key, key) end return 1\" 0")
        beside = Listing(server.url)
        for number in range(2 * TURNS):
            # Each of the two is as often the first of its pair as the second.
            is_beside = number % 4 in (1, 2)
            beside.works(is_beside)
            window, (answer,) = together(server, [(program, {"callers": CALLERS})], mode, seconds, "own")
            beside.works(False)
            (with_it if is_beside else alone).append(pairs(window, answer, seconds))
        if beside.ended:
            raise Broken("the listing ended before the last window")
    finally:
        if beside:
            beside.close()
        program.close()
        server.close()

    def ratio(figure: str) -> float:
        return median([after[figure] / before[figure] for before, after in zip(alone, with_it)])

    names = ("p50", "p99", "rate")
    medians = {figure: median([window[figure] for window in with_it]) for figure in (*names, "foreign")}
    return medians | {f"{figure}_ratio": ratio(figure) for figure in names}
