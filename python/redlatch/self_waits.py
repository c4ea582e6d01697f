"""Waits that cannot end by themselves: a thread or task that waits for a lock which its own hold keeps."""

from __future__ import annotations

import sys
import warnings
import weakref
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Final

from redlatch import owners
from redlatch.errors import AlreadyHeldError
from redlatch.owners import EACH, Caller

if TYPE_CHECKING:
    from types import FrameType

    from redlatch import _redlatch, aio
    from redlatch.held import Held
    from redlatch.locks import Lock

#: Where each hold was taken; only in Python's development mode (`python -X dev`).
_places: weakref.WeakKeyDictionary[Held, str] = weakref.WeakKeyDictionary()


def note_place(hold: Held) -> None:
    """Remembers where a hold is taken."""
    _places[hold] = _shown(owners.outside(sys._getframe()))


def warn(lock: _redlatch.Object, caller: Caller) -> None:
    """Warns if `caller`, which waits for the lock, holds it itself."""
    own = [owner for owner in lock._owners() if caller.took(owner)]
    if not own:
        return
    frame = caller.waits_at()
    taken = [f", taken at {place}" for hold, place in _places.items() if hold.owner in own and hold.remaining > 0]
    text = (
        f"`{lock.name}`: this {caller.kind} has waited 5 s at {_shown(frame)} for a lock that its own hold "
        f"keeps{''.join(taken)}; "
        "release that hold first, or pass it on instead of acquiring again"
    )
    if frame is None:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry)


def _shown(frame: FrameType | None) -> str:
    if frame is None:
        return "a place that is not known"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


_NOTHING: Final = nullcontext()


def one_call(lock: Lock | aio.Lock, function: Callable[..., Any]) -> AbstractContextManager[None]:
    """A block for one call of a decorated function. Raises AlreadyHeldError if it is inside one that has the lock."""
    return _OneCall(lock, function) if lock._owner is EACH else _NOTHING


class _OneCall:
    def __init__(self, lock: Lock | aio.Lock, function: Callable[..., Any]) -> None:
        self._lock = lock
        self._function = function
        self._wants = [(key, lock._is_shared()) for key in lock._keys()]
        self._open: weakref.ref[_OneCall] | None = None

    def __enter__(self) -> None:
        caller = owners.caller()
        # A signal's exception may have kept a call from its end: it lives no more then, and is in no other one's way.
        caller.calls[:] = [call for call in caller.calls if call() is not None]
        for call in caller.calls:
            other = call()
            if other is not None and other._excludes(self):
                raise self._nested()
        self._open = weakref.ref(self)
        caller.calls.append(self._open)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open = None

    def _excludes(self, other: _OneCall) -> bool:
        """Whether the other call would wait for this one."""
        if self._open is None:
            return False
        mine = dict(self._wants)
        return any(key in mine and not (is_shared and mine[key]) for key, is_shared in other._wants)

    def _nested(self) -> AlreadyHeldError:
        name, title = self._lock.name, getattr(self._function, "__qualname__", repr(self._function))
        return AlreadyHeldError(
            f"`{name}` is held by a decorated call that this call of {title}() is inside of: it would wait for itself; "
            f"call the function without its lock there ({title}.__wrapped__)",
            name,
        )
