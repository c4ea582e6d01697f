"""The end of a client or of a program releases its locks at once, and tells their holders."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import pytest

import redlatch
from eventually import until_true
from program import run
from redlatch import Client
from servers import Server
from told import Told
from view import View

METHODS = [m for m in ("fork", "forkserver", "spawn") if m in multiprocessing.get_all_start_methods()]
MANY = 1000


def test_closing_frees_a_thousand_locks_and_tells_their_holders(own_server: Server, view: View, name: str) -> None:
    told = Told()
    client = redlatch.connect(own_server.url)
    holds = [client.get_lock(f"{name}:{number}").lock() for number in range(MANY)]
    holds[-1].on_lost(told)
    with own_server.view() as view:
        assert view("DBSIZE") == MANY
        client.close()
        assert view("DBSIZE") == 0
    assert told.reason() == "closed"
    assert {hold.lost_reason for hold in holds} == {"closed"}


HOLDER = """
import sys, redlatch
client = redlatch.connect(sys.argv[1])
holds = [client.get_lock(f"{sys.argv[2]}:{number}").lock() for number in range(int(sys.argv[3]))]
redlatch.connect(sys.argv[1]).get_lock(sys.argv[2]).lock()
holds[0].release()
holds[0].on_lost(lambda hold, error: print("released and yet", error.reason))
holds[1].on_lost(lambda hold, error: print(error.reason))
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError('the program fails')", "del client, holds"])
def test_the_end_of_a_program_frees_its_locks_and_tells_their_holders(own_server: Server, name: str, end: str) -> None:
    ended = run(f"{HOLDER}{end}\n", own_server.url, name, str(MANY))
    assert ended.returncode == (3 if "exit" in end else 1 if "raise" in end else 0), ended.stderr
    assert ended.stdout == "closed\n"
    with own_server.view() as view:
        assert view("KEYS", "*") == []


THREADED = """
import sys, threading, redlatch
client = redlatch.connect(sys.argv[1])

def work():
    with client.get_lock(sys.argv[2]) as hold:
        threading.main_thread().join()
        print("main has ended", flush=True)
        sys.stdin.readline()
        print(hold.lost, flush=True)

threading.Thread(target=work).start()
"""


