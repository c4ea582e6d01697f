"""The end of an `async with` block ends the hold that the block began with: whichever task it comes from, lost or not,
and whatever other blocks of the same lock object are open. What `test_blocks.py` has of threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Callable

import pytest

import redlatch
from redlatch.aio import AsyncClient, Hold, Lock
from table_of_blocks import EXCLUSIVE, KINDS, Case, cases, held, owners, rows
from view import View


class Block:
    """A block that begins in one task."""

    hold: Hold

    async def begin(self, lock: Lock) -> None: ...

    async def end(self) -> None: ...


class Generator(Block):
    """The `async with` statement of a generator."""

    async def begin(self, lock: Lock) -> None:
        self._steps = self._body(lock)
        self.hold = await self._steps.__anext__()

    async def end(self) -> None:
        async for _ in self._steps:
            pass

    async def _body(self, lock: Lock) -> AsyncIterator[Hold]:
        async with lock as hold:
            yield hold


class Manager(Block):
    """The `async with` statement of a context manager that a stack ends, as of a dependency of FastAPI."""

    async def begin(self, lock: Lock) -> None:
        self._stack = AsyncExitStack()
        self.hold = await self._stack.enter_async_context(self._body(lock))

    async def end(self) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def _body(self, lock: Lock) -> AsyncIterator[Hold]:
        async with lock as hold:
            yield hold


class Stack(Block):
    """No statement: a stack begins and ends it."""

    async def begin(self, lock: Lock) -> None:
        self._stack = AsyncExitStack()
        self.hold = await self._stack.enter_async_context(lock)

    async def end(self) -> None:
        await self._stack.aclose()


class Function(Block):
    """The `async with` statement of a coroutine function, which one task runs from its beginning to its end."""

    def __init__(self, task: Task) -> None:
        self._task = task

    async def begin(self, lock: Lock) -> None:
        entered: asyncio.Future[Hold] = asyncio.get_running_loop().create_future()
        self._done = self._task.start(self._body(lock, entered))
        self.hold = await entered

    async def end(self) -> None:
        self._task.stop()
        await self._done

    async def _body(self, lock: Lock, entered: asyncio.Future[Hold]) -> None:
        async with lock as hold:
            entered.set_result(hold)
            await self._task.work()


WAYS: dict[str, Callable[[], Block]] = {"generator": Generator, "manager": Manager, "stack": Stack}


class Task:
    """A task that does what it is told, also while a block of its own is open."""

    def __init__(self) -> None:
        self._tasks: asyncio.Queue[tuple[asyncio.Future[Any], Coroutine[Any, Any, Any]] | None] = asyncio.Queue()
        self._task = asyncio.create_task(self.work())

    async def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await self.start(work)

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._tasks.put_nowait((done, work))
        return done

    def stop(self) -> None:
        """Ends the innermost `work`."""
        self._tasks.put_nowait(None)

    async def work(self) -> None:
        while (task := await self._tasks.get()) is not None:
            done, work = task
            try:
                done.set_result(await work)
            except redlatch.RedlatchError as error:
                done.set_exception(error)


async def raised(work: Coroutine[Any, Any, Any]) -> type[BaseException] | None:
    try:
        await work
    except redlatch.RedlatchError as error:
        return type(error)
    return None


@pytest.mark.parametrize(("kind", "way", "elsewhere"), rows(["function", *WAYS]))
async def test_a_block_ends_the_hold_that_it_began_with(
    aio_client: AsyncClient, client: redlatch.Client, view: View, name: str, kind: str, way: str, elsewhere: bool
) -> None:
    lock, names = KINDS[kind](aio_client, name)
    theirs, _ = KINDS[kind](client, name)
    row = Row(aio_client, view, lock, names, theirs)
    for case in cases(kind, way):
        here, there = Task(), Task()
        await row.check(case, kind, way, here, there if elsewhere else here)
        here.stop()
        there.stop()


class Row:
    """One row of the table, carried out."""

    def __init__(self, client: AsyncClient, view: View, lock: Any, names: list[str], theirs: Any) -> None:
        self._client, self._view, self._lock, self._names, self._theirs = client, view, lock, names, theirs

    async def check(self, case: Case, kind: str, way: str, here: Task, there: Task) -> None:
        block: Block = Function(here) if way == "function" else WAYS[way]()
        other = WAYS[case.other]() if case.other is not None else None
        others_task = there if case.there else here
        other_is_lost = case.other_is_lost and kind in EXCLUSIVE
        if other is not None and case.before:
            await others_task.do(other.begin(self._lock))
            if other_is_lost:
                await self._lose(other.hold)
        await (block.begin(self._lock) if way == "function" else here.do(block.begin(self._lock)))
        if case.lost:
            await self._lose(block.hold)
        if other is not None and not case.before:
            await others_task.do(other.begin(self._lock))

        told = await raised(block.end() if way == "function" else there.do(block.end()))
        if way == "stack" and kind == "read" and here is not there and not case.lost:
            # Readers may be many, and nothing says which of them a stack means.
            assert told is redlatch.NotHeldError, case
            block.hold.ensure()
            await block.hold.release()
        else:
            assert told is (redlatch.LockLostError if case.lost else None), case
        assert block.hold.remaining == 0, case
        if other is None:
            assert self._held() == {}, case
            return
        if not other_is_lost:
            other.hold.ensure()
        assert self._held() == owners(*([] if other_is_lost else [other.hold])), case
        told = await raised(others_task.do(other.end()))
        assert told is (redlatch.LockLostError if other_is_lost else None), case
        assert self._held() == {}, case

    async def _lose(self, hold: Hold) -> None:
        self._theirs.force_unlock()
        assert await hold.wait_lost(20)

    def _held(self) -> dict[str, int]:
        return held(self._view, self._names, self._client.id)
