"""Daemon threads do not disturb the end of their program."""

from __future__ import annotations

from program import run
from servers import Server

DAEMONS = """
import sys, threading, redlatch
client = redlatch.connect(sys.argv[1])

def work(number):
    own, shared = client.get_lock(f"{sys.argv[2]}:{number}"), client.get_lock(sys.argv[2])
    while True:
        with own, shared:
            started.release()

started = threading.Semaphore(0)
for number in range(8):
    threading.Thread(target=work, args=(number,), daemon=True).start()
for _ in range(200):
    started.acquire()
hold = client.get_lock(sys.argv[2]).lock()
threading.Thread(target=hold.wait_lost, daemon=True).start()
"""


def test_daemon_threads_do_not_disturb_the_end(own_server: Server, name: str) -> None:
    for _ in range(5):
        ended = run(DAEMONS, own_server.url, name)
        # Their calls end with the client. Python would abort if one of them reported an error during its end.
        assert (ended.returncode, ended.stderr) == (0, "")
        with own_server.view() as view:
            assert view("KEYS", "*") == []


CLOSED = """
import atexit, sys, threading

@atexit.register
def last_of_all():
    try:
        lock.lock()
    except redlatch.ClosedError:
        print("closed at the end")

import redlatch

def wait():
    try:
        lock.lock()
    except redlatch.ClosedError:
        print("closed before")

holder, client = redlatch.connect(sys.argv[1]), redlatch.connect(sys.argv[1])
with holder.get_lock(sys.argv[2]):
    lock = client.get_lock(sys.argv[2])
    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    client.close()
    waiter.join()
"""


def test_a_closed_client_ends_the_calls_of_daemon_threads(server: Server, name: str) -> None:
    ended = run(CLOSED, server.url, name)
    assert (ended.stdout, ended.stderr) == ("closed before\nclosed at the end\n", "")
