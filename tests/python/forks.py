"""Runs a function in a forked child."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from typing import Callable


def in_a_fork(work: Callable[[], object]) -> str:
    """Forks, runs `work` in the child and returns its result as text. Fails with the child's traceback."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # From 3.12 on Python warns of a fork in a process with threads. The tests are about such forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        # The alarm ends a child that hangs, and the test fails.
        signal.alarm(30)
        status = 1
        try:
            os.write(writer, str(work()).encode())
            status = 0
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[:60_000])
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(pid, 0)
    assert status == 0, text
    return text