def test_threads_keep_their_locks_until_they_end(server: Server, view: View, name: str) -> None:
    command = [sys.executable, "-c", THREADED, server.url, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "main has ended\n"
        assert view("EXISTS", name) == 1
        child.stdin.write("\n")
        assert child.stdout.readline() == "False\n"
        assert child.wait(timeout=20) == 0
    assert view("EXISTS", name) == 0


LAST_WORK = """
import atexit, sys, redlatch
client = redlatch.connect(sys.argv[1])

@atexit.register
def last_work():
    with client.get_lock(sys.argv[2]) as hold:
        hold.ensure()
        print("done")
"""


def test_a_function_of_atexit_can_use_the_locks_of_its_program(server: Server, view: View, name: str) -> None:
    ended = run(LAST_WORK, server.url, name)
    assert (ended.stdout, ended.stderr) == ("done\n", "")
    assert view("EXISTS", name) == 0


LAST_OBJECTS = """
import sys, redlatch
lock = redlatch.connect(sys.argv[1]).lock(sys.argv[2])

class Last:
    def __init__(self):
        self.hold = lock.lock()

    def __del__(self):
        for call in (self.hold.release, lock.unlock, lock.lock):
            try:
                call()
            except RuntimeError as error:
                print(error)

last = Last()
"""


def test_an_object_that_ends_with_the_interpreter_gets_an_error_that_its_client_is_closed(
    server: Server, view: View, name: str
) -> None:
    ended = run(LAST_OBJECTS, server.url, name)
    assert ended.stderr == ""
    assert ["is closed; connect a new one" in line for line in ended.stdout.splitlines()] == [True] * 3
    assert view("EXISTS", name) == 0


#: As Python 3.12 from the first moment of a program's end. 3.13 starts threads until the last thread has ended.
NO_THREAD = """
import threading

def refuse(thread, start=threading.Thread.start):
    if thread.name == "redlatch-callback":
        raise RuntimeError("can't create new thread at interpreter shutdown")
    start(thread)

threading.Thread.start = refuse
"""

#: Several callbacks tell of their loss at the same moment. `print` would write the end of its line by itself.
SLOW = """
import os, sys, threading, redlatch

def tell(hold, error):
    threading.Event().wait(0.3)
    os.write(1, f"{error.reason}\\n".encode())

client = redlatch.connect(sys.argv[1])
for number in range(3):
    hold = client.get_lock(f"{sys.argv[2]}:{number}").lock()
    hold.on_lost(tell)
"""


@pytest.mark.parametrize("end", ["", "no threads"])
def test_a_program_ends_after_its_callbacks(server: Server, name: str, end: str) -> None:
    ended = run(SLOW + (NO_THREAD if end else ""), server.url, name)
    assert (ended.stdout, ended.stderr) == ("closed\n" * 3, "")


STUCK = """
import sys, threading, redlatch
hold = redlatch.connect(sys.argv[1]).get_lock(sys.argv[2]).lock()
hold.on_lost(lambda hold, error: threading.Event().wait())
"""


def test_a_callback_that_hangs_does_not_keep_a_program_from_ending(server: Server, view: View, name: str) -> None:
    ended = run(STUCK, server.url, name)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert view("EXISTS", name) == 0


LATE = """
import sys, threading, redlatch
client = redlatch.connect(sys.argv[1])
hold, slow = client.get_lock(sys.argv[2]).lock(), client.get_lock(sys.argv[2] + ":slow").lock()

def work():
    end()
    told = threading.Event()
    slow.on_lost(lambda hold, error: threading.Event().wait(0.2))
    hold.on_lost(lambda hold, error: (print(error.reason, flush=True), told.set()))
    client.get_lock(sys.argv[2]).force_unlock()
    print(told.wait(20))

hold.on_lost(lambda hold, error: None)
"""

#: The end of the main thread is the end of the thread's wait.
IN_A_THREAD = """
end = threading.main_thread().join
threading.Thread(target=work).start()
"""

#: Python waits for the job before it ends the main thread.
IN_A_POOL = """
from concurrent.futures import ThreadPoolExecutor

begun = threading.Event()
end = begun.wait
threading._register_atexit(begun.set)
pool = ThreadPoolExecutor(1)
pool.submit(work)
"""


@pytest.mark.parametrize("before", ["", NO_THREAD], ids=["threads", "no threads"])
@pytest.mark.parametrize("way", [IN_A_THREAD, IN_A_POOL], ids=["thread", "pool"])
def test_callbacks_are_called_while_threads_outlast_the_main_thread(
    server: Server, name: str, way: str, before: str
) -> None:
    ended = run(before + LATE + way, server.url, name)
    assert (ended.stdout, ended.stderr) == ("deleted\nTrue\n", "")


FORKING = """
import os, sys, redlatch
client = redlatch.connect(sys.argv[1])
lock, of_child = client.get_lock(sys.argv[2]), client.get_lock(sys.argv[2] + ":child")
hold = lock.lock()
hold.on_lost(lambda hold, error: print("lost:", error.reason))
pid = os.fork()
if pid == 0:
    of_child.lock()
    {end}
os.waitpid(pid, 0)
hold.ensure()
print(lock.hold_count(), of_child.is_locked())
hold.release()
"""


@pytest.mark.skipif("fork" not in METHODS, reason="this platform has no fork")
@pytest.mark.parametrize(
    ("end", "kept"), [("os._exit(0)", True), ("sys.exit(0)", False), ("client.close(); os._exit(0)", False)]
)
def test_a_forked_child_that_ends_frees_its_own_locks_and_not_its_parents(
    server: Server, view: View, name: str, end: str, kept: bool
) -> None:
    ended = run(FORKING.format(end=end), server.url, name)
    # At `os._exit` no Python code runs. A lock of that process ends with its lease.
    assert (ended.stdout, ended.stderr) == (f"1 {kept}\n", "")
    view("DEL", f"{name}:child")


def leave_a_lock(url: str, name: str) -> None:
    redlatch.connect(url).get_lock(name).lock()


def leave_a_thread(url: str, name: str, told: Connection) -> None:
    lock = redlatch.connect(url).get_lock(name)

    held = threading.Event()

    def work() -> None:
        with lock as hold:
            held.set()
            threading.main_thread().join()
            told.send(hold.wait_lost(0.3))

    threading.Thread(target=work).start()
    held.wait()
    # The thread of this pool ends only when Python asks it to, at the end of the program.
    ThreadPoolExecutor(1).submit(held.wait).result()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_child_of_multiprocessing_frees_its_own_locks_and_not_its_parents(
    server: Server, client: Client, view: View, name: str, method: str
) -> None:
    with client.get_lock(name) as hold:
        context: Any = multiprocessing.get_context(method)
        child = context.Process(target=leave_a_lock, args=(server.url, f"{name}:child"))
        child.start()
        child.join(30)
        assert child.exitcode == 0
        assert view("EXISTS", f"{name}:child") == 0
        assert view("HGETALL", name) == [f"{client.id}:{hold.owner}", "1"]
        hold.ensure()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_threads_of_a_child_of_multiprocessing_keep_their_locks_until_they_end(
    server: Server, view: View, name: str, method: str
) -> None:
    context: Any = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    with ours, theirs:
        child = context.Process(target=leave_a_thread, args=(server.url, name, theirs))
        child.start()
        assert ours.poll(20)
        assert ours.recv() is False
        child.join(30)
        assert child.exitcode == 0
    until_true(lambda: view("EXISTS", name) == 0, "a lock that is free")
