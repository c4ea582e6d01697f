"""The two façades behind one interface: a test that has a face runs with threads and with tasks of asyncio."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Callable, Optional

import redlatch
from redlatch import aio

if TYPE_CHECKING:
    from typing_extensions import Self

#: How long a call of a test may take, in seconds.
PATIENCE = 40


Job = Optional[tuple[Callable[[], Any], "Future[Any]"]]


class Caller:
    """One thread or one task: an owner of locks that makes one call after the other, inside its open blocks as well."""

    def _put(self, job: Job) -> None:
        """Adds a job to the queue; None: the innermost block ends."""
        raise NotImplementedError

    def _block(self, lock: Any, entered: Future[Any]) -> Any:
        """Does further jobs in a block under the lock."""
        raise NotImplementedError

    def _again(self, call: Callable[[], Any], count: int) -> Any:
        raise NotImplementedError

    def again(self, call: Callable[[], Any], count: int) -> list[tuple[Any, float]]:
        """Makes a call so often, each right after the other, and gives each result and the seconds that it took."""
        results: list[tuple[Any, float]] = self(lambda: self._again(call, count))
        return results

    def begin(self, call: Callable[[], Any]) -> Future[Any]:
        """Begins a call of a blocking function or a coroutine function."""
        answer: Future[Any] = Future()
        self._put((call, answer))
        return answer

    def __call__(self, call: Callable[[], Any]) -> Any:
        return self.begin(call).result(PATIENCE)

    @contextmanager
    def inside(self, lock: Any) -> Iterator[Any]:
        """Has the caller inside a block under the lock, and gives the hold. Raises what the block raises."""
        entered: Future[Any] = Future()
        block = self.begin(lambda: self._block(lock, entered))
        block.add_done_callback(lambda block: None if entered.done() else entered.set_exception(block.exception()))
        hold = entered.result(PATIENCE)
        try:
            yield hold
        finally:
            self._put(None)
            block.result(PATIENCE)


class Thread(Caller):
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def end(self) -> None:
        self._put(None)
        self._thread.join()

    def _put(self, job: Job) -> None:
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, answer = job
            try:
                answer.set_result(call())
            except Exception as error:
                answer.set_exception(error)

    def _block(self, lock: Any, entered: Future[Any]) -> None:
        with lock as hold:
            entered.set_result(hold)
            self._work()

    def _again(self, call: Callable[[], Any], count: int) -> list[tuple[Any, float]]:
        results = []
        for _ in range(count):
            begun = time.monotonic()
            results.append((call(), time.monotonic() - begun))
        return results


class Task(Caller):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        self._task = self._loop.create_task(self._work())

    def _put(self, job: Job) -> None:
        self._loop.call_soon_threadsafe(lambda: self._jobs.put_nowait(job))

    async def _work(self) -> None:
        while (job := await self._jobs.get()) is not None:
            call, answer = job
            try:
                result = call()
                answer.set_result(await result if inspect.isawaitable(result) else result)
            except Exception as error:
                answer.set_exception(error)

    async def _block(self, lock: Any, entered: Future[Any]) -> None:
        async with lock as hold:
            entered.set_result(hold)
            await self._work()

    async def _again(self, call: Callable[[], Any], count: int) -> list[tuple[Any, float]]:
        results = []
        for _ in range(count):
            begun = time.monotonic()
            results.append((await call(), time.monotonic() - begun))
        return results


class Face:
    """A façade, its clients, and callers that are threads or tasks. The end of its block closes the clients."""

    def __init__(self) -> None:
        self._clients: list[Any] = []
        self._end = ExitStack()

    def caller(self) -> Caller:
        raise NotImplementedError

    def _connect(self, url: str, **options: Any) -> Any:
        raise NotImplementedError

    def client(self, url: str, **options: Any) -> Any:
        client = self._connect(url, **options)
        self._clients.append(client)
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._end:
            closer = self.caller()
            for client in self._clients:
                closer(client.close)


class Threads(Face):
    def caller(self) -> Caller:
        thread = Thread()
        self._end.callback(thread.end)
        return thread

    def _connect(self, url: str, **options: Any) -> Any:
        return redlatch.connect(url, **options)


class Tasks(Face):
    """All tasks are in one loop, which runs in a thread of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._run)
        thread.start()
        self._end.callback(thread.join)
        self._end.callback(self._loop.call_soon_threadsafe, self._loop.stop)

    def _run(self) -> None:
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def caller(self) -> Caller:
        return Task(self._loop)

    def _connect(self, url: str, **options: Any) -> Any:
        return aio.connect(url, **options)


FACES: dict[str, Callable[[], Face]] = {
    "threads": Threads,
    "asyncio": Tasks,
}
