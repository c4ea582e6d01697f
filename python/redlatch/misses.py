"""Acquires that got nothing: a caller that releases all the same, in a `finally`, must not end what others took."""

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

#: The lock objects that have a number, as long as they live.
_objects: Final[weakref.WeakValueDictionary[int, Lock | aio.Lock]] = weakref.WeakValueDictionary()

#: Of each lock object through which the latest acquire of a caller got nothing, by its number: the latest hold then.
Misses = Mapping[int, int]

#: The misses of this context: pools of threads that work for many requests have one for each. What the caller of a
#: coroutine missed is kept with that task instead, as the coroutine may run in the context of another one.
_here: ContextVar[Misses] = ContextVar("redlatch_misses")

NONE: Final[Misses] = MappingProxyType({})


def note(lock: Lock | aio.Lock, caller: Caller | None = None) -> None:
    """The latest acquire of that caller, or of this context, through this lock object got nothing."""
    # Of threads that miss at once the first one gives the number.
    number = lock.__dict__.setdefault("_missed", next(_numbers))
    _objects[number] = lock
    others = {each: latest for each, latest in _get(caller).items() if each in _objects}
    _set({**others, number: _redlatch.latest_serial()}, caller)


def forget(lock: Lock | aio.Lock, caller: Caller | None = None) -> None:
    """The latest acquire of that caller, or of this context, through this lock object got something."""
    misses = _get(caller)
    if lock._missed in misses:
        _set({each: latest for each, latest in misses.items() if each != lock._missed}, caller)


def answered(lock: Lock | aio.Lock, caller: Caller | None = None) -> int | None:
    """The serial number of the latest hold when the latest acquire got nothing; None: it got something.

    It is told once, as the next release may mean what others took.
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
