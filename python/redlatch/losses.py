"""Tells holders that they lost their locks. One thread of the process does it, which starts with the first callback."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from typing import TYPE_CHECKING, Callable

from redlatch import _redlatch
from redlatch.errors import ArgumentTypeError, LockLostError

if TYPE_CHECKING:
    from redlatch.hold import Hold

OnLost = Callable[["Hold", LockLostError], object]

#: For how many seconds the end of the program waits for the callbacks.
_PATIENCE = 3


class Losses:
    """The holds with a callback, and the thread that calls it."""

    # This class uses no `threading.Lock`: another thread could hold it at a fork, and the child would wait for ever.

    def __init__(self) -> None:
        self._completions = _redlatch.Completions()
        self._keys = itertools.count(1)
        self._watched: dict[int, tuple[Hold, OnLost]] = {}
        self._thread = threading.Thread(target=self._run, name="redlatch-losses", daemon=True)
        self._unstarted = [self._thread]

    def watch(self, hold: Hold, callback: OnLost) -> None:
        """Adds a callback for the loss of `hold`."""
        key = next(self._keys)
        self._watched[key] = hold, callback
        hold._watch(self._completions, key)
        try:
            thread = self._unstarted.pop()
        except IndexError:
            return
        thread.start()

    def finish(self) -> None:
        """Makes the thread call the callbacks that are due, and end. Waits a while for it."""
        self._completions.stop()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while ended := self._completions.drain(100):
            for key, outcome in ended:
                self._end(key, outcome)

    def _end(self, key: int, outcome: _redlatch._Outcome) -> None:
        hold, callback = self._watched.pop(key)
        loss = hold._loss(outcome)
        if loss is None:
            return
        try:
            callback(hold, loss)
        except BaseException:
            _complain()


def _complain() -> None:
    """Reports the exception of a callback to `threading.excepthook`. The other callbacks are still called."""
    try:
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
    except BaseException:
        import logging  # this case is rare, and the import takes long

        logging.getLogger("redlatch").exception("threading.excepthook does not work")


_losses = Losses()
_inherited: list[Losses] = []


def check_callback(name: str, callback: Callable[..., object]) -> None:
    """Raises ArgumentTypeError if `callback` cannot be called with a hold and an error."""
    if not callable(callback):
        raise ArgumentTypeError(f"on_lost of `{name}` is {callback!r}; give a function of hold and error", name)
    import inspect

    try:
        signature = inspect.signature(callback)
    except ValueError:
        return  # native code has no signature
    try:
        signature.bind(None, None)
    except TypeError:
        raise ArgumentTypeError(
            f"on_lost of `{name}` is {callback!r}, which does not take a hold and an error; "
            "give a function that does: `lambda hold, error: …`",
            name,
        ) from None


def watch(hold: Hold, callback: OnLost) -> None:
    """Makes the thread of this process call `callback` if `hold` is lost."""
    _losses.watch(hold, callback)


def calls_in(thread: threading.Thread) -> bool:
    """Whether this thread calls the callbacks of this process."""
    return thread is _losses._thread


def finish() -> None:
    """Calls the callbacks that are due, at the end of the program."""
    _losses.finish()


def _start_anew() -> None:
    """Starts anew in a forked child, in which the parent's thread does not run. Keeps the parent's object untouched."""
    global _losses
    _inherited.append(_losses)
    _losses = Losses()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
