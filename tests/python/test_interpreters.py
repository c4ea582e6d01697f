"""Interpreters besides the main one. Those that share its GIL, like mod_wsgi's, can use redlatch; others cannot."""

from __future__ import annotations

import sys

import pytest

from program import run
from servers import Server
from view import View

PROGRAM = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def new(isolated):
    try:
        return interpreters.create("isolated" if isolated else "legacy")
    except TypeError:
        return interpreters.create(isolated=isolated)

WORK = '''
import asyncio, atexit, threading
import redlatch
from redlatch import aio
url, name = %r, %r
client = redlatch.connect(url)
with client.get_fair_lock(name) as hold:
    hold.ensure()

async def main():
    async with aio.connect(url) as client, client.get_lock(name) as hold:
        hold.ensure()

asyncio.run(main())
lost, told = client.get_lock(name + ":lost").lock(), threading.Event()
lost.on_lost(lambda hold, error: told.set())
client.get_lock(name + ":lost").force_unlock()
assert told.wait(20)
try:
    lost.release()
except redlatch.LockLostError:
    print("worked", flush=True)
if %r != "main":
    client.get_lock(name + ":forgotten").lock()
    # The end of an interpreter calls these functions. Here it cannot end before, as long as it has a thread.
    atexit._run_exitfuncs()
    assert threading.enumerate() == [threading.current_thread()], threading.enumerate()
'''

for how in sys.argv[3:]:
    work = WORK % (sys.argv[1], sys.argv[2], how)
    if how == "main":
        exec(work)
        continue
    interpreter = new(isolated=how == "isolated")
    try:
        failed = interpreters.run_string(interpreter, work)
    except interpreters.RunFailedError as e:
        failed = e
    if failed is not None:
        print(failed if isinstance(failed, Exception) else failed.formatted, flush=True)
    interpreters.destroy(interpreter)
"""


def test_interpreters_of_one_gil_each_work_in_any_order(server: Server, view: View, name: str) -> None:
    for order in (("main", "legacy", "legacy", "main"), ("legacy", "main", "legacy")):
        ended = run(PROGRAM, server.url, name, *order)
        assert ended.stderr == ""
        assert ended.stdout == "worked\n" * len(order)
        # The end of each interpreter released its forgotten lock. Otherwise the next one would wait for ever.
        assert view("KEYS", f"{name}*") == []


def test_an_interpreter_with_a_gil_of_its_own_works_or_gets_an_error_of_one_sentence(
    server: Server, view: View, name: str
) -> None:
    ended = run(PROGRAM, server.url, name, "main", "isolated", "main")
    assert ended.stderr == ""
    first, refused, last = ended.stdout.splitlines()
    assert first == last == "worked"
    # Before Python 3.12 every interpreter shares the GIL.
    assert "does not support loading in subinterpreters" in refused or sys.version_info < (3, 12)
    assert view("KEYS", f"{name}*") == []


#: The beginning of a program: a function that runs an interpreter which takes a lock and ends.
COMES_AND_GOES = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

WORK = '''
import atexit, redlatch
with redlatch.connect(%r).lock(%r):
    pass
atexit._run_exitfuncs()
'''

def come_and_go():
    try:
        interpreter = interpreters.create("legacy")
    except TypeError:
        interpreter = interpreters.create(isolated=False)
    assert interpreters.run_string(interpreter, WORK % (sys.argv[1], sys.argv[2])) is None
    interpreters.destroy(interpreter)
"""

BESIDE = """
import logging, queue, sys
from logging.handlers import QueueHandler
import redlatch

told = queue.SimpleQueue()
logging.getLogger("redlatch").addHandler(QueueHandler(told))
client, operator = redlatch.connect(sys.argv[1]), redlatch.connect(sys.argv[1])

def lose(name):
    hold = client.lock(name).lock()
    operator.lock(name).force_unlock()
    print(told.get(timeout=20).lock)

if sys.argv[3] == "loses":
    lose(sys.argv[2] + ":before")
come_and_go()
lose(sys.argv[2] + ":after")
"""


@pytest.mark.parametrize("first", ["loses", "is silent"])
def test_an_interpreter_that_ends_leaves_the_others_their_log(server: Server, name: str, first: str) -> None:
    ended = run(COMES_AND_GOES + BESIDE, server.url, name, first)
    assert ended.stderr == ""
    losses = [f"{name}:before", f"{name}:after"]
    assert ended.stdout.splitlines() == (losses if first == "loses" else losses[1:])


DAEMON = """
import sys, threading
import redlatch

come_and_go()

client = redlatch.connect(sys.argv[1])
hold = client.lock(sys.argv[2]).lock()

def wait():
    begins.set()
    hold.wait_lost()
    client.lock(sys.argv[2]).lock()

begins = threading.Event()
threading.Thread(target=wait, daemon=True).start()
assert begins.wait(20)
"""


def test_daemon_threads_do_not_disturb_the_end_after_that_of_another_interpreter(server: Server, name: str) -> None:
    ended = run(COMES_AND_GOES + DAEMON, server.url, name)
    assert (ended.returncode, ended.stderr) == (0, "")


FULL = """
import os, sys
try:
    import _interpreters as interpreters
    create = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    create = lambda: interpreters.create(isolated=False)

WORK = '''
import os, sys, time
sys.path[:0] = %r
os.dup2(os.open("/dev/full", os.O_WRONLY), 2)
import redlatch
client, operator = redlatch.connect(%r, watchdog=1), redlatch.connect(%r)
kept = client.lock(%r + ":kept").lock()
for at in range(3):
    hold = client.get_lock(%r + ":" + str(at)).lock()
    operator.get_lock(hold.name).force_unlock()
    assert hold.wait_lost(20)
until = time.monotonic() + 2
while time.monotonic() < until:
    assert kept.remaining > 0
    time.sleep(0.05)
kept.release()
print("kept", flush=True)
os._exit(0)
'''
interpreters.run_string(create(), WORK % (sys.path, sys.argv[1], sys.argv[1], sys.argv[2], sys.argv[2]))
"""


def test_a_full_stderr_ends_no_lock_of_another_interpreter(server: Server, name: str) -> None:
    ended = run(FULL, server.url, name)
    assert ended.stdout == "kept\n", ended.stdout + ended.stderr
