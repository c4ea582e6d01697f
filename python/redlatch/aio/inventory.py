"""The locks that are held, one after the other, for tasks."""

from __future__ import annotations

import redlatch
from redlatch import calls
from redlatch.aio.loops import here
from redlatch.inventory import HeldLock, Listing
from redlatch.typings import Self


class Locks(Listing):
    """The locks that `AsyncClient.locks` finds. Iterate over it: `async for lock in client.locks("orders:*"):`.

    A step may raise UnavailableError, RefusedError, ClosedError, and UnsupportedError if the server is no Redis; after
    an UnavailableError the next step goes on. One task takes the steps.
    """

    _client: redlatch.aio.AsyncClient

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> HeldLock:
        while True:
            lock = self._unseen()
            if lock is not None:
                return lock
            if self._next is None:
                raise StopAsyncIteration
            outcome, texts = await self._client._native._submit_page(here(), self._pattern, self._next)
            self._turn_page(calls.answer(outcome, self._pattern), texts)
