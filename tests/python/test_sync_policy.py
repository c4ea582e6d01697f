"""The option `sync` of Python's clients. The core's tests are about its meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import redlatch
from eventually import until_true
from redlatch import Wait, WaitAof, aio
from servers import Server


@pytest.fixture
def master() -> Iterator[Server]:
    server = Server(more=["--repl-diskless-sync-delay", "0"])
    yield server
    server.close()


@pytest.fixture
def replica(master: Server) -> Iterator[Server]:
    server = Server(more=["--replicaof", "127.0.0.1", str(master.port)])
    until_true(lambda: says(server, "master_link_status:up") and says(master, "state=online"), "a replica in step")
    yield server
    server.resume()
    server.close()


def says(server: Server, words: str) -> bool:
    with server.view() as view:
        return words in str(view("INFO", "replication"))


def exists(server: Server, name: str) -> bool:
    with server.view() as view:
        return view("EXISTS", name) == 1


def waits(server: Server) -> bool:
    """Whether any client has told the server to wait for its replicas."""
    with server.view() as view:
        return "cmdstat_wait:" in str(view("INFO", "commandstats"))


def is_waited_for(server: Server) -> bool:
    with server.view() as view:
        return "blocked_clients:1" in str(view("INFO", "clients"))


def is_not_synced(refused: pytest.ExceptionInfo[redlatch.NotSyncedError], name: str) -> None:
    assert (refused.value.name, refused.value.code) == (name, "not_synced")
    assert f"`{name}` was confirmed by 0 of 1 replicas" in str(refused.value)


def test_a_lock_is_on_the_replica_when_it_is_taken(master: Server, replica: Server, name: str) -> None:
    for client in (
        redlatch.connect(master.url, sync=Wait(within=10)),
        redlatch.connect(f"{master.url}?sync=wait(within=10)"),
    ):
        with client, client.get_lock(name):
            assert exists(replica, name)
    assert waits(master)


def test_by_default_an_acquire_waits_for_no_replica(master: Server, replica: Server, name: str) -> None:
    replica.pause()
    with redlatch.connect(master.url) as client, client.get_lock(name):
        assert exists(master, name)
    assert not waits(master)


def test_a_lock_that_is_not_confirmed_in_time_is_given_back(master: Server, replica: Server, name: str) -> None:
    with redlatch.connect(master.url, sync=Wait(replicas=1, within=0.1)) as client:
        lock = client.get_lock(name)
        permits = client.get_semaphore(f"{name}:permits")
        assert permits.try_set_permits(1)
        replica.pause()
        for acquire in (lock.lock, lock.try_lock, lambda: lock.lock(wait=5), lock.__enter__):
            with pytest.raises(redlatch.NotSyncedError) as refused:
                acquire()
            is_not_synced(refused, name)
            assert not exists(master, name)
        with pytest.raises(redlatch.NotSyncedError):
            permits.try_acquire()
        assert permits.available_permits() == 1
        replica.resume()
    with redlatch.connect(master.url, sync=Wait(within=10)) as patient, patient.get_lock(name) as hold:
        hold.ensure()


async def test_a_task_that_waits_for_a_replica_does_not_stop_other_tasks(
    master: Server, replica: Server, name: str
) -> None:
    async with aio.connect(master.url, sync=Wait(within=15)) as client:
        held = await client.get_lock(f"{name}:held").lock()
        replica.pause()
        waiting = asyncio.ensure_future(client.get_lock(name).lock())
        while not is_waited_for(master):
            await asyncio.sleep(0.002)
        assert await client.get_lock(name).is_locked()
        await held.release()
        assert is_waited_for(master)
        assert not waiting.done()
        replica.resume()
        await (await waiting).release()
    async with aio.connect(master.url, sync=Wait(within=0.1)) as hasty:
        replica.pause()
        with pytest.raises(redlatch.NotSyncedError) as refused:
            await hasty.get_lock(name).lock()
        is_not_synced(refused, name)
        assert not exists(master, name)


async def test_a_cancelled_acquire_leaves_nothing(master: Server, replica: Server, name: str) -> None:
    async with aio.connect(master.url, sync=Wait(within=15)) as client:
        replica.pause()
        waiting = asyncio.ensure_future(client.get_lock(name).lock())
        while not is_waited_for(master):
            await asyncio.sleep(0.002)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        replica.resume()
        until_true(lambda: not exists(master, name) and not exists(replica, name), "the release of the lock")


@pytest.mark.parametrize("policy", [WaitAof(), WaitAof(replicas=0, within=5)])
def test_a_server_without_an_append_only_file_is_an_error(master: Server, name: str, policy: Any) -> None:
    with redlatch.connect(master.url, sync=policy) as client:
        with pytest.raises(redlatch.UnsupportedError, match=r"7\.2|appendonly"):
            client.get_lock(name).lock()
        assert not exists(master, name)
