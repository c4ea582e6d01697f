"""Waits of a thread or task for a lock that its own hold keeps. Such a wait never ends by itself."""

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

#: The place in the program where each hold was taken. Only Python's development mode (`python -X dev`) notes it.
_places: weakref.WeakKeyDictionary[Held, str] = weakref.WeakKeyDictionary()


def note_place(hold: Held) -> None:
    """Notes where a hold is taken."""
    _places[hold] = _shown(owners.outside(sys._getframe()))


def warn(lock: _redlatch.Object, caller: Caller) -> None:
    """Warns if `caller` waits for a lock that it holds itself."""
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
    """A block for one call of a decorated function. Entering it raises AlreadyHeldError in a call that has the lock."""
    return _OneCall(lock, function) if lock._owner is EACH else _NOTHING


class _OneCall:
    def __init__(self, lock: Lock | aio.Lock, function: Callable[..., Any]) -> None:
        self._lock = lock
        self._function = function
        self._wants = [(key, lock._is_shared()) for key in lock._keys()]
        self._open: weakref.ref[_OneCall] | None = None

    def __enter__(self) -> None:
        caller = owners.caller()
        # The exception of a signal handler may have kept a call from its `__exit__`. Its object is gone then, so it
        # blocks no later call.
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
        name = self._lock.name
        title = getattr(self._function, "__qualname__", repr(self._function))
        return AlreadyHeldError(
            f"`{name}` is held by a decorated call that this call of {title}() is inside of: it would wait for itself; "
            f"call the function without its lock there ({title}.__wrapped__)",
            name,
        )
