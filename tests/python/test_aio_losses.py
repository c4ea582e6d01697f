"""Tasks learn that their holds were lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import redlatch
from redlatch import Client, aio
from redlatch.aio import AsyncClient
from view import View

pytestmark = pytest.mark.usefixtures("every_loop")


async def test_a_function_is_called_in_the_loop(aio_client: AsyncClient, view: View, name: str) -> None:
    told: asyncio.Queue[Any] = asyncio.Queue()
    hold = await aio_client.get_lock(name).lock()
    hold.on_lost(lambda *loss: told.put_nowait((*loss, asyncio.get_running_loop())))
    view("DEL", name)
    lost, loss, loop = await asyncio.wait_for(told.get(), 20)
    assert lost is hold
    assert loop is asyncio.get_running_loop()
    assert isinstance(loss, redlatch.LockLostError)
    assert (loss.reason, hold.lost_reason) == ("deleted", "deleted")
    with pytest.raises(redlatch.LockLostError):
        await hold.release()


async def test_a_coroutine_function_runs_as_a_task(aio_client: AsyncClient, view: View, name: str) -> None:
    told = asyncio.Event()

    async def tell(hold: aio.Hold, error: redlatch.LockLostError) -> None:
        await asyncio.sleep(0)
        told.set()

    hold = await aio_client.get_lock(name).lock()
    view("DEL", name)
    assert await hold.wait_lost(20)
    hold.on_lost(tell)  # the hold is lost already
    await asyncio.wait_for(told.wait(), 20)


async def test_a_callback_may_cancel_its_task_at_a_loss(aio_client: AsyncClient, view: View, name: str) -> None:
    async def work() -> None:
        async with aio_client.get_lock(name) as hold:
            this = asyncio.current_task()
            assert this is not None
            hold.on_lost(lambda *_: this.cancel())
            view("DEL", name)
            await asyncio.sleep(60)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_a_release_calls_no_callback(aio_client: AsyncClient, name: str) -> None:
    told: list[object] = []
    hold = await aio_client.get_lock(name).lock()
    hold.on_lost(lambda *loss: told.append(loss))
    waiting = asyncio.create_task(hold.wait_lost())
    await asyncio.sleep(0)
    await hold.release()
    assert not await waiting
    assert not await hold.wait_lost()
    assert told == []
    assert not hold.lost


async def test_a_wait_for_a_loss_ends_in_time_or_cancelled(aio_client: AsyncClient, name: str) -> None:
    async with aio_client.get_lock(name) as hold:
        assert not await hold.wait_lost(0)
        assert not await hold.wait_lost(0.02)
        waiting = asyncio.create_task(hold.wait_lost())
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        hold.ensure()


async def test_an_error_of_a_callback_goes_to_the_loop(aio_client: AsyncClient, view: View, name: str) -> None:
    raised: asyncio.Queue[Any] = asyncio.Queue()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: raised.put_nowait(context["exception"]))
    hold = await aio_client.get_lock(name).lock()

    def fail(*_: object) -> None:
        raise KeyError("mine")

    hold.on_lost(fail)
    view("DEL", name)
    assert isinstance(await asyncio.wait_for(raised.get(), 20), KeyError)

    def generator(*_: object) -> Iterator[None]:
        yield

    with pytest.raises(redlatch.UnsupportedError, match="give a plain function"):
        hold.on_lost(generator)
    with pytest.raises(redlatch.ConfigError, match="is 5; give a function"):
        hold.on_lost(5)  # type: ignore[arg-type]


async def test_a_loss_has_the_same_reason_for_a_task(aio_client: AsyncClient, client: Client, name: str) -> None:
    hold = await aio_client.get_lock(name).lock(lease=0.05)
    assert await hold.wait_lost(20)
    assert hold.lost_reason == "expired"
    taken = await aio_client.get_lock(name).lock()
    client.get_lock(name).force_unlock()
    client.get_lock(name, owner=1).lock()
    assert await taken.wait_lost(20)
    assert taken.lost_reason in ("deleted", "taken over")
