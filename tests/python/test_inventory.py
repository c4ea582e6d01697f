"""Lists of the locks that are held, with threads and with tasks."""

from __future__ import annotations

import contextlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from mariadb import Mariadb
from redlatch import Client, HeldLock, Holder
from redlatch.aio import AsyncClient
from servers import Server
from view import View
from zookeeper import Tree

THEIRS = "6f1b1c9e-0c1d-4e2f-8a3b-4c5d6e7f8091"


def only(client: Client, name: str) -> HeldLock:
    (lock,) = client.locks(name)
    return lock


def soon_lost(hold: redlatch.Hold) -> str | None:
    until_true(lambda: hold.lost, "the news of the loss")
    return hold.lost_reason


def test_a_lock_is_listed_with_its_holder_and_its_process(client: Client, stranger: Client, name: str) -> None:
    assert list(stranger.locks(name)) == []
    with client.get_lock(name, owner=7) as hold, client.get_lock(name, owner=7):
        held = only(stranger, name)
        assert (held.name, held.kind, held.is_certain) == (name, "plain", True)
        assert (held.holder_count, held.waiting, held.queue, held.token) == (1, 0, (), None)
        (holder,) = held.holders
        assert (holder.client, holder.owner, holder.holds, holder.writes) == (client.id, str(hold.owner), 2, False)
        assert (holder.host, holder.process) == (socket.gethostname(), os.getpid())
        assert not holder.may_be_redisson
        assert holder.remaining is None
        assert held.remaining is not None
        assert 15 < held.remaining <= 30
    assert list(stranger.locks(name)) == []


def test_every_kind_is_listed(client: Client, stranger: Client, name: str) -> None:
    permits = client.get_permit_expirable_semaphore(f"{name}:permits", permits=3)
    with contextlib.ExitStack() as stack:
        stack.enter_context(client.lock(f"{name}:plain"))
        fenced = stack.enter_context(client.get_fenced_lock(f"{name}:fenced"))
        stack.enter_context(client.get_multi_lock(f"{name}:multi", values=["a", "b"]))
        stack.enter_context(client.get_read_write_lock(f"{name}:write").write_lock)
        stack.enter_context(client.get_read_write_lock(f"{name}:read").read_lock)
        term = stack.enter_context(client.leader(f"{name}:leader").lead())
        permit = stack.enter_context(permits.acquire(lease=60))
        found = {lock.name.removeprefix(f"{name}:"): lock for lock in stranger.locks(f"{name}:*")}
        assert {key: (lock.kind, lock.holder_count) for key, lock in found.items()} == {
            "plain": ("plain", 1),
            "fenced": ("fenced", 1),
            "multi": ("multi", 2),
            "write": ("write", 1),
            "read": ("read", 1),
            "leader": ("leader", 1),
            "permits": ("permits", 1),
        }
        assert (found["fenced"].token, found["leader"].token) == (fenced.token, term.token)
        assert found["write"].holders[0].writes
        (out,) = found["permits"].holders
        assert out.client == permit
        assert out.remaining is not None
        assert 30 < out.remaining <= 60


def test_waiters_are_counted_and_those_of_a_fair_lock_named(
    client: Client, stranger: Client, view: View, name: str, thread: ThreadPoolExecutor
) -> None:
    with client.get_fair_lock(name, owner=1):
        waiting = thread.submit(stranger.get_fair_lock(name, owner=2).lock, wait=20)
        until_true(lambda: view("EXISTS", f"redisson_lock_queue:{{{name}}}") == 1, "a waiter in the queue")
        held = only(client, name)
        assert (held.kind, held.waiting) == ("fair", 1)
        assert [(waiter.client, waiter.owner) for waiter in held.queue] == [(stranger.id, "2")]
    waiting.result(20).release()


def test_a_holder_of_another_library_may_be_redisson(client: Client, view: View, name: str) -> None:
    view("HSET", name, f"{THEIRS}:31", "1")
    view("PEXPIRE", name, "30000")
    assert only(client, name).holders == (Holder(THEIRS, "31", 1, False, None, None, None, True),)
    view("DEL", name)


