"""The locks of ZooKeeper, with threads and with tasks: its own promises. The others are in test_session_locks.py."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import redlatch
from eventually import until_true
from faces import PATIENCE, Face
from loops import until
from redlatch import aio
from servers import Server
from systems import Row
from told import Told
from zookeeper import Tree


@pytest.fixture
def system(tree: Tree) -> Tree:
    return tree


@pytest.mark.parametrize("get", ["get_fair_lock", "get_non_reentrant_fair_lock"])
def test_owners_of_two_clients_have_a_fair_lock_in_the_order_in_which_they_came(
    face: Face, tree: Tree, name: str, get: str
) -> None:
    row = Row(face, tree.url, get, name)
    hold = row.holder(row.own.lock)
    order: list[int] = []

    def work(number: int) -> None:
        with face.caller().inside([row.own, row.other][number % 2]):
            order.append(number)

    with ThreadPoolExecutor(6) as pool:
        working = []
        for number in range(6):
            working.append(pool.submit(work, number))
            until_true(lambda: len(tree.queue(name)) == len(working) + 1, "one more waiter in the server's queue")
        row.holder(hold.release)
        for one in working:
            one.result(PATIENCE)
    assert order == list(range(6))


def test_readers_share_a_lock_and_keep_a_writer_out(face: Face, tree: Tree, name: str) -> None:
    read, write = (Row(face, tree.url, f"get_read_write_lock.{part}_lock", name) for part in ("read", "write"))
    with read.holder.inside(read.own) as hold, read.rivals[0][0].inside(read.own), read.rivals[1][0].inside(read.other):
        assert len(tree.queue(name)) == 3
        assert write.holder(write.own.try_lock) is None
        waiting = write.holder.begin(lambda: write.own.lock(wait=30))
        until_true(lambda: len(tree.queue(name)) == 4, "a writer in the server's queue")
        # A reader that comes now would make the writer wait for longer.
        assert face.caller()(read.other.try_lock) is None
        hold.ensure()
        assert not waiting.done()
    written = waiting.result(10)
    assert read.holder(read.own.try_lock) is None
    write.holder(written.release)


def test_a_writer_may_read_as_well_and_keeps_its_read_after_the_release_of_the_write(
    face: Face, tree: Tree, name: str
) -> None:
    both = face.client(tree.url).get_read_write_lock(name)
    others = face.client(tree.url).get_read_write_lock(name)
    caller, other = face.caller(), face.caller()
    written = caller(both.write_lock.lock)
    read = caller(both.read_lock.lock)
    assert other(others.read_lock.try_lock) is None
    caller(written.release)
    read.ensure()
    with other.inside(others.read_lock):
        assert other(others.write_lock.is_locked) is False
    caller(read.release)


def test_as_many_renewed_permits_are_out_as_there_are(face: Face, tree: Tree, name: str) -> None:
    one, two = (face.client(tree.url).get_permit_expirable_semaphore(name) for _ in range(2))
    caller = face.caller()
    assert caller(partial(one.try_set_permits, 2))
    assert not caller(partial(two.try_set_permits, 5))
    first, second = caller(partial(one.acquire, renew=True)), caller(partial(two.acquire, renew=True))
    assert first != second
    assert caller(partial(one.try_acquire, renew=True)) is None
    assert [caller(count) for count in (one.available_permits, two.acquired_permits, one.get_permits)] == [0, 2, 2]
    waiting = face.caller().begin(partial(two.acquire, wait=30, renew=True))
    until_true(lambda: len(tree.queue(f"{name}/locks")) == 1, "a waiter in the server's queue")
    caller(first.release)
    third = waiting.result(10)
    third.hold.ensure()
    for permit in (second, third):
        caller(permit.release)
    assert caller(one.available_permits) == 2
    with pytest.raises(redlatch.NotHeldError):
        caller(first.release)


def test_a_permit_that_no_session_would_end_is_refused_with_the_way_that_there_is(
    face: Face, tree: Tree, name: str
) -> None:
    caller, permits = face.caller(), face.client(tree.url).get_permit_expirable_semaphore(name)
    caller(partial(permits.set_permits, 1))
    ways = [permits.acquire, permits.try_acquire, partial(permits.acquire_many, 1), partial(permits.acquire, lease=5)]
    for call in ways:
        with pytest.raises(redlatch.UnsupportedError, match=r"acquire\(renew=True\)"):
            caller(call)
    with pytest.raises(redlatch.UnsupportedError):
        caller(permits.delete)
    assert caller(permits.available_permits) == 1


def test_the_end_of_one_node_is_the_loss_of_its_lock_alone(face: Face, tree: Tree, name: str) -> None:
    client, caller, told = face.client(tree.url), face.caller(), Told()
    hold = caller(client.lock(name).lock)
    caller(lambda: hold.on_lost(told))
    with caller.inside(client.lock(f"{name}:other")) as other:
        (node,) = tree.queue(name)
        tree.kazoo.delete(f"/{name}/{node}")
        assert told.reason() == "deleted"
        with pytest.raises(redlatch.LockLostError, match="deleted"):
            caller(hold.release)
        other.ensure()


def test_a_request_of_another_program_to_let_go_is_told_and_the_hold_stays(
    face: Face, tree: Tree, server: Server, name: str
) -> None:
    client, caller = face.client(tree.url), face.caller()
    both = client.get_multi_lock(client.lock(name), face.client(server.url).lock(name))
    for lock in (client.get_fair_lock(name), both):
        with caller.inside(lock) as hold, caller.inside(client.lock(f"{name}:other")) as other:
            assert not hold.wanted
            (node,) = tree.queue(name)
            # As Curator's `Revoker` does.
            tree.kazoo.set(f"/{name}/{node}", b"__REVOKE__")
            until_true(lambda: hold.wanted, "the request")
            assert not other.wanted
            hold.ensure()
        assert not hold.wanted


def test_a_holder_of_a_permit_is_told_when_its_session_ends(face: Face, tree: Tree, name: str) -> None:
    caller, permits, told = face.caller(), face.client(tree.quick_url).get_permit_expirable_semaphore(name), Told()
    caller(partial(permits.set_permits, 1))
    permit = caller(partial(permits.acquire, renew=True))
    caller(lambda: permit.hold.on_lost(told))
    tree.end(tree.holder(f"{name}/leases"))
    assert told.reason() in tree.ENDED
    with pytest.raises(redlatch.LockLostError):
        caller(permit.release)
    again = caller(partial(permits.acquire, wait=10, renew=True))
    caller(again.release)


def test_a_lock_below_the_chroot_is_the_node_that_other_programs_use(face: Face, tree: Tree, name: str) -> None:
    caller, lock = face.caller(), face.client(f"{tree.url}/apps/one?node_format=kazoo", prefix="shop/").get_lock(name)
    path = f"apps/one/shop/{name}"
    theirs = tree.kazoo.Lock(f"/{path}")
    hold = caller(lock.lock)
    assert hold.name == name
    assert "__lock__" in tree.queue(path)[0]
    assert theirs.acquire(blocking=False) is False
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(theirs.acquire, timeout=PATIENCE)
        until_true(lambda: len(tree.queue(path)) == 2, "a waiter of kazoo")
        caller(hold.release)
        assert waiting.result()
    assert caller(lock.try_lock) is None
    theirs.release()


@pytest.mark.usefixtures("every_loop")
async def test_a_wait_for_a_permit_that_is_cancelled_leaves_nothing(tree: Tree, name: str) -> None:
    async with aio.connect(tree.url) as client, aio.connect(tree.url) as stranger:
        await client.get_permit_expirable_semaphore(name).set_permits(1)
        permit = await stranger.get_permit_expirable_semaphore(name).acquire(renew=True)
        permits = client.get_permit_expirable_semaphore(name)
        for limit in (0, 0.001, 0.02, 0.2):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(permits.acquire(wait=None, renew=True), limit)

        async def is_alone() -> bool:
            return len(tree.nodes()) == 1

        await until(is_alone, "a server on which no client wants a permit")
        await permit.release()
        await (await permits.acquire(wait=10, renew=True)).release()
