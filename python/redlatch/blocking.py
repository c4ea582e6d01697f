"""The base of locks that block the thread of their caller, and of their errors in a thread that must not block."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from redlatch import _redlatch, greenlets, self_waits
from redlatch.errors import UnsupportedError
from redlatch.hold import Hold
from redlatch.owners import Caller, caller_in, this_thread
from redlatch.pickling import NotPickled

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


class Blocking(NotPickled, _redlatch.Lock):
    """The native half of a lock, with the Python attributes that it reads."""

    _hold = Hold
    _this_thread = this_thread
    _modules = sys.modules
    _frame = sys._getframe

    @staticmethod
    def _caller_in(event_loop: AbstractEventLoop) -> Caller:
        return caller_in(event_loop)

    def _waits_long(self, caller: Caller) -> None:
        """Warns `caller`, whose acquire has waited 5 s, if its own hold keeps the lock. The native half calls this."""
        self_waits.warn(self, caller)

    def _shares_thread(self) -> UnsupportedError:
        """The error of an acquire whose owner would be a thread that runs an event loop or greenlets."""
        if greenlets.has_own_owner() is False:
            return greenlets.share_thread(self.name)
        return UnsupportedError(
            f"`{self.name}`: an event loop runs in this thread, and all its tasks would be one owner; "
            "use client.lock(…), or await a lock of redlatch.aio",
            self.name,
        )

    def _would_block(self) -> UnsupportedError:
        """The error of an acquire that would have to wait in a thread that runs an event loop or greenlets."""
        if greenlets.has_own_owner() is not None:
            return greenlets.would_block(self.name)
        return UnsupportedError(
            f"`{self.name}` is taken, and a wait for it here would stop the event loop of this thread; await a lock of "
            "redlatch.aio, or call client.lock(…) in another thread",
            self.name,
        )
