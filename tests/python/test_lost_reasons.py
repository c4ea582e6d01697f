"""The reasons of a loss. The holder learns each of them as soon as its process can know it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from servers import Server
from told import Told
from view import View

# With this watchdog a renewal comes long after the end of a test. So a holder learns of a loss by a message of the
# server, or by its clock.
SLOW = 90


@pytest.fixture
def slow(server: Server) -> Iterator[Client]:
    with redlatch.connect(server.url, watchdog=SLOW) as client:
        yield client


def test_a_holder_learns_at_once_that_an_operator_deleted_its_key(slow: Client, view: View, name: str) -> None:
    told = Told()
    hold = slow.get_lock(name).lock()
    hold.on_lost(told)
    view("DEL", name)
    assert told.reason() == "deleted"
    assert (hold.lost, hold.lost_reason, hold.remaining) == (True, "deleted", 0.0)


def test_a_holder_learns_at_once_that_its_lock_was_forced_open(slow: Client, stranger: Client, name: str) -> None:
    told = Told()
    slow.get_lock(name).lock().on_lost(told)
    assert stranger.get_lock(name).force_unlock()
    assert told.reason() == "deleted"


def test_a_holder_with_a_lease_learns_of_a_deleted_key_as_well(slow: Client, view: View, name: str) -> None:
    told = Told()
    slow.get_lock(name).lock(lease=SLOW).on_lost(told)
    view("DEL", name)
    assert told.reason() == "deleted"


def test_a_holder_learns_at_once_that_another_owner_has_its_lock(slow: Client, view: View, name: str) -> None:
    told = Told()
    hold = slow.get_lock(name).lock()
    hold.on_lost(told)
    steal = "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'another:1', '1')"
    view("EVAL", steal, "1", name)
    assert told.reason() == "taken over"
    with pytest.raises(redlatch.LockLostError, match="taken over"):
        hold.release()
    assert view("HGETALL", name) == ["another:1", "1"]
    view("DEL", name)


def test_every_holder_learns_of_flushall(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url, watchdog=SLOW) as client, own_server.view() as view:
        holders = [Told() for _ in range(50)]
        for number, told in enumerate(holders):
            client.get_lock(f"{name}:{number}").lock().on_lost(told)
        view("FLUSHALL")
        assert {told.reason() for told in holders} == {"deleted"}


def test_a_server_that_hangs_is_a_partition_once_the_lease_is_over(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url, watchdog=1) as client:
        told = Told()
        hold = client.get_lock(name).lock()
        hold.on_lost(told)
        own_server.pause()
        try:
            # The server is frozen, so only this process's own clock can have told of the loss.
            assert told.reason() == "partitioned"
            with pytest.raises(redlatch.LockLostError, match="partitioned"):
                hold.ensure()
        finally:
            own_server.resume()


def test_a_server_that_comes_back_empty_has_lost_its_data(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url, watchdog=6) as client:
        told = Told()
        client.get_lock(name).lock().on_lost(told)
        with own_server.view() as view:
            # With the watched key the client knows from which start of the server it has the lock.
            until_true(lambda: "tracking_total_keys:1\r" in str(view("INFO", "stats")), "a key that is watched")
        own_server.kill()
        own_server.restart()
        assert told.reason() == "server lost its data"


SLEEPER = """
import sys, redlatch
client = redlatch.connect(sys.argv[1], watchdog=1)
hold = client.get_lock(sys.argv[2]).lock()
print("held", flush=True)
sys.stdin.readline()
print(hold.lost, hold.lost_reason, flush=True)
"""


def test_a_process_that_was_stopped_knows_of_the_loss_at_its_first_look(server: Server, view: View, name: str) -> None:
    command = [sys.executable, "-c", SLEEPER, server.url, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        os.kill(child.pid, signal.SIGSTOP)
        until_true(lambda: view("EXISTS", name) == 0, "the end of the lease")
        os.kill(child.pid, signal.SIGCONT)
        child.stdin.write("\n")
        assert child.stdout.readline() == "True process was paused\n"


def test_a_holder_learns_of_the_end_of_its_lease(client: Client, name: str) -> None:
    told = Told()
    hold = client.get_lock(name).lock(lease=0.2)
    hold.on_lost(told)
    assert told.reason() == "expired"
    assert hold.lost_reason == "expired"


def test_a_client_that_is_closed_tells_its_holders(server: Server, view: View, name: str) -> None:
    told = Told()
    with redlatch.connect(server.url) as client:
        hold = client.get_lock(name).lock()
        hold.on_lost(told)
    assert told.reason() == "closed"
    assert hold.lost_reason == "closed"
    assert view("EXISTS", name) == 0


def test_the_reasons_have_the_same_words_everywhere() -> None:
    root = Path(__file__).parents[2]
    core = re.findall(r'LostReason::\w+ => "(.+)"', (root / "core/src/request/error.rs").read_text())
    table = (root / "docs" / "reliability.md").read_text().partition("| reason |")[2].partition("\n## ")[0]
    assert len(core) == 8
    assert sorted(re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)) == sorted(core)
    assert sorted(re.findall(r"- `(.+?)`: ", redlatch.Hold.lost_reason.__doc__ or "")) == sorted(core)
