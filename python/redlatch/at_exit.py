"""Closes every client at the end of the program, so that its holds are released and their holders are told."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from redlatch import _redlatch, logs, losses
from redlatch.errors import ArgumentTypeError

#: The clients that are not closed. One that the program dropped stays here while it holds a lock, which is renewed.
_open: dict[int, _redlatch.Client] = {}
#: For each of them the number of objects of the program that stand for it.
_uses: dict[int, int] = {}


def register(native: object) -> _redlatch.Client:
    """Adds a client that is to be closed at the end, and returns it."""
    if not isinstance(native, _redlatch.Client):
        raise ArgumentTypeError(
            "a client is made by `redlatch.connect(url)`, or by `redlatch.aio.connect(url)`, and not by its class"
        )
    _forget_idle()
    key = id(native)
    _open[key] = native
    _uses[key] = _uses.get(key, 0) + 1
    logs.look()
    return native


def drop(native: _redlatch.Client) -> None:
    """Counts one object less that stands for this client. The last one ends the client, unless it holds a lock."""
    key = id(native)
    uses = _uses.get(key, 1) - 1
    if uses > 0:
        _uses[key] = uses
        return
    _uses.pop(key, None)
    if native.is_idle():
        # No call can come any more. The client's thread and connections end with its last reference, which is here.
        _open.pop(key, None)


def _forget_idle() -> None:
    """Ends the clients that the program dropped while they held locks, and that hold none now."""
    for key, native in list(_open.items()):
        if key not in _uses and native.is_idle():
            _open.pop(key, None)


def close(native: _redlatch.Client) -> None:
    """Closes one client, which the end of the program need not close then."""
    _redlatch.close([native])
    forget(native)


def forget(native: _redlatch.Client) -> None:
    """Removes a client that the program has closed."""
    _open.pop(id(native), None)
    _uses.pop(id(native), None)


def close_all() -> None:
    """Closes every open client. A forked child closes its copies of the parent's clients too; they hold nothing."""
    clients = list(_open.copy().values())
    _open.clear()
    _redlatch.close_at_exit(clients, _daemons())
    losses.finish()
    logs.finish()


def _close_after_threads() -> None:
    """Closes every open client after the last thread: multiprocessing may call this while threads still work."""
    if not _other_threads():
        close_all()
        return

    def wait() -> None:
        while threads := _other_threads():
            for thread in threads:
                thread.join()
        close_all()

    # Many threads end only when Python asks them to, which it does after this function. So this function does not wait
    # for them, and starts a thread that does. Python waits for that thread: it is no daemon.
    threading.Thread(target=wait, name="redlatch-exit", daemon=False).start()


def _daemons() -> set[int]:
    """The identities of the daemon threads, for which Python does not wait. Redlatch's own are not among them."""
    ours = (losses.calls_in, logs.calls_in)
    daemons = [
        thread for thread in threading.enumerate() if thread.daemon and not any(is_ours(thread) for is_ours in ours)
    ]
    return {thread.ident for thread in daemons if thread.ident is not None}


def _other_threads() -> list[threading.Thread]:
    """The threads for which Python waits, without the main thread and this one."""
    us = threading.main_thread(), threading.current_thread()
    return [thread for thread in threading.enumerate() if not thread.daemon and thread not in us]


def _finalize(_: object = None) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, _close_after_threads, exitpriority=-100)


def _follow_multiprocessing() -> None:
    """Makes a child of multiprocessing close its clients: most children end without `atexit`, but run finalizers."""
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None:
        # A child that starts forgets all finalizers, and calls this function afterwards.
        util.register_after_fork(close_all, _finalize)
        if process.parent_process() is not None:
            _finalize()


# Python calls the function that was registered last first. So functions that a program registers after this import
# can still use its locks.
atexit.register(close_all)
_follow_multiprocessing()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_follow_multiprocessing)
