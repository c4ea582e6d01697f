"""A loss cancels the block of a task, and the block raises the loss."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import pytest

import redlatch
from loops import Loop
from redlatch import aio

FOR_EVER = 3600


async def test_a_loss_cancels_the_block_which_raises_it(every_loop: Loop, aio_client: aio.Client, name: str) -> None:
    del every_loop
    inside = []
    with pytest.raises(redlatch.LockLostError) as lost:
        async with aio_client.lock(name) as hold, hold.cancelling() as same:
            assert same is hold
            await aio_client.lock(name).force_unlock()
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                inside.append("cancelled")
                raise
    assert inside == ["cancelled"]
    assert lost.value.reason == "deleted"
    await asyncio.sleep(0)  # the task itself is not cancelled any more
    if sys.version_info >= (3, 11):
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


async def test_a_lease_that_ends_cancels_too(aio_client: aio.Client, name: str) -> None:
    with pytest.raises(redlatch.LockLostError) as lost:
        async with aio_client.lock(name, lease=0.2) as hold, hold.cancelling():
            await asyncio.sleep(FOR_EVER)
    assert lost.value.reason == "expired"


async def test_the_end_of_a_block_without_a_loss_changes_nothing(aio_client: aio.Client, name: str) -> None:
    async with aio_client.lock(name) as hold, hold.cancelling():
        await asyncio.sleep(0)
    assert not await aio_client.lock(name).is_locked()
    with pytest.raises(ValueError, match="of the body"):
        async with aio_client.lock(name) as hold, hold.cancelling():
            raise ValueError("of the body")
    assert not await aio_client.lock(name).is_locked()


async def test_the_end_of_a_block_leaves_no_callback_that_fails(
    every_loop: Loop, aio_client: aio.Client, name: str
) -> None:
    del every_loop
    told: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: told.append(context))
    async with aio_client.lock(name) as hold, hold.cancelling():
        pass
    hold = await aio_client.lock(name).lock()
    with pytest.raises(redlatch.LockLostError):
        async with hold.cancelling():
            await aio_client.lock(name).force_unlock()
            await asyncio.sleep(FOR_EVER)
    assert not await aio_client.lock(name).is_locked()  # the loop has run its callbacks by then
    assert told == []


async def test_a_loss_after_the_block_cancels_nothing(aio_client: aio.Client, name: str) -> None:
    hold = await aio_client.lock(name).lock()
    async with hold.cancelling():
        pass
    await aio_client.lock(name).force_unlock()
    assert await hold.wait_lost(30)
    await asyncio.sleep(0)


async def test_a_release_inside_cancels_nothing(aio_client: aio.Client, name: str) -> None:
    hold = await aio_client.lock(name).lock()
    async with hold.cancelling():
        await hold.release()
        assert not await hold.wait_lost(30)


async def test_an_error_that_answers_the_cancellation_is_raised(aio_client: aio.Client, name: str) -> None:
    with pytest.raises(ValueError, match="cleanup failed"):
        async with aio_client.lock(name) as hold, hold.cancelling():
            await aio_client.lock(name).force_unlock()
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                raise ValueError("cleanup failed") from None


async def test_a_body_that_swallows_the_cancellation_meets_the_loss_at_the_end(
    aio_client: aio.Client, name: str
) -> None:
    hold = await aio_client.lock(name).lock()
    with pytest.raises(redlatch.LockLostError):
        async with hold.cancelling():
            await aio_client.lock(name).force_unlock()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(FOR_EVER)


async def test_a_cancellation_by_another_task_stays_one(aio_client: aio.Client, name: str) -> None:
    entered = asyncio.Event()

    async def work() -> None:
        async with aio_client.lock(name) as hold, hold.cancelling():
            entered.set()
            await asyncio.sleep(FOR_EVER)

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await aio_client.lock(name).is_locked()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 a task does not count its cancellations")
async def test_a_cancellation_beside_a_loss_ends_the_task_as_cancelled(aio_client: aio.Client, name: str) -> None:
    entered = asyncio.Event()

    async def work() -> None:
        async with aio_client.lock(name) as hold, hold.cancelling():
            entered.set()
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.sleep(FOR_EVER)

    task = asyncio.create_task(work())
    await entered.wait()
    await aio_client.lock(name).force_unlock()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_hold_that_has_ended_begins_no_block(aio_client: aio.Client, name: str) -> None:
    hold = await aio_client.lock(name).lock()
    await aio_client.lock(name).force_unlock()
    assert await hold.wait_lost(30)
    with pytest.raises(redlatch.LockLostError):
        async with hold.cancelling():
            pytest.fail("the block began without the lock")
    released = await aio_client.lock(name).lock()
    await released.release()
    with pytest.raises(redlatch.NotHeldError):
        async with released.cancelling():
            pytest.fail("the block began without the lock")


async def test_one_object_serves_one_block(aio_client: aio.Client, name: str) -> None:
    async with aio_client.lock(name) as hold:
        once = hold.cancelling()
        async with once:
            pass
        with pytest.raises(redlatch.UnsupportedError, match="begun before"):
            async with once:
                pytest.fail("the block began twice")


async def test_permits_and_leaders_have_such_blocks(aio_client: aio.Client, name: str) -> None:
    permits = aio_client.get_permit_expirable_semaphore(f"{name}:permits", permits=1)
    permit = await permits.acquire(renew=True)
    assert permit.hold is not None
    with pytest.raises(redlatch.LockLostError):
        async with permit.hold.cancelling():
            await permits.release(str(permit))
            await asyncio.sleep(FOR_EVER)
    with pytest.raises(redlatch.LockLostError):
        async with await aio_client.leader(f"{name}:leader").lead() as term, term.cancelling():
            await aio_client.get_fenced_lock(f"{name}:leader").force_unlock()
            await asyncio.sleep(FOR_EVER)
