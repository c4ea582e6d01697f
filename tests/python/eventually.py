"""Waiting for what must come about."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

T = TypeVar("T")


def until(look: Callable[[], T | None], what: str, *, within: float = 15) -> T:
    """Returns the first answer of `look` that is not None, or fails when there is none `within` seconds."""
    end = time.monotonic() + within
    while (answer := look()) is None:
        assert time.monotonic() < end, f"waited {within} s in vain for {what}"
        time.sleep(0.005)
    return answer


def until_true(look: Callable[[], bool], what: str, *, within: float = 15) -> None:
    """Returns once `look` answers True."""
    until(lambda: look() or None, what, within=within)
