"""Coroutine functions that know which task called them, also if another task awaits the coroutine."""

from __future__ import annotations

import asyncio
import functools
from types import FunctionType, MethodType
from typing import Any, Callable

from redlatch import tasks
from redlatch.owners import EACH
from redlatch.tasks import ThisTask


def tell_caller(of: type, function: Callable[..., Any], body: Callable[..., Any]) -> None:
    """Makes calls of a method run `body`, with the calling task as `_calling`, None where no task runs.

    `asyncio.wait_for` (until Python 3.12), `create_task`, `gather` and `shield` await a coroutine in a new task, which
    ends with it. An acquire or a release in such a task counts for the task that called.
    """
    # Two methods may have the same body under their own names.
    assert isinstance(body, FunctionType)
    named = FunctionType(body.__code__, body.__globals__, argdefs=body.__defaults__, closure=body.__closure__)
    named.__kwdefaults__ = body.__kwdefaults__
    setattr(of, function.__name__, _ToldCaller(function, functools.update_wrapper(named, function)))


# `inspect` and `asyncio` of all versions take a partial of a coroutine function for a coroutine function.
class _ToldCaller(functools.partial[Any]):
    _body: Callable[..., Any]

    def __new__(cls, function: Callable[..., Any], body: Callable[..., Any]) -> _ToldCaller:
        told = super().__new__(cls, function)
        functools.update_wrapper(told, function)
        told._body = body
        return told

    def __get__(self, lock: Any, of: type | None = None) -> Any:
        # The owner of any other lock than these is known without its caller.
        return self if lock is None else MethodType(self if lock._owner is EACH else self._body, lock)

    def __call__(self, lock: object, /, *args: Any, **kwargs: Any) -> Any:
        return self._body(lock, *args, _calling=_calling(), **kwargs)


def _calling() -> ThisTask | None:
    event_loop = asyncio._get_running_loop()
    return tasks.current(event_loop) if event_loop is not None else None
