"""Passes redlatch's messages to `logging`: the loggers are `redlatch.lost`, `redlatch.link` and so on, and each record
has the attributes `lock`, `owner` and `reason`.

The I/O thread of a client never waits for Python: it puts messages into a queue of the native module. A Python thread
empties the queue and calls the handlers. It starts with the first message, so most programs never have it.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Final

from redlatch import _redlatch

if TYPE_CHECKING:
    from redlatch._redlatch import _Record

#: For how many seconds the end of the program waits for the handlers.
_PATIENCE: Final = 3

#: The parts of the core that have a logger of their own.
_PARTS: Final = ("acquire", "config", "link", "lost", "pubsub", "quarantine", "renew", "semaphore")

_thread: threading.Thread | None = None


def look() -> None:
    """Tells the core the lowest level that a logger wants now; warnings always count.

    It makes no logger, because the program may configure its loggers later.
    """
    if not hasattr(sys.modules.get("logging"), "getLogger"):
        return  # no module has imported it, or another thread is importing it at this moment
    import logging

    made = logging.Logger.manager.loggerDict
    found = (made.get(name) for name in ("redlatch", *(f"redlatch.{part}" for part in _PARTS)))
    loggers = [logger for logger in found if isinstance(logger, logging.Logger)]
    if not isinstance(made.get("redlatch"), logging.Logger):
        loggers.append(logging.root)
    wanted = (level for level in (logging.DEBUG, logging.INFO) if any(log.isEnabledFor(level) for log in loggers))
    _redlatch.log_level(next(wanted, logging.WARNING))


def begin() -> None:
    """Starts the thread; the native module calls this with the first message."""
    global _thread
    import atexit
    import logging  # noqa: F401

    # Python calls this before `logging.shutdown`, which was registered earlier, so the handlers are still open.
    atexit.register(_redlatch.log_flush, _PATIENCE)
    _thread = threading.Thread(target=_run, name="redlatch-logs", daemon=True)
    _thread.start()


def calls_in(thread: threading.Thread) -> bool:
    """Whether this thread calls the handlers of `logging`."""
    return thread is _thread


def finish() -> None:
    """Delivers the messages that are left, at the end of the program or of one of its interpreters."""
    if not _redlatch.log_stop(sys.modules.get(__name__)):
        _redlatch.log_flush(_PATIENCE)
        return
    if _thread is not None and _thread.is_alive() and _thread is not threading.current_thread():
        _thread.join(_PATIENCE)
    _run()


def _run() -> None:
    while records := _redlatch.log_drain(100):
        for record in records:
            try:
                _deliver(record)
            except BaseException:
                _complain()
        look()


def _deliver(record: _Record) -> None:
    import logging

    name, level, message, (lock, owner, reason), (file, line), at = record
    logger = logging.getLogger(name)
    if not logger.isEnabledFor(level):
        return
    extra = {"lock": lock, "owner": owner, "reason": reason}
    told = logger.makeRecord(name, level, file, line, message, (), None, None, extra)
    # The record's time is that of the message, not that of its delivery.
    told.relativeCreated += (at - told.created) * 1000
    told.created = at
    told.msecs = at % 1 * 1000
    logger.handle(told)


def _complain() -> None:
    """Reports the exception of a filter to `threading.excepthook`. Later messages still come."""
    try:
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
    except BaseException:
        return  # a log would not work either


def _start_anew() -> None:
    """Starts anew in a forked child: it has its own queue, and its parent's thread does not run in it."""
    global _thread
    _thread = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
