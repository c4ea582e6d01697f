"""Ctrl-C ends a wait of every kind, and the waiter gives up its place in line while the process goes on."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from kinds import LOCKS
from servers import Server
from view import View

WAITER = """
import sys, redlatch
client = redlatch.connect(sys.argv[1])
name = sys.argv[2]
waits = {
    "with": lambda: client.get_lock(name).__enter__(),
    "try": lambda: client.get_lock(name).try_lock(wait=60),
    "acquire": lambda: client.get_lock(name).acquire(timeout=60),
    "decorated": lambda: client.get_lock(name)(print)(),
    "multi": lambda: client.get_multi_lock(client.get_lock(name + ":free"), client.get_lock(name)).lock(),
    "red": lambda: redlatch.red_lock([sys.argv[1]], name).lock(),
    "read": lambda: client.get_read_write_lock(name + ":rw").read_lock.lock(),
    "write": lambda: client.get_read_write_lock(name + ":rw").write_lock.lock(),
    "semaphore": lambda: client.get_semaphore(name + ":none").acquire(),
    "with semaphore": lambda: client.get_semaphore(name + ":none").__enter__(),
    "permit": lambda: client.get_permit_expirable_semaphore(name + ":none").acquire(),
    "renewed permit": lambda: client.get_permit_expirable_semaphore(name + ":none").acquire(renew=True),
    "permits": lambda: client.get_permit_expirable_semaphore(name + ":none").acquire_many(2),
    "latch": lambda: client.get_count_down_latch(name + ":latch").wait(),
    "loss": lambda: client.get_lock(name + ":own").lock().wait_lost(),
}
kind = sys.argv[3]
if kind.startswith("get_"):
    wait = getattr(client, kind)(name + ":token" if kind == "get_token_lock" else name).lock
else:
    wait = waits[kind]
client.ping()
try:
    print("waits", flush=True)
    wait()
except KeyboardInterrupt:
    print("left", flush=True)
    client.get_lock(name + ":own").force_unlock()
    sys.stdin.readline()
"""
KINDS = LOCKS + [line.split('"')[1] for line in WAITER.splitlines() if '": lambda' in line]


def keys(view: View) -> set[str]:
    """The keys of the server, without those by which it recognises a repeated call."""
    all_keys = view("KEYS", "*")
    assert isinstance(all_keys, list)
    return {str(key) for key in all_keys if not str(key).startswith("redlatch_request:")}


def scripts_run(view: View) -> int:
    """How many scripts the server has run."""
    stats = re.search(r"cmdstat_evalsha:calls=(\d+)", str(view("INFO", "commandstats")))
    return int(stats[1]) if stats else 0


def listens(view: View) -> bool:
    """Whether any client listens on a channel."""
    return view("PUBSUB", "CHANNELS", "*") != []


class Waiter:
    """A program that waits. A timer ends it after half a minute."""

    def __init__(self, server: Server, name: str, kind: str) -> None:
        command = [sys.executable, "-c", WAITER, server.url, name, kind]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._end = threading.Timer(30, self._child.kill)
        self._end.start()

    def says(self) -> str:
        assert self._child.stdout is not None
        return self._child.stdout.readline()

    def interrupt(self) -> None:
        self._child.send_signal(signal.SIGINT)

    def lives(self) -> bool:
        return self._child.poll() is None

    def __enter__(self) -> Waiter:
        return self

    def __exit__(self, *_: object) -> None:
        self._end.cancel()
        self._child.kill()
        self._child.communicate()


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends_a_wait_of_every_kind_and_gives_up_its_place(own_server: Server, name: str, kind: str) -> None:
    with own_server.view() as view, redlatch.connect(own_server.url) as client:
        client.get_lock(name).lock()
        client.get_read_write_lock(name + ":rw").write_lock.lock()
        client.get_token_lock(name + ":token").lock()
        client.get_count_down_latch(name + ":latch").try_set_count(1)
        before = keys(view)
        scripts = scripts_run(view)
        with Waiter(own_server, name, kind) as waiter:
            assert waiter.says() == "waits\n"
            # Some waiters do not listen on a channel, and a wait for a loss ends in another way.
            if kind == "loss":
                until_true(lambda: view("EXISTS", name + ":own") == 1, "a hold that may be lost")
            elif kind in ("get_spin_lock", "red"):
                until_true(lambda: scripts_run(view) >= scripts + 3, "a waiter that asks again")
            else:
                until_true(lambda: listens(view), "a waiter that listens")
            waiter.interrupt()
            assert waiter.says() == "left\n"
            until_true(lambda: keys(view) == before, "nothing left of the waiter")
            until_true(lambda: not listens(view), "the end of the subscription")
            assert waiter.lives()


def test_a_waiter_behind_one_that_left_a_fair_lock_is_next(server: Server, view: View, name: str) -> None:
    queue = f"redisson_lock_queue:{{{name}}}"

    def stand(number: int) -> None:
        until_true(lambda: view("LLEN", queue) == number, f"{number} in the queue")

    with redlatch.connect(server.url) as client, redlatch.connect(server.url) as behind, ThreadPoolExecutor(1) as pool:
        hold = client.get_fair_lock(name).lock()
        with Waiter(server, name, "get_fair_lock") as waiter:
            stand(1)
            second = pool.submit(lambda: behind.get_fair_lock(name).lock(wait=30).release())
            stand(2)
            waiter.interrupt()
            assert [waiter.says(), waiter.says()] == ["waits\n", "left\n"]
            stand(1)
            hold.release()
            second.result()
            assert waiter.lives()
