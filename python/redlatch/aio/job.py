"""Jobs that run once a period among all nodes, for tasks."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Coroutine
from typing import Any, Callable, ClassVar, TypeVar

import redlatch
from redlatch import calls, deferred
from redlatch.aio.hold import Hold
from redlatch.aio.locks import Lock
from redlatch.aio.loops import here, run, runs_here
from redlatch.decorating import check_function
from redlatch.durations import Seconds
from redlatch.errors import LockLostError, RedlatchError, UnsupportedError
from redlatch.job import BaseJob, JobRun, check_callable, loss_of
from redlatch.owners import EACH
from redlatch.typings import P, Self

T = TypeVar("T")


class JobLock(Lock):
    """The lock of a job. Each acquire is a run of its own."""

    _kind: ClassVar[str] = "token"

    def __new__(cls, client: redlatch.aio.AsyncClient, key: str, at_most: float) -> Self:
        return super().__new__(cls, client, key, 0, at_most, EACH)


class Job(BaseJob):
    """Work that a timer starts on every node, and that one of them does. Make it with `AsyncClient.job`.

    `run` runs the work if no other node does, and never waits for another node. The lock is renewed while the work
    runs, so the work may take longer than `at_most`; that is the time for which a node that died keeps the others from
    the job. The lock stays until `at_least` has passed since the run began, even if the work ends before, or fails.

    The lock is the token lock `job-lock:<env>:<name>`, as the Redis providers of ShedLock write it: the two exclude
    each other. Any task may run the job, and several objects may stand for the same one. A job whose work runs the
    same job again is skipped inside.

    Times are seconds or `timedelta`. A run may raise UnavailableError, RefusedError, ClosedError, and ConfigError for
    a name or time that cannot be used. The server need not hear of the end of a run: a warning is logged then, and the
    client goes on to free the lock. MySQL, MariaDB and ZooKeeper raise UnsupportedError. Cancelling leaves no lock
    behind.
    """

    _caller: ClassVar[str] = "task"

    _client: redlatch.aio.AsyncClient

    def __init__(
        self, client: redlatch.aio.AsyncClient, name: str, at_most: Seconds, at_least: Seconds, env: str
    ) -> None:
        super().__init__(name, at_most, at_least, env)
        self._client = client

    @property
    def hold(self) -> Hold:
        """The hold of the run in progress, for its work: `job.hold.ensure()`, `job.hold.on_lost(…)`.

        Raises NotHeldError where the job does not run. A task that the work starts has the run of its work.
        """
        hold: Hold = self._hold_here()
        return hold

    async def run(self, work: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs) -> JobRun[T]:
        """Awaits `work(*args, **kwargs)` if no other node runs the job, and returns the answer as `JobRun`.

        The work runs in a task of its own. If it loses the lock it is cancelled, and the answer is `lost`. An error of
        the work is raised here, after the end of the run. Cancelling cancels the work and waits for its end.

        Raises UnsupportedError for all but coroutine functions.
        """
        self._check_work(work)
        hold = await JobLock(self._client, self._key, self._at_most)._take(0, self._at_most, None)
        if hold is None:
            return self._skip()
        try:
            calls.answer(await hold._begin_renewal(here(), self._at_most), self._key)
        except LockLostError as error:
            # It was lost before the work began.
            return self._ended(hold, None, error)
        except BaseException:
            # A coroutine that is closed here cannot wait for the release.
            hold._release_soon()
            raise
        with self._running(hold):
            task = asyncio.get_running_loop().create_task(self._work(work, args, kwargs))
        stops = _Stops(hold, task)
        failure = None
        try:
            await stops.wait()
            letting_go = hold._begin_letting_go(self._at_least)
            if letting_go is not None:
                await letting_go
        except RedlatchError as error:
            failure = error
        except asyncio.CancelledError as error:
            # The client goes on with the end.
            stops.cancelled = error.args
        except BaseException:
            # The coroutine is closed, perhaps after its loop, so it cannot wait.
            hold._let_go_soon(self._at_least)
            self._count(loss_of(hold, None))
            if runs_here():
                task.cancel()
            raise
        return self._answer(hold, task, stops.cancelled, failure)

    def __call__(self, function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, JobRun[T]]]:
        """Decorates a coroutine function: each call is a run of the job, and returns its answer as `JobRun`.

        Raises UnsupportedError for all but coroutine functions.
        """
        check_function(self._name, function)
        self._check_work(function)

        @functools.wraps(function)
        async def running(*args: P.args, **kwargs: P.kwargs) -> JobRun[T]:
            return await self.run(function, *args, **kwargs)

        return running

    def _check_work(self, work: Callable[..., object]) -> None:
        check_callable(self._name, work)
        if not deferred.is_coroutine_function(work):
            raise UnsupportedError(
                f"the job `{self._name}` cannot run {work!r}, which is no coroutine function; give one, or for plain "
                "functions use a job of redlatch.connect",
                self._name,
            )

    async def _work(
        self, work: Callable[..., Coroutine[Any, Any, T]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> T:
        value = await work(*args, **kwargs)
        if deferred.stop_if_deferred(value):
            raise UnsupportedError(
                f"the job `{self._name}` cannot run {work!r}, whose body runs after the call; await it inside",
                self._name,
            )
        return value

    def _answer(
        self, hold: Hold, task: asyncio.Task[T], cancelled: tuple[Any, ...] | None, failure: RedlatchError | None
    ) -> JobRun[T]:
        """The answer of a run whose work and hold have ended. Raises the error of the work, or the cancellation."""
        raised = None if task.cancelled() else task.exception()
        if raised is not None:
            self._count_failed(hold, raised, failure)
            raise raised
        loss = loss_of(hold, failure)
        if cancelled is not None:
            self._count(loss)
            raise asyncio.CancelledError(*cancelled)
        if not task.cancelled():
            return self._ended(hold, task.result(), failure)
        self._count(loss)
        if loss is None:
            task.result()  # the work has cancelled itself
        return JobRun("lost", None, loss)

    def __repr__(self) -> str:
        return f"<redlatch.aio.Job {self.name!r} of {self._client!r}>"


class _Stops:
    """Stops the work of a run when the lock is lost, or its caller is cancelled."""

    def __init__(self, hold: Hold, task: asyncio.Task[Any]) -> None:
        self._hold = hold
        self._task = task
        #: The arguments of the cancellation of the caller; None: it was not cancelled.
        self.cancelled: tuple[Any, ...] | None = None

    async def wait(self) -> None:
        """Waits until the work has ended."""
        watching = run(self._hold, calls.WATCH)
        told = False
        try:
            while not self._task.done():
                waits: list[asyncio.Future[Any]] = [self._task] if told else [self._task, watching]
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError as error:
                    self.cancelled = error.args
                    self._task.cancel()
                    continue
                if watching.done() and not told:
                    told = True
                    if self._hold._loss(watching.claim()) is not None:
                        self._task.cancel()
        finally:
            watching.cancel()
