"""A program that keeps the interpreter to itself loses no lock by it."""

from __future__ import annotations

import time

import redlatch
from servers import Server


def keep_the_gil(seconds: float) -> None:
    """One call of at least so many seconds, during which no other Python code runs."""
    numbers, took = 10_000_000, 0.0
    while took < seconds:
        began = time.monotonic()
        sum(range(numbers))
        took = time.monotonic() - began
        numbers *= 2


def test_a_hold_is_renewed_while_one_call_keeps_the_gil(server: Server, name: str) -> None:
    lease = 1
    with (
        redlatch.connect(server.url, watchdog=lease) as client,
        redlatch.connect(server.url) as stranger,
        client.get_lock(name) as hold,
    ):
        keep_the_gil(2 * lease)
        hold.ensure()
        assert stranger.get_lock(name).try_lock() is None
