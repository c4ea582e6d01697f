"""Signal handlers that try a lock which the interrupted thread holds or waits for."""

from __future__ import annotations

import pytest

from program import run
from servers import Server
from view import View

HANDLER = """
import os, signal, sys, threading, redlatch
client = redlatch.connect(sys.argv[1])
lock = client.lock(sys.argv[2])
kept = redlatch.connect(sys.argv[1]).lock(sys.argv[2])
handled = []

def handler(*_):
    handled.append(client.lock(sys.argv[2]).try_lock(wait={wait}))

def signalled():
    os.kill(os.getpid(), signal.SIGUSR1)

signal.signal(signal.SIGUSR1, handler)
{main}
print(handled, lock.hold_count(), lock.is_locked())
"""

INSIDE = """
with lock as hold:
    signalled()
    while not handled:
        pass
    hold.ensure()
"""

# The interrupted wait gets the lock while the handler runs.
WAITS = """
hold = kept.lock()
waits = threading.Timer(0.5, signalled)
waits.start()
threading.Timer(1, hold.release).start()
with lock as hold:
    hold.ensure()
"""


@pytest.mark.parametrize("main", [INSIDE, WAITS], ids=["has", "waits for"])
def test_a_signal_handler_that_tries_a_lock_of_its_thread_does_not_get_it(
    server: Server, view: View, name: str, main: str
) -> None:
    ended = run(HANDLER.format(wait=0.8, main=main), server.url, name)
    assert (ended.stdout, ended.stderr) == ("[None] 0 False\n", "")
    assert view("EXISTS", name) == 0


@pytest.mark.parametrize("main", [INSIDE, WAITS], ids=["has", "waits for"])
def test_a_signal_handler_that_waits_for_a_lock_of_its_thread_is_warned(
    server: Server, view: View, name: str, main: str
) -> None:
    ended = run(HANDLER.format(wait=7, main=main), server.url, name)
    assert ended.stdout == "[None] 0 False\n"
    assert f"`{name}`: this thread has waited 5 s at <string>:9 in handler for a lock that its own hold" in ended.stderr
    assert view("EXISTS", name) == 0
