"""The end of the program: its clients give back what they hold, and whoever still held it is told."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from redlatch import _redlatch, logs, losses
from redlatch.errors import ArgumentTypeError

#: The clients that are not closed; one that the program dropped stays while it holds something, which is renewed.
_open: dict[int, _redlatch.Client] = {}
#: How many objects of the program stand for each.
_uses: dict[int, int] = {}


def opened(native: object) -> _redlatch.Client:
    """A client to be closed at the end."""
    if not isinstance(native, _redlatch.Client):
        raise ArgumentTypeError(
            "a client is made by `redlatch.connect(url)`, or by `redlatch.aio.connect(url)`, and not by its class"
        )
    _end_idle()
    key = id(native)
    _open[key] = native
    _uses[key] = _uses.get(key, 0) + 1
    logs.look()
    return native


def not_pickled() -> TypeError:
    """The error of a client that is to be sent to another process."""
    return TypeError(
        "a client of redlatch cannot be pickled; make one in each process, for example as a variable of a module, "
        "which is made anew where that module is imported"
    )


def dropped(native: _redlatch.Client) -> None:
    """The program has one object less that stands for this client. The last one ends it, unless something is held."""
    key = id(native)
    uses = _uses.get(key, 1) - 1
    if uses > 0:
        _uses[key] = uses
        return
    _uses.pop(key, None)
    if native.is_idle():
        # No call can come: with the last reference its thread and its connections end.
        _open.pop(key, None)


def _end_idle() -> None:
    """Ends those that the program dropped while they held something, and that hold nothing any more."""
    for key, native in list(_open.items()):
        if key not in _uses and native.is_idle():
            _open.pop(key, None)


def close(native: _redlatch.Client) -> None:
    """Closes a client before the end."""
    _redlatch.close([native])
    closed(native)


def closed(native: _redlatch.Client) -> None:
    """A client that is closed before the end."""
    _open.pop(id(native), None)
    _uses.pop(id(native), None)


def leave() -> None:
    """Closes what is open. In a forked child that goes for its parent's clients, too, which hold nothing there."""
    clients = list(_open.copy().values())
    _open.clear()
    _redlatch.leave(clients, _daemons())
    losses.finish()
    logs.finish()


def _leave_after_threads() -> None:
    """Closes what is open once nobody else works: multiprocessing may call this while threads still do."""
    if not _other_threads():
        return leave()

    def wait() -> None:
        while threads := _other_threads():
            for thread in threads:
                thread.join()
        leave()

    # Many threads end only when Python asks them to, which comes next: so they are not waited for here. This one is.
    return threading.Thread(target=wait, name="redlatch-leaving", daemon=False).start()


def _daemons() -> set[int]:
    """The threads that Python ends without, but for the one that is still to call back."""
    ours = (losses.calls_in, logs.calls_in)
    daemons = [
        thread for thread in threading.enumerate() if thread.daemon and not any(is_ours(thread) for is_ours in ours)
    ]
    return {thread.ident for thread in daemons if thread.ident is not None}


def _other_threads() -> list[threading.Thread]:
    """The threads that Python waits for, but for the main one and this one."""
    us = threading.main_thread(), threading.current_thread()
    return [thread for thread in threading.enumerate() if not thread.daemon and thread not in us]


def _finalize(_: object = None) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, _leave_after_threads, exitpriority=-100)


def _follow_multiprocessing() -> None:
    """Most of its children end without `atexit`, but run its finalizers."""
    util, process = sys.modules.get("multiprocessing.util"), sys.modules.get("multiprocessing.process")
    if util is not None and process is not None:
        # A child that starts forgets all finalizers, and then calls this one.
        util.register_after_fork(leave, _finalize)
        if process.parent_process() is not None:
            _finalize()


# The last to be registered is called first: what a program registers after this import can still use its locks.
atexit.register(leave)
_follow_multiprocessing()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_follow_multiprocessing)
