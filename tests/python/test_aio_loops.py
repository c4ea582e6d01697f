"""Event loops: several of them, closed ones, the loop of a parent process, and no loop."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import select
import subprocess
import sys
import threading
import warnings
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
import trio

import loops
import redlatch
from eventually import until_true
from forks import in_a_fork
from loops import Loop
from redlatch import Client, aio
from redlatch.aio import AsyncClient
from redlatch.aio.loops import here
from servers import Server
from view import View


def test_a_loop_hears_at_once_that_a_task_of_another_loop_has_handed_a_lock_on(server: Server, name: str) -> None:
    asked, got = threading.Event(), threading.Event()

    async def waits(client: AsyncClient) -> None:
        taking = asyncio.create_task(client.lock(name).lock())
        await asyncio.sleep(0)
        asked.set()
        hold = await taking
        got.set()
        await hold.release()

    async def hands_on(client: AsyncClient, pool: ThreadPoolExecutor) -> None:
        for _ in range(30):
            asked.clear()
            got.clear()
            hold = await client.lock(name).lock()
            waiting = pool.submit(asyncio.run, waits(client))
            await asyncio.to_thread(asked.wait)
            # The answer resumes this task beside others: what it does to other loops must not wait for them.
            assert await client.lock(name).is_locked()
            await hold.release()
            assert got.wait(10), "the other loop has not heard of it while this one stands still"
            await asyncio.wrap_future(waiting)

    async def main() -> None:
        with ThreadPoolExecutor() as pool:
            async with aio.connect(f"{server.url}?turn=60") as client:
                await hands_on(client, pool)

    asyncio.run(main())


def test_loops_in_several_threads_share_a_client(every_loop: Loop, aio_client: AsyncClient, name: str) -> None:
    inside: list[int] = []

    async def work() -> int:
        for _ in range(30):
            async with aio_client.get_lock(name):
                inside.append(1)
                assert sum(inside) == 1
                await asyncio.sleep(0)
                inside.pop()
        return 30

    async def works() -> list[int]:
        return await asyncio.gather(*(work() for _ in range(5)))

    with ThreadPoolExecutor(4) as pool:
        assert [sum(ended) for ended in pool.map(lambda _: loops.run(works(), every_loop), range(4))] == [150] * 4


def test_a_client_goes_on_in_the_next_loop(every_loop: Loop, aio_client: AsyncClient, name: str) -> None:
    holds = [loops.run(aio_client.get_lock(f"{name}:{i}").lock(), every_loop) for i in range(3)]
    assert len({hold.owner for hold in holds}) == 3
    for hold in holds:
        hold.ensure()
        loops.run(hold.release(), every_loop)


@pytest.mark.parametrize("kept", [False, True], ids=["dropped task", "kept task"])
def test_a_call_that_waits_in_a_closed_loop_leaves_nothing(
    every_loop: Loop, aio_client: AsyncClient, client: Client, view: View, name: str, kept: bool
) -> None:
    def in_line() -> object:
        return view("LLEN", f"redisson_lock_queue:{{{name}}}")

    async def wait_for_line() -> None:
        while in_line() != 1:
            await asyncio.sleep(0.005)

    with client.get_fair_lock(name):
        task = close_under(every_loop, aio_client.get_fair_lock(name).lock(), wait_for_line())
        if not kept:
            del task
        gc.collect()
        until_true(lambda: in_line() == 0, "an empty line")
    until_true(lambda: not client.get_fair_lock(name).is_locked(), "a lock that is free")


@pytest.mark.parametrize("kept", [False, True], ids=["dropped task", "kept task"])
def test_a_lock_that_arrives_at_a_closed_loop_is_released(
    every_loop: Loop, aio_client: AsyncClient, client: Client, name: str, kept: bool
) -> None:
    async def a_little() -> None:
        for _ in range(random.randrange(6)):
            await asyncio.sleep(0)

    tasks = []
    for _ in range(100):
        task = close_under(every_loop, aio_client.get_lock(name).lock(), a_little())
        if task.done():
            loops.run(task.result().release(), every_loop)
        if kept:
            tasks.append(task)
        del task
        gc.collect()
        until_true(lambda: not client.get_lock(name).is_locked(), "a lock that is free")


def close_under(make: Loop, call: Any, until: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
    """Begins a call in a loop, closes the loop while the call runs, and returns the task."""
    loop = make()
    task: asyncio.Task[Any] = loop.create_task(call)
    # Python would report the destroyed task, which the tests destroy on purpose.
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.run_until_complete(until)
    loop.close()
    return task


def test_a_callback_of_a_closed_loop_is_not_called(aio_client: AsyncClient, view: View, name: str) -> None:
    told: list[object] = []

    async def hold() -> aio.Hold:
        hold = await aio_client.get_lock(name).lock()
        hold.on_lost(lambda *loss: told.append(loss))
        return hold

    held = loops.run(hold())
    view("DEL", name)
    until_true(lambda: held.lost, "a loss")
    assert told == []


async def test_a_closed_client_ends_the_waits_of_tasks(server: Server, client: Client, name: str) -> None:
    mine = aio.connect(server.url)
    with client.get_lock(name, owner=1):
        waiting = asyncio.create_task(mine.get_lock(name).lock())
        latch = mine.get_count_down_latch(f"{name}:latch")
        await latch.try_set_count(1)
        counting = asyncio.create_task(latch.wait())
        await asyncio.sleep(0.01)
        await mine.close()
        for task in (waiting, counting):
            with pytest.raises(redlatch.ClosedError):
                await task
    for call in (mine.ping, mine.get_lock(name).lock, mine.get_lock(name).is_locked, latch.get_count):
        with pytest.raises(redlatch.ClosedError):
            await call()
    await mine.close()


def test_without_a_loop_a_call_raises_an_error_that_names_the_loop(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    for call in (lock.lock, lock.is_locked, lock.unlock, aio_client.ping, aio_client.get_lock(name, owner=1).lock):
        coroutine = call()
        with pytest.raises(redlatch.UnsupportedError, match="needs a running event loop of asyncio"):
            coroutine.send(None)


def test_under_trio_a_call_raises_an_error_that_names_asyncio(aio_client: AsyncClient, view: View, name: str) -> None:
    async def main() -> None:
        async with aio_client.get_lock(name):
            pass

    with pytest.raises(redlatch.UnsupportedError, match="trio has no support yet"):
        trio.run(main)
    with pytest.raises(redlatch.UnsupportedError, match="trio has no support yet"):
        anyio.run(main, backend="trio")
    anyio.run(main, backend="asyncio")
    assert view("EXISTS", name) == 0


def test_cancel_scopes_of_anyio_leave_nothing(aio_client: AsyncClient, client: Client, name: str) -> None:
    async def main() -> None:
        with client.get_lock(name, owner=1):
            with anyio.move_on_after(0.02) as scope:
                await aio_client.get_lock(name).lock()
            assert scope.cancelled_caught
        async with anyio.create_task_group() as group:
            group.start_soon(aio_client.get_lock(name).lock)
            group.cancel_scope.cancel()

    anyio.run(main)
    until_true(lambda: not client.get_lock(name).is_locked(), "a lock that is free")


def test_a_loop_that_cannot_wait_for_a_descriptor_is_refused(aio_client: AsyncClient) -> None:
    class Blind(asyncio.SelectorEventLoop):
        def add_reader(self, *_: Any) -> None:  # type: ignore[override]
            raise NotImplementedError

    with pytest.raises(redlatch.UnsupportedError, match="a Blind cannot wait for a file descriptor"):
        loops.run(aio_client.ping(), Blind)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_has_loops_of_its_own(aio_client: AsyncClient, client: Client, name: str) -> None:
    loop = asyncio.new_event_loop()
    hold = loop.run_until_complete(aio_client.get_lock(name).lock())
    waiting = loop.create_task(aio_client.get_lock(name, owner=1).lock())
    loop.run_until_complete(asyncio.sleep(0.01))

    async def in_the_child() -> str:
        told = [str(await aio_client.get_lock(name).try_lock())]
        for call in (hold.release, hold.wait_lost):
            with pytest.raises(redlatch.NotHeldError):
                await call()
        async with aio_client.get_lock(f"{name}:child") as own:
            own.ensure()
            told.append(str(await aio_client.get_lock(f"{name}:child").hold_count()))
        return " ".join(told)

    def child() -> str:
        with pytest.raises(redlatch.UnsupportedError, match="belongs to the process that forked this one"):
            loop.run_until_complete(aio_client.ping())
        return loops.run(in_the_child())

    assert in_a_fork(child) == "None 1"
    hold.ensure()
    loop.run_until_complete(hold.release())
    loop.run_until_complete(loop.run_until_complete(waiting).release())
    loop.close()
    assert not client.get_lock(name).is_locked()


def test_the_end_of_the_program_releases_the_holds_of_tasks(server: Server, client: Client, name: str) -> None:
    program = (
        "import asyncio, sys, redlatch.aio\n"
        "async def main():\n"
        "    await redlatch.aio.connect(sys.argv[1]).get_lock(sys.argv[2]).lock()\n"
        "asyncio.run(main())"
    )
    subprocess.run([sys.executable, "-c", program, server.url, name], timeout=60, check=True)
    assert not client.get_lock(name).is_locked()


def test_loops_come_and_go_without_descriptors_left(aio_client: AsyncClient) -> None:
    loops.run(aio_client.ping())
    before = len(os.listdir("/proc/self/fd"))
    threads = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            loops.run(aio_client.ping())
        gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
    assert threading.active_count() == threads


async def test_a_release_ends_whose_answer_comes_while_python_collects_garbage(
    every_loop: Loop, aio_client: AsyncClient, name: str
) -> None:
    mailbox = here()

    def empty(phase: str, _: object) -> None:
        # As code in a finalizer might, which runs a loop within the loop.
        if phase == "start" and select.select([mailbox.fileno()], [], [], 0.05)[0]:
            mailbox.empty()

    hold = await aio_client.get_lock(name).lock()
    usual = gc.get_threshold()
    gc.callbacks.append(empty)
    gc.set_threshold(1)
    try:
        await asyncio.wait_for(hold.release(), 20)
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(empty)
    assert not await aio_client.get_lock(name).is_locked()
