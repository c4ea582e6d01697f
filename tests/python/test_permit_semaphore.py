"""Semaphores whose permits have ids, and end with a lease or are renewed."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redlatch
from eventually import until_true
from forks import in_a_fork
from redlatch import Client, Permit, PermitExpirableSemaphore
from servers import Server
from view import View

NEVER = "922337203685477"
#: A script that gives the members of a sorted set, 16 bytes each, as hexadecimal texts.
IN_HEX = """
local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
for i, id in ipairs(ids) do ids[i] = string.gsub(id, '.', function(c) return string.format('%02x', c:byte()) end) end
return ids
"""


def counts(semaphore: PermitExpirableSemaphore) -> tuple[int, int, int]:
    return semaphore.available_permits(), semaphore.acquired_permits(), semaphore.get_permits()


def listeners(view: View, name: str) -> object:
    return view("PUBSUB", "NUMSUB", f"redisson_sc:{{{name}}}")[1]  # type: ignore[index]


def test_any_client_gives_permits_back_by_their_ids_each_once(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    one, two = client.get_permit_expirable_semaphore(name), stranger.get_permit_expirable_semaphore(name)
    assert one.try_set_permits(4)
    assert not two.try_set_permits(9)
    first = one.acquire()
    more = one.acquire_many(3, wait=1)
    assert two.try_acquire() is None
    assert two.try_acquire_many(2, wait=0.05) is None
    assert counts(two) == (0, 4, 4)
    assert sorted(len(id) for id in {first, *more}) == [32] * 4
    assert sorted(view("EVAL", IN_HEX, "1", f"{{{name}}}:timeout")) == sorted([first, *more])  # type: ignore[type-var,arg-type]
    two.release(str(first))
    with pytest.raises(redlatch.NotHeldError, match=f"{first} of `{name}` is not out"):
        two.release(first)
    with pytest.raises(redlatch.NotHeldError, match="are not out"):
        two.release(first, more[0])
    assert not one.try_release(first)
    assert two.try_release(*more)
    one.add_permits(2)
    one.set_permits(3)
    assert counts(one) == (3, 0, 3)
    assert one.delete()
    assert not one.delete()
    assert counts(one) == (0, 0, 0)
    until_true(lambda: view("KEYS", f"*{name}*") == [], "nothing left")


def test_a_block_has_a_permit_until_it_ends(client: Client, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    with semaphore.acquire(lease=60) as permit:
        assert isinstance(permit, Permit)
        assert permit.hold is None
        assert semaphore.acquired_permits() == 1
    with pytest.raises(KeyError), semaphore.acquire():
        raise KeyError
    with pytest.raises(redlatch.NotHeldError), semaphore.acquire() as permit:
        semaphore.release(permit)
    with pytest.raises(KeyError), semaphore.acquire() as permit:
        semaphore.release(permit)
        raise KeyError
    assert counts(semaphore) == (1, 0, 1)


def test_a_permit_ends_with_its_lease(client: Client, stranger: Client, view: View, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    permit = semaphore.acquire()
    assert semaphore.lease_time(permit) == math.inf
    assert semaphore.update_lease(permit, 60)
    left = semaphore.lease_time(permit)
    assert left is not None
    assert 50 < left <= 60
    assert semaphore.update_lease(permit, None)
    assert view("ZCOUNT", f"{{{name}}}:timeout", NEVER, NEVER) == 1
    assert semaphore.update_lease(permit, 0.3)
    with stranger.get_permit_expirable_semaphore(name).acquire(wait=20):
        assert semaphore.lease_time(permit) is None
        assert not semaphore.update_lease(permit, 60)
        with pytest.raises(redlatch.NotHeldError):
            permit.release()
        assert semaphore.acquired_permits() == 1


def test_the_hold_of_a_renewed_permit_tells_of_its_loss(server: Server, stranger: Client, name: str) -> None:
    other = stranger.get_permit_expirable_semaphore(name)
    other.try_set_permits(2)
    with redlatch.connect(server.url, watchdog=0.6) as client:
        semaphore = client.get_permit_expirable_semaphore(name)
        with semaphore.acquire(renew=True) as permit, semaphore.acquire(renew=True) as second:
            assert permit != second
            assert permit.hold is not None
            begun = permit.hold.deadline
            left = other.lease_time(permit)
            assert left is not None
            assert left <= 0.6
            hold = permit.hold
            until_true(lambda: hold.deadline > begun + 0.5, "two renewals")
            hold.ensure()
            assert counts(other) == (0, 2, 2)
        assert counts(other) == (2, 0, 2)
        lost = semaphore.try_acquire(renew=True)
        assert lost is not None
        assert lost.hold is not None
        other.release(lost)
        assert lost.hold.wait_lost(20)
        assert lost.hold.lost_reason == "deleted"
        with pytest.raises(redlatch.LockLostError):
            lost.release()
        kept = semaphore.acquire(renew=True)
    assert other.lease_time(kept) is None, "the end of the client gives it back"
    with pytest.raises(redlatch.ConfigError, match="leave one of them out"):
        other.acquire(lease=3, renew=True)


def test_a_release_wakes_a_waiter(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    semaphore = stranger.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    permit = semaphore.acquire()
    waiting = thread.submit(client.get_permit_expirable_semaphore(name).acquire, wait=20)
    until_true(lambda: listeners(view, name) == 1, "a thread that listens")
    permit.release()
    assert semaphore.try_release(waiting.result(timeout=10))


def test_a_wait_that_ends_names_the_missing_permits_and_both_causes(client: Client, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    for _ in ("never set", "too few"):
        with pytest.raises(redlatch.NotAcquiredError) as told:
            semaphore.acquire_many(2, wait=0.05)
        assert str(told.value) == (
            f"2 permits of `{name}` were not there within 0.05 s: they are out, or were never set; "
            "wait longer, ask for fewer, or call try_set_permits first"
        )
        semaphore.try_set_permits(1)


WAITER = """
import sys, redlatch
semaphore = redlatch.connect(sys.argv[1]).get_permit_expirable_semaphore(sys.argv[2])
try:
    semaphore.acquire(renew=sys.argv[3] == "renewed")
