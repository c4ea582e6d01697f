"""A program loses no lock while one call of it keeps the GIL."""

from __future__ import annotations

import ctypes

import redlatch
from servers import Server


def keep_the_gil(seconds: int) -> None:
    """Makes one call of so many seconds that keeps the GIL: no other Python code runs meanwhile."""
    ctypes.PyDLL(None).sleep(seconds)


def test_a_hold_is_renewed_while_one_call_keeps_the_gil(server: Server, name: str) -> None:
    # A renewal has two seconds more than it needs: the machine may do other things.
    lease = 3
    with (
        redlatch.connect(server.url, watchdog=lease) as client,
        redlatch.connect(server.url) as stranger,
        client.get_lock(name) as hold,
    ):
        keep_the_gil(2 * lease)
        hold.ensure()
        assert stranger.get_lock(name).try_lock() is None
