"""Asks the questions of `redlatch.queries` in a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from redlatch import _redlatch
from redlatch.aio.loops import run
from redlatch.aio.tasks import this_task

if TYPE_CHECKING:
    from redlatch.queries import Query

T = TypeVar("T")


async def run_query(
    thing: _redlatch.Object,
    query: Query[T],
    numbers: Iterable[int] = (),
    *,
    owner: int | None = None,
    wait: float | None = 0,
    lease: float | None = None,
) -> T:
    """Asks the server for `owner`, None: for the task that runs. Awaits and returns the answer."""
    if owner is None:
        owner = this_task().owner
    return query.answer(await run(thing, query.op, owner, (wait, lease), list(numbers)), thing.name)
