"""Coroutine functions that are told which task calls them, also where another task awaits what they return."""

from __future__ import annotations

import asyncio
import functools
from types import MethodType
from typing import Any, Callable

from redlatch import tasks
from redlatch.tasks import ThisTask


def tell_caller(of: type, function: Callable[..., Any], body: Callable[..., Any]) -> None:
    """Has calls of a method run `body`, with the task that calls put before their arguments, None where none runs.

    `asyncio.wait_for` (until Python 3.12), `create_task`, `gather` and `shield` await a coroutine in a task of its own,
    which ends with it; what it acquires or misses, and releases, is for the task that called.
    """
    setattr(of, function.__name__, _ToldCaller(function, body))


# For `inspect` and `asyncio`, of all versions, a partial is a coroutine function if its function is one.
class _ToldCaller(functools.partial[Any]):
    _body: Callable[..., Any]

    def __new__(cls, function: Callable[..., Any], body: Callable[..., Any]) -> _ToldCaller:
        told = super().__new__(cls, function)
        functools.update_wrapper(told, function)
        told._body = body
        return told

    def __get__(self, lock: object, of: type | None = None) -> Any:
        return self if lock is None else MethodType(self, lock)

    def __call__(self, lock: object, /, *args: Any, **kwargs: Any) -> Any:
        return self._body(lock, _calling(), *args, **kwargs)


def _calling() -> ThisTask | None:
    event_loop = asyncio._get_running_loop()
    return tasks.current(event_loop) if event_loop is not None else None
