"""Acquires that missed, which means that they ended without the lock.

Their caller may release nevertheless, in a `finally`. Such a release must not end a hold that another caller took.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from redlatch import _redlatch

if TYPE_CHECKING:
    from redlatch import aio
    from redlatch.locks import Lock
    from redlatch.owners import Caller

_numbers = itertools.count()

#: The lock objects with a number, while they live.
_objects: Final[weakref.WeakValueDictionary[int, Lock | aio.Lock]] = weakref.WeakValueDictionary()

#: The misses of one caller: by the number of the lock object, the serial number of the latest hold at that time.
Misses = Mapping[int, int]

#: The misses of this context. A pool of threads that works for many requests has one context for each request. The
#: misses of a task are in its `Caller` instead, because its coroutine may run in the context of another task.
_here: ContextVar[Misses] = ContextVar("redlatch_misses")

NONE: Final[Misses] = MappingProxyType({})


def note(lock: Lock | aio.Lock, caller: Caller | None = None) -> None:
    """Notes that the latest acquire through this lock object missed, by `caller`, None: in this context."""
    # If several threads miss at the same time, the number of the first one counts.
    number = lock.__dict__.setdefault("_missed", next(_numbers))
    _objects[number] = lock
    others = {each: latest for each, latest in _get(caller).items() if each in _objects}
    _set({**others, number: _redlatch.latest_serial()}, caller)


def forget(lock: Lock | aio.Lock, caller: Caller | None = None) -> None:
    """Notes that the latest acquire through this lock object got a hold, by `caller`, None: in this context."""
    misses = _get(caller)
    if lock._missed in misses:
        _set({each: latest for each, latest in misses.items() if each != lock._missed}, caller)


def answered(lock: Lock | aio.Lock, caller: Caller | None = None) -> int | None:
    """The serial number of the latest hold when the latest acquire missed; None: that acquire got a hold.

    This forgets the miss, because the caller's next release may mean the hold of another caller.
    """
    missed = _get(caller).get(lock._missed) if lock._missed is not None else None
    forget(lock, caller)
    return missed


def _get(caller: Caller | None) -> Misses:
    return _here.get(NONE) if caller is None else caller.misses or NONE


def _set(misses: Misses, caller: Caller | None) -> None:
    if caller is None:
        _here.set(misses)
    else:
        caller.misses = misses
