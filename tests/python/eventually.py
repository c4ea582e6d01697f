"""Waits for events that must happen, with a limit."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

T = TypeVar("T")


def until(look: Callable[[], T | None], what: str, *, within: float = 15) -> T:
    """Returns the first answer of `look` that is not None. Fails if `look` gives none `within` seconds."""
    end = time.monotonic() + within
    while (answer := look()) is None:
        assert time.monotonic() < end, f"waited {within} s in vain for {what}"
        time.sleep(0.005)
    return answer


def until_true(look: Callable[[], bool], what: str, *, within: float = 15) -> None:
    """Returns as soon as `look` answers True. Fails if it does not `within` seconds."""
    until(lambda: look() or None, what, within=within)
