"""A callback of `on_lost` that remembers what it was told."""

from __future__ import annotations

import threading

from redlatch import Hold, LockLostError


class Told:
    """Remembers the calls, and lets a test wait for the first."""

    def __init__(self) -> None:
        self.calls: list[tuple[Hold, LockLostError]] = []
        self.threads: list[str] = []
        self._came = threading.Event()

    def __call__(self, hold: Hold, error: LockLostError) -> None:
        self.calls.append((hold, error))
        self.threads.append(threading.current_thread().name)
        self._came.set()

    def reason(self) -> str | None:
        """Waits for the first call and returns its reason; fails when none comes."""
        assert self._came.wait(20), "nobody told that the hold was lost"
        return self.calls[0][1].reason