except KeyboardInterrupt:
    print("left", flush=True)
"""


@pytest.mark.parametrize("how", ["renewed", "by its id"])
def test_ctrl_c_ends_the_wait_and_leaves_nothing(
    server: Server, client: Client, view: View, name: str, how: str
) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    command = [sys.executable, "-c", WAITER, server.url, name, how]
    with semaphore.acquire(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        until_true(lambda: listeners(view, name) == 1, "a child that waits")
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=10)[0] == "left\n"
    assert counts(semaphore) == (1, 0, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_gives_back_no_permit_of_its_parent(client: Client, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(3)

    def leave(permit: Permit) -> str:
        with pytest.raises(redlatch.NotHeldError, match="forked"):
            permit.release()
        with semaphore.acquire(lease=60) as own:
            return str(own != permit and semaphore.acquired_permits())

    with semaphore.acquire() as permit, semaphore.acquire(renew=True) as renewed:
        assert in_a_fork(lambda: leave(permit)) == "3"
        assert in_a_fork(lambda: leave(renewed)) == "3"
        assert counts(semaphore) == (1, 2, 3)


def test_a_pickled_permit_is_its_id(client: Client, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    with semaphore.acquire() as permit:
        there = pickle.loads(pickle.dumps(permit))
        assert type(there) is str
        assert there == permit
    assert name in repr(semaphore)


BAD: list[Any] = [0, -1, 1.5, True, "1", None, 2**80, 10_001]


@pytest.mark.parametrize("permits", BAD, ids=repr)
def test_bad_counts_of_permits_are_refused(client: Client, view: View, name: str, permits: Any) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    for call in (semaphore.acquire_many, semaphore.try_acquire_many):
        with pytest.raises(redlatch.ConfigError, match=r"permits"):
            call(permits)
    assert view("EXISTS", name) == 0


@pytest.mark.parametrize("permit", ["", "xyz", "0" * 31, "0" * 30 + " 0", "g" * 32, "0" * 64, None, 5], ids=repr)
def test_bad_ids_of_permits_are_refused(client: Client, name: str, permit: Any) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    for call in (
        semaphore.release,
        semaphore.try_release,
        semaphore.lease_time,
        lambda id: semaphore.update_lease(id, 1),
    ):
        with pytest.raises(redlatch.ConfigError, match="32 hexadecimal digits"):
            call(permit)
    with pytest.raises(redlatch.ConfigError, match="no permit"):
        semaphore.release()


def test_bad_leases_and_keys_of_other_types_are_refused(client: Client, view: View, name: str) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    for lease in (0, -1, math.nan, "1"):
        with pytest.raises(redlatch.ConfigError, match="lease"):
            semaphore.acquire(lease=lease)  # type: ignore[arg-type]
    with client.get_lock(name), pytest.raises(redlatch.RefusedError, match="WRONGTYPE"):
        semaphore.acquire()
    assert view("EXISTS", name) == 0
