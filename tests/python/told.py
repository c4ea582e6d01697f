"""A callback of `on_lost` that records its calls."""

from __future__ import annotations

import threading

from redlatch import Hold, LockLostError


class Told:
    """Records the calls. A test can wait for the first one."""

    def __init__(self) -> None:
        self.calls: list[tuple[Hold, LockLostError]] = []
        self.threads: list[str] = []
        self._came = threading.Event()

    def __call__(self, hold: Hold, error: LockLostError) -> None:
        self.calls.append((hold, error))
        self.threads.append(threading.current_thread().name)
        self._came.set()

    def reason(self) -> str | None:
        """Waits for the first call and returns its reason. Fails if no call comes."""
        assert self._came.wait(20), "the callback was not called"
        return self.calls[0][1].reason
