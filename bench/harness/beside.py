"""A peer and Redisson at one lock: what the peer costs those who are still with Redisson."""

from __future__ import annotations

from harness.rates import of_one, together
from harness.window import Bench, Figures

WORKERS, WAITERS = 16, 4


def beside(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """Four workers of Redisson contend for a lock with sixteen of the peer; the figures are Redisson's, but for one."""
    redisson, *more = bench.take("redisson", mode, 2)
    programs = more if peer == "redisson" else bench.take(peer, mode)
    tasks = [(redisson, {"workers": WAITERS, "hold": 0}), *((one, {"workers": WORKERS, "hold": 0}) for one in programs)]
    window, (theirs, peers) = together(bench.server(peer), tasks, mode, seconds, "crowd")
    rates = {"rate": sum(theirs["taken"]) / seconds, "other_rate": sum(peers["taken"]) / seconds}
    longest = {"longest": theirs["longest"][0] / 1e6}
    return {**rates, **of_one(theirs, seconds), **longest, "foreign": window.foreign}