def test_a_step_that_fails_can_be_taken_again(own_server: Server, name: str) -> None:
    with redlatch.connect(f"{own_server.url}?retry_for=0.1") as client:
        client.ping()
        locks = client.locks(f"{name}*")
        own_server.close()
        for _ in range(2):
            with pytest.raises(redlatch.UnavailableError):
                next(locks)


def test_a_list_that_is_over_stays_over(client: Client, name: str) -> None:
    locks = client.locks(f"{name}*")
    assert list(locks) == []
    assert list(locks) == []


def test_a_list_keeps_its_client(server: Server, client: Client, name: str) -> None:
    with client.lock(name):
        assert [lock.name for lock in redlatch.connect(server.url).locks(f"{name}*")] == [name]


def test_a_pattern_that_is_no_text_is_refused(client: Client) -> None:
    with pytest.raises(redlatch.ConfigError, match="must be a str"):
        client.locks(7)  # type: ignore[arg-type]


def test_other_servers_have_no_list(mariadb: Mariadb, tree: Tree, name: str) -> None:
    for url in (mariadb.url, tree.url):
        with redlatch.connect(url) as client, pytest.raises(redlatch.UnsupportedError):
            next(client.locks(name))


def test_a_lock_is_taken_from_the_holder_that_a_list_has_shown_and_from_no_later_one(
    client: Client, stranger: Client, name: str
) -> None:
    for kind, lock in (
        ("plain", client.get_lock(name)),
        ("fenced", client.get_fenced_lock(f"{name}:fenced")),
        ("read", client.get_read_write_lock(f"{name}:read_write").read_lock),
        ("write", client.get_read_write_lock(f"{name}:read_write").write_lock),
    ):
        first = lock.lock()
        held = only(stranger, lock.name)
        assert held.kind == kind
        assert stranger.evict(held) is True
        assert soon_lost(first) == "deleted"
        assert stranger.evict(held) is False
        with pytest.raises(redlatch.LockLostError):
            first.release()
    with stranger.get_fenced_lock(f"{name}:fenced"):
        first_holder = only(client, f"{name}:fenced")
    with client.get_fenced_lock(f"{name}:fenced") as hold:
        assert stranger.evict(first_holder) is False
        hold.ensure()


def test_an_eviction_names_what_it_cannot_end(client: Client, mariadb: Mariadb, name: str) -> None:
    permits = client.get_permit_expirable_semaphore(name, permits=1)
    with (
        permits.acquire(lease=60),
        pytest.raises(redlatch.UnsupportedError, match=f"`{name}` has permits that are out; release each"),
    ):
        client.evict(only(client, name))
    permits.delete()
    with client.lock(name) as hold:
        held = only(client, name)
        with redlatch.connect(mariadb.url) as other, pytest.raises(redlatch.UnsupportedError, match=f"`{name}`"):
            other.evict(held)
        with pytest.raises(redlatch.UnsupportedError, match="has no holder"):
            client.evict(held._replace(holders=()))
        with pytest.raises(redlatch.ConfigError, match="must be a HeldLock"):
            client.evict(name)  # type: ignore[arg-type]
        hold.ensure()


async def test_a_task_takes_a_lock_away_too(aio_client: AsyncClient, client: Client, name: str) -> None:
    hold = client.lock(name).lock()
    (held,) = [lock async for lock in aio_client.locks(name)]
    assert await aio_client.evict(held) is True
    assert await aio_client.evict(held) is False
    with pytest.raises(redlatch.LockLostError):
        hold.release()
    with pytest.raises(redlatch.ConfigError, match="must be a HeldLock"):
        await aio_client.evict(name)  # type: ignore[arg-type]


async def test_tasks_list_the_same_locks(aio_client: AsyncClient, client: Client, name: str) -> None:
    names = [f"{name}:{at}" for at in range(5)]
    holds = [client.lock(each).lock() for each in names]
    locks = [lock async for lock in aio_client.locks(f"{name}:*")]
    assert sorted(lock.name for lock in locks) == names
    assert {lock.holders[0].client for lock in locks} == {client.id}
    async with aio_client.lock(name):
        (held,) = [lock async for lock in aio_client.locks(name)]
        assert held.holders[0].client == aio_client.id
    for hold in holds:
        hold.release()
    assert [lock async for lock in aio_client.locks(f"{name}:*")] == []
