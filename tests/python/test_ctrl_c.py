"""Ctrl-C ends a wait promptly, and leaves nothing behind."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from servers import Server
from view import View

WAITER = """
import signal, sys, redlatch
client = redlatch.connect(sys.argv[1])
lock = client.get_lock(sys.argv[2])
if sys.argv[3] == "heard":
    signal.signal(signal.SIGINT, lambda *_: print("heard", flush=True))
try:
    lock.lock()
    print("acquired", flush=True)
    lock.unlock()
except KeyboardInterrupt:
    print("left", flush=True)
    print("held" if lock.hold_count() else "nothing held", flush=True)
"""


def start(server: Server, name: str, handler: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WAITER, server.url, name, handler]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_ctrl_c_ends_the_wait_and_leaves_nothing(server: Server, client: Client, view: View, name: str) -> None:
    with client.get_lock(name), start(server, name, "default") as child:
        until_true(lambda: view.listeners(name) == 1, "a child that waits")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=10)
        assert out.split("\n")[:2] == ["left", "nothing held"]
        until_true(lambda: view.listeners(name) == 0, "a subscription that is dropped")
    assert view("EXISTS", name) == 0


def test_a_wait_goes_on_after_a_signal_handler_that_raises_nothing(
    server: Server, client: Client, view: View, name: str
) -> None:
    hold = client.get_lock(name).lock()
    with start(server, name, "heard") as child:
        until_true(lambda: view.listeners(name) == 1, "a child that waits")
        child.send_signal(signal.SIGINT)
        assert child.stdout is not None
        assert child.stdout.readline() == "heard\n"
        hold.release()
        assert child.stdout.readline() == "acquired\n"
        assert child.wait(timeout=10) == 0


ASKER = """
import sys, redlatch
client = redlatch.connect(sys.argv[1])
client.ping()
print("ready", flush=True)
sys.stdin.readline()
try:
    print("asks", flush=True)
    client.get_lock(sys.argv[2]).lock()
except KeyboardInterrupt:
    print("left", flush=True)
    sys.stdin.readline()
"""


def test_ctrl_c_during_the_round_trip_releases_the_lock_that_it_brings(own_server: Server, name: str) -> None:
    command = [sys.executable, "-c", ASKER, own_server.url, name]
    with (
        own_server.view() as view,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child,
    ):
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "ready\n"
        own_server.pause()
        child.stdin.write("\n")
        assert child.stdout.readline() == "asks\n"
        child.send_signal(signal.SIGINT)
        own_server.resume()
        assert child.stdout.readline() == "left\n"
        assert view("EXISTS", name) == 0
        child.stdin.write("\n")


CLOSER = """
import sys, threading, time, redlatch
client = redlatch.connect(sys.argv[1], response_timeout=60)
client.get_lock(sys.argv[2]).lock()
print("ready", flush=True)
sys.stdin.readline()

def watch():
    while not client.closed:
        time.sleep(0.001)
    print("closes", flush=True)

threading.Thread(target=watch).start()
try:
    client.close()
except KeyboardInterrupt:
    print("left", client.closed, flush=True)
"""


def test_ctrl_c_ends_the_closing_of_a_client_whose_server_hangs(own_server: Server, name: str) -> None:
    command = [sys.executable, "-c", CLOSER, f"{own_server.url}?retry_for=60", name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        own_server.pause()
        try:
            child.stdin.write("\n")
            assert child.stdout.readline() == "closes\n"
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "left True\n"
            assert child.wait(timeout=20) == 0
        finally:
            own_server.resume()


BUSY = """
import itertools, sys, redlatch
client = redlatch.connect(sys.argv[1])
lock = client.get_lock(sys.argv[2])

def enter():
    with lock:
        pass

def enter_twice():
    with lock, lock as hold:
        hold.ensure()

def enter_a_hold():
    with lock.lock() as hold:
        hold.ensure()

def release_in_the_end():
    lock.lock()
    try:
        pass
    finally:
        lock.unlock()

@lock
def decorated():
    pass

ways = [enter, enter_twice]
if sys.version_info >= (3, 11):
    # Before 3.11 Python also handles signals when a function returns. Then only `with lock` is safe before its block.
    ways += [enter_a_hold, release_in_the_end, decorated]
ways = itertools.cycle(ways)
while True:
    try:
        print("busy", flush=True)
        while True:
            next(ways)()
    except KeyboardInterrupt:
        pass
    print("holds", lock.hold_count(), flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("contended", [False, True], ids=["alone", "in line"])
def test_ctrl_c_at_any_moment_leaves_nothing_held_and_nothing_in_line(
    own_server: Server, name: str, contended: bool
) -> None:
    stop = threading.Event()

    def contend() -> None:
        with redlatch.connect(own_server.url) as client:
            while not stop.is_set():
                if hold := client.get_lock(name).try_lock(wait=0.2):
                    hold.release()

    rival = threading.Thread(target=contend)
    command = [sys.executable, "-c", BUSY, own_server.url, name]
    with (
        own_server.view() as view,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        if contended:
            rival.start()
        try:
            for _ in range(150):
                assert child.stdout.readline() == "busy\n"
                time.sleep(random.uniform(0, 0.003))
                child.send_signal(signal.SIGINT)
                assert child.stdout.readline() == "holds 0\n"
                child.stdin.write("\n")
            assert child.stdout.readline() == "busy\n"
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "holds 0\n"
            stop.set()
            if contended:
                rival.join()
            # The child is alive, so it has not cleaned up at its end.
            assert view("KEYS", "*") == []
            until_true(lambda: view.listeners(name) == 0, "subscriptions that are dropped")
        finally:
            stop.set()
            child.kill()
