"""Tells holders that they lost their locks: one thread for all of a process, which starts when it is first needed."""

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

#: How many seconds the callbacks may take at the end of the program.
_PATIENCE = 3


class Losses:
    """The holds that somebody wants to be told of, and the thread that tells."""

    # No `threading.Lock` here: another thread could have it at a fork, and the child would wait for ever.

    def __init__(self) -> None:
        self._completions = _redlatch.Completions()
        self._keys = itertools.count(1)
        self._watched: dict[int, tuple[Hold, OnLost]] = {}
        self._thread = threading.Thread(target=self._run, name="redlatch-losses", daemon=True)
        self._unstarted = [self._thread]

    def watch(self, hold: Hold, callback: OnLost) -> None:
        """Has `callback` called if `hold` is lost."""
        key = next(self._keys)
        self._watched[key] = hold, callback
        hold._watch(self._completions, key)
        try:
            thread = self._unstarted.pop()
        except IndexError:
            return
        thread.start()

    def finish(self) -> None:
        """Tells what is still to be told, for a while, and ends."""
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
    """Reports the exception of a callback as that of a thread, which stops nobody else from being told."""
    try:
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
    except BaseException:
        import logging  # hardly ever, and it takes long

        logging.getLogger("redlatch").exception("threading.excepthook does not work")


_losses = Losses()
_inherited: list[Losses] = []


def check_callback(name: str, callback: Callable[..., object]) -> None:
    """Refuses what could not be called when the lock called `name` is lost."""
    if not callable(callback):
        raise ArgumentTypeError(f"on_lost of `{name}` is {callback!r}; give a function of hold and error", name)
    import inspect

    try:
        signature = inspect.signature(callback)
    except ValueError:
        return  # it is native code, which does not say what it takes
    try:
        signature.bind(None, None)
    except TypeError:
        raise ArgumentTypeError(
            f"on_lost of `{name}` is {callback!r}, which does not take a hold and an error; "
            "give a function that does: `lambda hold, error: …`",
            name,
        ) from None


def watch(hold: Hold, callback: OnLost) -> None:
    """Has `callback` called if `hold` is lost, on the thread of this process."""
    _losses.watch(hold, callback)


def calls_in(thread: threading.Thread) -> bool:
    """Whether callbacks of this process run in it."""
    return thread is _losses._thread


def finish() -> None:
    """Tells what is still to be told, at the end of the program."""
    _losses.finish()


def _start_anew() -> None:
    """In a forked child, whose parent's thread is not there; what it shared is kept and never touched."""
    global _losses
    _inherited.append(_losses)
    _losses = Losses()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
