"""Asking about an object of the server, and waiting for the answer in a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from redlatch import _redlatch
from redlatch.aio.loops import run
from redlatch.aio.tasks import this_task

if TYPE_CHECKING:
    from redlatch.asks import Ask

T = TypeVar("T")


async def asked(
    thing: _redlatch.Object,
    ask: Ask[T],
    numbers: Iterable[int] = (),
    *,
    owner: int | None = None,
    wait: float | None = 0,
    lease: float | None = None,
) -> T:
    """What the answer says; without `owner` the task asks."""
    asks = this_task().owner if owner is None else owner
    return ask.answer(await run(thing, ask.op, asks, (wait, lease), list(numbers)), thing.name)
