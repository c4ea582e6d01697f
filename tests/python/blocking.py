"""Blocking calls of objects for asyncio: every call runs in one task of a loop, in a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Callable


class Loop:
    """The thread with the loop, and its one task."""

    def __init__(self) -> None:
        self._thread = threading.Thread(target=asyncio.run, args=[self._work()])
        self._started: Future[asyncio.Queue[tuple[Callable[[], Any], Future[Any]] | None]] = Future()
        self._thread.start()
        self._calls = self._started.result(20)

    def call(self, function: Callable[[], Any]) -> Any:
        """Calls a function in the task and returns its result, or the result of its coroutine."""
        done: Future[Any] = Future()
        self._loop.call_soon_threadsafe(self._calls.put_nowait, (function, done))
        return done.result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._calls.put_nowait, None)
        self._thread.join()

    async def _work(self) -> None:
        self._loop = asyncio.get_running_loop()
        calls: asyncio.Queue[tuple[Callable[[], Any], Future[Any]] | None] = asyncio.Queue()
        self._started.set_result(calls)
        while call := await calls.get():
            function, done = call
            try:
                result = function()
                done.set_result(await result if inspect.isawaitable(result) else result)
            except Exception as error:
                done.set_exception(error)


class Blocking:
    """An object of `redlatch.aio` whose methods block. The objects that they return are such objects, too."""

    def __init__(self, loop: Loop, of: Any) -> None:
        self._loop = loop
        self._of = of

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._of, name)
        return self._method(value) if inspect.isroutine(value) else self._wrapped(value)

    def __enter__(self) -> Any:
        return self._method(self._of.__aenter__)()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._method(self._of.__aexit__)(kind, error, at)

    def __next__(self) -> Any:
        return self._method(self._of.__anext__)()

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **given: Any) -> Any:
            bare = [arg._of if isinstance(arg, Blocking) else arg for arg in args]
            return self._wrapped(self._loop.call(lambda: method(*bare, **given)))

        return call

    def _wrapped(self, value: Any) -> Any:
        ours = type(value).__module__.startswith("redlatch") and not isinstance(value, str)
        return Blocking(self._loop, value) if ours else value
