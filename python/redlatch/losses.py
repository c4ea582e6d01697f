"""Tells holders that they lost their locks. One thread hears of the losses, and others call the callbacks."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Callable, Final

from redlatch import _redlatch
from redlatch.errors import ArgumentTypeError, LockLostError

if TYPE_CHECKING:
    from redlatch.hold import Hold

OnLost = Callable[["Hold", LockLostError], object]

#: For how many seconds the end of the program waits for the callbacks.
_PATIENCE: Final = 3
#: The most callbacks that run at once.
_MOST: Final = 64
#: For how many seconds a callback waits until the system is asked for a thread again.
_PAUSE: Final = 0.1
#: After so many refusals in a row the callbacks that are due run without a thread of their own.
_REFUSALS: Final = 10
#: The errors of a thread that the system does not give.
_NO_THREAD: Final = (RuntimeError, MemoryError)


class Losses:
    """The holds with a callback, the thread that hears of their losses, and the threads that call the callbacks."""

    # This class uses no `threading.Lock`: another thread could hold it at a fork, and the child would wait for ever.
    # Threads share lists and a deque, whose single calls the GIL makes atomic.

    def __init__(self) -> None:
        self._completions = _redlatch.Completions()
        self._keys = itertools.count(1)
        self._watched: dict[int, tuple[Hold, OnLost]] = {}
        #: One entry until a thread hears of the losses. That thread takes it, so a second one ends at once.
        self._unheard = [None]
        #: The thread that hears, and others if several callbacks were the first, or if Ctrl-C ended a start.
        self._hearers: list[threading.Thread] = []
        self._due: deque[tuple[Hold, OnLost, LockLostError]] = deque()
        #: One entry for each callback that may run besides those that run now.
        self._free = [None] * _MOST
        #: The threads that call callbacks. Only the thread that hears changes this list.
        self._callers: list[threading.Thread] = []
        #: How many threads the system has refused since it gave the last one.
        self._refused = 0

    def watch(self, hold: Hold, callback: OnLost) -> None:
        """Adds a callback for the loss of `hold`."""
        self._start_hearing()
        key = next(self._keys)
        self._watched[key] = hold, callback
        hold._watch(self._completions, key)

    def calls_in(self, thread: threading.Thread) -> bool:
        """Whether this thread calls callbacks."""
        return thread in self._hearers or thread in self._callers

    def finish(self) -> None:
        """Has the callbacks called that are due, and the threads end. Waits a while for them."""
        self._completions.stop()
        end = time.monotonic() + _PATIENCE
        # The thread that hears starts the others, so it is waited for first.
        for thread in self._hearers:
            _join(thread, end)
        for thread in self._callers:
            _join(thread, end)

    def _start_hearing(self) -> None:
        """Starts a thread that hears, unless one does. If this fails or Ctrl-C ends it, a later call tries again."""
        if self._unheard:
            thread = threading.Thread(target=self._run, name="redlatch-losses", daemon=True)
            self._hearers.append(thread)
            try:
                thread.start()
            except _NO_THREAD:
                self._hearers.remove(thread)
                raise

    def _run(self) -> None:
        try:
            self._unheard.pop()
        except IndexError:
            return
        while ended := self._completions.drain(100):
            for key, outcome in ended:
                self._end(key, outcome)

    def _end(self, key: int, outcome: _redlatch._Outcome) -> None:
        hold, callback = self._watched.pop(key)
        loss = hold._loss(outcome)
        if loss is not None:
            self._due.append((hold, callback, loss))
            self._start_calling()

    def _start_calling(self) -> None:
        """Starts a thread for the callbacks that are due: all that run may be blocked."""
        while self._due:
            try:
                self._free.pop()
            except IndexError:
                return  # each thread that runs takes the next callback when it has ended its own
            thread = threading.Thread(target=self._call_all, name="redlatch-callback", daemon=True)
            # `finish` waits for these threads, so one that ends stays here until it has ended.
            self._callers = [caller for caller in self._callers if caller.is_alive()]
            self._callers.append(thread)
            try:
                thread.start()
                self._refused = 0
                return
            except _NO_THREAD as error:
                self._callers.remove(thread)
                self._free.append(None)
                self._refused += 1
                # Python 3.12 starts no thread from the first moment of the program's end. Pools are joined after that.
                is_final = "interpreter shutdown" in str(error)
            if is_final or self._refused >= _REFUSALS:
                self._call_due()
            else:
                time.sleep(_PAUSE)

    def _call_all(self) -> None:
        """Calls callbacks until none is due."""
        while True:
            self._call_due()
            self._free.append(None)
            # A callback may have become due between these two lines, when no further thread could be started.
            if not self._due:
                return
            try:
                self._free.pop()
            except IndexError:
                return

    def _call_due(self) -> None:
        while True:
            try:
                hold, callback, loss = self._due.popleft()
            except IndexError:
                return
            try:
                callback(hold, loss)
            except BaseException:
                _complain()


def _join(thread: threading.Thread, end: float) -> None:
    if thread.is_alive() and thread is not threading.current_thread():
        thread.join(max(0, end - time.monotonic()))


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
    """Has `callback` called on a thread of its own if `hold` is lost."""
    _losses.watch(hold, callback)


def calls_in(thread: threading.Thread) -> bool:
    """Whether this thread calls callbacks of this process."""
    return _losses.calls_in(thread)


def finish() -> None:
    """Calls the callbacks that are due, at the end of the program."""
    _losses.finish()


def _start_anew() -> None:
    """Starts anew in a forked child, in which the parent's threads do not run. Keeps the parent's object untouched."""
    global _losses
    _inherited.append(_losses)
    _losses = Losses()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
