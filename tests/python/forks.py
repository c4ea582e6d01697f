"""Running something in a forked child."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from typing import Callable


def in_a_fork(work: Callable[[], object]) -> str:
    """Forks, runs `work` in the child and returns what it returned, as text; fails with its traceback."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks beside threads from 3.12 on; that they work is the promise under test.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        # A child that hangs is ended by this, and fails the test.
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
