"""Acquires that got nothing: a caller that releases all the same, in a `finally`, must not end what others took."""

from __future__ import annotations

import itertools
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from redlatch import aio
    from redlatch.locks import Lock

#: So many locks of one caller are remembered.
_MOST: Final = 16

_numbers = itertools.count()

#: The lock objects through which the caller's latest acquire got nothing, by their numbers. The caller is a context:
#: pools of threads that work for many requests have one for each, and so has each task.
_here: ContextVar[tuple[int, ...]] = ContextVar("redlatch_misses", default=())


def note(lock: Lock | aio.Lock) -> None:
    """The caller's latest acquire through this lock object got nothing."""
    if lock._missed is None:
        lock._missed = next(_numbers)
    _here.set((*_others(lock), lock._missed)[-_MOST:])


def forget(lock: Lock | aio.Lock) -> None:
    """The caller's latest acquire through this lock object got something."""
    if lock._missed in _here.get():
        _here.set(_others(lock))


def answered(lock: Lock | aio.Lock) -> bool:
    """Whether the caller's latest acquire got nothing; told once, as the next release may mean what others took."""
    missed = lock._missed in _here.get()
    forget(lock)
    return missed


def _others(lock: Lock | aio.Lock) -> tuple[int, ...]:
    return tuple(number for number in _here.get() if number != lock._missed)
