"""gevent: greenlets share one thread. They take a free lock there, and get an error if a wait would stop them all."""

from __future__ import annotations

import pytest

from program import run
from servers import Server
from view import View

PATCHED = """
from gevent import monkey
monkey.patch_all()
"""

BEGIN = """
import sys, gevent, redlatch
client, operator = redlatch.connect(sys.argv[1]), redlatch.connect(sys.argv[1])
name = sys.argv[2]
gevent.sleep(0)  # greenlets run in this thread from now on

def pool(size=1):
    from gevent.threadpool import ThreadPool
    return ThreadPool(size)

def refused(call):
    try:
        call()
    except redlatch.UnsupportedError as error:
        assert f"`{name}`" in str(error), error
        return str(error)
    raise AssertionError("it was not refused")
"""


def check(server: Server, name: str, program: str, patched: str = PATCHED) -> None:
    """Runs such a program. It must end without an error, and print `done`."""
    ended = run(f"{patched}{BEGIN}{program}\nprint('done', flush=True)", server.url, name)
    assert ended.stdout == "done\n", ended.stderr
    assert "Error" not in ended.stderr, ended.stderr


@pytest.mark.parametrize("get", ["lock", "get_lock"])
def test_a_greenlet_that_would_wait_gets_an_error_with_a_remedy_and_the_others_go_on(
    server: Server, view: View, name: str, get: str
) -> None:
    check(
        server,
        name,
        f"""
def hold():
    with client.{get}(name, wait=60):
        held.set()
        end.wait(20)

def want():
    return refused(lambda: client.{get}(name, wait=60).lock()), refused(lambda: client.{get}(name).__enter__())

from gevent.event import Event
held, end = Event(), Event()
holder = gevent.spawn(hold)
assert held.wait(20)
for text in gevent.spawn(want).get(timeout=20):
    assert "pool.apply(client.lock(…).lock)" in text, text
assert gevent.spawn(client.{get}(name).try_lock).get(timeout=20) is None
end.set()
holder.get(timeout=20)
with client.{get}(name, wait=60):
    pass
""",
    )
    assert view("EXISTS", name) == 0


def test_greenlets_can_wait_in_a_pool_of_threads(server: Server, view: View, name: str) -> None:
    check(
        server,
        name,
        """
import time
waiting = pool(20)
inside = most = 0

def one():
    global inside, most
    waiting.apply(time.sleep, (0.001,))  # gevent's sleep: that thread has a hub from now on
    with waiting.apply(client.lock(name, wait=60).lock) as hold:
        inside += 1
        most = max(most, inside)
        gevent.sleep(0.01)
        hold.ensure()
        inside -= 1

jobs = [gevent.spawn(one) for _ in range(20)]
gevent.joinall(jobs, timeout=40, raise_error=True)
assert all(job.successful() for job in jobs)
assert most == 1, most
""",
    )
    assert view("EXISTS", name) == 0


def test_a_greenlet_is_no_owner_where_threads_are_not_patched(server: Server, name: str) -> None:
    check(
        server,
        name,
        """
text = refused(lambda: client.get_lock(name).try_lock())
assert "gevent.monkey.patch_all() before redlatch" in text, text
with client.lock(name):
    assert client.lock(name).try_lock() is None
""",
        patched="",
    )


def test_a_thread_without_greenlets_waits(server: Server, name: str) -> None:
    ended = run(
        "import sys, threading, gevent, redlatch\n"
        "client = redlatch.connect(sys.argv[1])\n"
        "hold = client.lock(sys.argv[2]).lock()\n"
        "threading.Timer(0.3, hold.release).start()\n"
        "with client.get_lock(sys.argv[2], wait=20): print('waited')\n",
        server.url,
        name,
    )
    assert (ended.stdout, ended.stderr) == ("waited\n", "")


def test_a_greenlet_learns_of_a_loss_without_a_wait(server: Server, name: str) -> None:
    check(
        server,
        name,
        """
hold = client.lock(name).lock()
assert "hold.lost" in refused(lambda: hold.on_lost(print))
refused(hold.wait_lost)
assert not hold.wait_lost(0)
operator.lock(name).force_unlock()
waiting = pool()
assert waiting.apply(hold.wait_lost, (20,))
assert hold.lost_reason == "deleted"
""",
    )


def test_a_loss_is_logged_and_the_program_ends(server: Server, name: str) -> None:
    check(
        server,
        name,
        """
import logging
from gevent.event import Event

told = Event()
class Told(logging.Handler):
    def emit(self, record):
        assert record.lock == name
        told.set()

logging.getLogger("redlatch").addHandler(Told())
hold = client.lock(name).lock()
operator.lock(name).force_unlock()
assert told.wait(20)
assert hold.lost
""",
    )
