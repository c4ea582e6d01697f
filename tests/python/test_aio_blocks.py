"""The end of an `async with` block ends the hold that the block began with.

That is so in every task, if the hold is lost or not, and with other open blocks of the same lock object.
`test_blocks.py` has the same tests for threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Callable

import pytest

import redlatch
from redlatch.aio import AsyncClient, Hold, Lock
from table_of_blocks import EXCLUSIVE, KINDS, BaseRow, Case, cases, rows
from view import View


class Block:
    """A block: one task begins it, and the same or another one ends it."""

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
    """A block without a statement: a stack begins and ends it."""

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
    """A task that carries out work, also while a block of its own is open."""

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


class Row(BaseRow):
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
            # A lock for readers may have many holds, and nothing tells which of them a stack means.
            assert told is redlatch.NotHeldError, case
            block.hold.ensure()
            await block.hold.release()
        else:
            self.check_told(case, told, case.lost)
        assert block.hold.remaining == 0, case
        if other is None:
            self.check_held(case)
        else:
            self.check_held(case, *([] if other_is_lost else [other.hold]))
            self.check_told(case, await raised(others_task.do(other.end())), other_is_lost)
            self.check_held(case)

    async def _lose(self, hold: Hold) -> None:
        self._theirs.force_unlock()
        assert await hold.wait_lost(20)
