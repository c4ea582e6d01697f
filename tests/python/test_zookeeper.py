"""The locks of ZooKeeper, with threads and with tasks: every promise of a lock that such a server can keep."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import redlatch
from eventually import until_true
from faces import FACES, PATIENCE, Caller, Face
from servers import Server
from told import Told
from view import View
from zookeeper import ENDED, LOCKS, REENTRANT, Tree, lock_of

every_lock = pytest.mark.parametrize("get", LOCKS)


@pytest.fixture(params=list(FACES))
def face(request: pytest.FixtureRequest, tree: Tree) -> Iterator[Face]:
    """Runs the test with each façade. At the end its clients, which are still open, have and want no lock."""
    with FACES[request.param]() as face:
        yield face
        tree.check_empty()


class Row:
    """One lock of three owners: two of one client, and one of another client."""

    def __init__(self, face: Face, url: str, get: str, name: str) -> None:
        self.clients = [face.client(url), face.client(url)]
        self.own, self.other = (lock_of(client, get, name) for client in self.clients)
        self.holder = face.caller()
        #: Each with its lock object: another owner of the same client, and one of the other client.
        self.rivals: list[tuple[Caller, Any]] = [(face.caller(), self.own), (face.caller(), self.other)]


@every_lock
def test_a_block_has_the_lock_from_its_begin_to_its_end(face: Face, tree: Tree, name: str, get: str) -> None:
    row = Row(face, tree.url, get, name)
    with row.holder.inside(row.own) as hold:
        hold.ensure()
        assert 0 < hold.remaining <= 30
        assert len(tree.queue(name)) == 1
        for caller, lock in row.rivals:
            assert caller(lock.is_locked)
            assert caller(lock.try_lock) is None
            assert caller(partial(lock.acquire, False)) is None
            with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`"):
                caller(partial(lock.lock, wait=0))
            with pytest.raises(redlatch.NotHeldError):
                caller(lock.release)
        hold.ensure()
    assert hold.remaining == 0
    for caller, lock in row.rivals:
        assert not caller(lock.is_locked)
        with caller.inside(lock):
            assert len(tree.queue(name)) == 1


@every_lock
def test_a_waiter_of_another_client_gets_the_lock_when_it_is_released(
    face: Face, tree: Tree, name: str, get: str
) -> None:
    row = Row(face, tree.url, get, name)
    waiter, lock = row.rivals[1]
    hold = row.holder(row.own.lock)
    before = tree.holder(name)
    waiting = waiter.begin(lambda: lock.lock(wait=30))
    until_true(lambda: len(tree.queue(name)) == 2, "a waiter in the server's queue")
    assert not waiting.done()
    row.holder(hold.release)
    taken = waiting.result(10)
    assert tree.holder(name) not in (None, before)
    waiter(taken.release)


@every_lock
def test_waiters_of_two_clients_have_the_lock_one_at_a_time_and_all_have_their_turns(
    face: Face, tree: Tree, name: str, get: str
) -> None:
    row = Row(face, tree.url, get, name)
    mutex = threading.Lock()
    turns = 0

    def work(number: int) -> None:
        nonlocal turns
        caller, lock = face.caller(), [row.own, row.other][number % 2]
        for _ in range(10):
            with caller.inside(lock) as hold:
                assert mutex.acquire(blocking=False), "two are inside"
                hold.ensure()
                turns += 1
                mutex.release()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert turns == 6 * 10


@every_lock
def test_a_wait_that_runs_out_is_told_and_leaves_no_waiter(face: Face, tree: Tree, name: str, get: str) -> None:
    row = Row(face, tree.url, get, name)
    for client in row.clients:
        row.holder(client.ping)
    with row.holder.inside(row.own) as hold:
        # A wait during which a loaded server says nothing is an error of its own: it has time to say that it is taken.
        tries = [face.caller().begin(partial(lock.try_lock, wait=1)) for _, lock in row.rivals]
        calls = [caller.begin(partial(lock.lock, wait=1)) for caller, lock in row.rivals]
        assert [waited.result(PATIENCE) for waited in tries] == [None, None]
        for waited in calls:
            with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`") as late:
                waited.result(PATIENCE)
            assert isinstance(late.value, TimeoutError)
        until_true(lambda: len(tree.queue(name)) == 1, "no waiter in the server's queue")
        hold.ensure()


@pytest.mark.parametrize("get", REENTRANT)
def test_an_owner_holds_a_reentrant_lock_as_often_as_it_took_it(face: Face, tree: Tree, name: str, get: str) -> None:
    row = Row(face, tree.url, get, name)
    for count in (1, 2, 3):
        row.holder(row.own.lock)
        assert row.holder(row.own.hold_count) == count
        assert row.holder(row.own.is_held_by_current_thread)
    for left in (2, 1):
        row.holder(row.own.unlock)
        assert row.holder(row.own.hold_count) == left
        for caller, lock in row.rivals:
            assert caller(lock.hold_count) == 0
            assert caller(lock.try_lock) is None
    row.holder(row.own.unlock)
    tree.check_empty()
    with pytest.raises(redlatch.NotHeldError):
        row.holder(row.own.unlock)


@pytest.mark.parametrize("get", ["get_non_reentrant_lock", "get_non_reentrant_fair_lock"])
def test_an_owner_that_takes_a_non_reentrant_lock_twice_is_told_and_keeps_it(
    face: Face, tree: Tree, name: str, get: str
) -> None:
    row = Row(face, tree.url, get, name)
    with row.holder.inside(row.own) as hold:
        for call in (row.own.lock, row.own.try_lock, lambda: row.own.lock(wait=5)):
            with pytest.raises(redlatch.AlreadyHeldError, match=f"`{name}`"):
                row.holder(call)
        hold.ensure()
        assert len(tree.queue(name)) == 1


def test_a_fenced_lock_has_a_greater_number_for_each_hold_of_any_client(face: Face, tree: Tree, name: str) -> None:
    row = Row(face, tree.url, "get_fenced_lock", name)
    tokens = []
    for caller, lock in [(row.holder, row.own), *row.rivals, (row.holder, row.own)]:
        with caller.inside(lock) as hold:
            tokens.append(hold.token)
            assert caller(lock.get_token) == hold.token
    assert tokens == sorted(set(tokens))
    assert tokens[0] > 0


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


@every_lock
def test_a_holder_is_told_at_once_when_its_session_ends(face: Face, tree: Tree, name: str, get: str) -> None:
    row = Row(face, tree.quick_url, get, name)
    told = Told()
    hold = row.holder(row.own.lock)
    row.holder(lambda: hold.on_lost(told))
    tree.expire(tree.holder(name))
    reason = told.reason()
    assert reason in ENDED
    assert len(told.calls) == 1
    assert hold.lost_reason == reason
    with pytest.raises(redlatch.LockLostError, match=reason):
        hold.ensure()
    with pytest.raises(redlatch.LockLostError) as late:
        row.holder(hold.release)
    assert late.value.reason == reason
    for caller, lock in [(row.holder, row.own), *row.rivals]:
        with caller.inside(lock) as again:
            again.ensure()


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


def test_a_holder_of_a_permit_is_told_when_its_session_ends(face: Face, tree: Tree, name: str) -> None:
    caller, permits, told = face.caller(), face.client(tree.quick_url).get_permit_expirable_semaphore(name), Told()
    caller(partial(permits.set_permits, 1))
    permit = caller(partial(permits.acquire, renew=True))
    caller(lambda: permit.hold.on_lost(told))
    tree.expire(tree.holder(f"{name}/leases"))
    assert told.reason() in ENDED
    with pytest.raises(redlatch.LockLostError):
        caller(permit.release)
    again = caller(partial(permits.acquire, wait=10, renew=True))
    caller(again.release)


def test_a_forced_release_frees_the_lock_and_tells_its_holder(face: Face, tree: Tree, name: str) -> None:
    row = Row(face, tree.url, "get_lock", name)
    for caller, lock in row.rivals:
        told = Told()
        hold = row.holder(row.own.lock)
        row.holder(partial(hold.on_lost, told))
        assert caller(lock.force_unlock)
        assert told.reason() == "deleted"
        assert not caller(lock.force_unlock)
        tree.check_empty()
        with pytest.raises(redlatch.LockLostError):
            row.holder(row.own.unlock)


def test_a_lease_of_its_own_ends_in_time_and_is_told(face: Face, tree: Tree, name: str) -> None:
    row = Row(face, tree.url, "lock", name)
    told = Told()
    hold = row.holder(lambda: row.own.lock(lease=0.5))
    assert 0 < hold.remaining <= 0.5
    row.holder(lambda: hold.on_lost(told))
    other, lock = row.rivals[1]
    taken = other(lambda: lock.lock(wait=20))
    assert told.reason() == "expired"
    with pytest.raises(redlatch.LockLostError, match="expired"):
        row.holder(hold.release)
    taken.ensure()
    other(taken.release)


def test_a_hold_without_a_lease_outlasts_the_watchdogs_time(face: Face, tree: Tree, name: str) -> None:
    client, caller = face.client(tree.url, watchdog=1), face.caller()
    with caller.inside(client.lock(name)) as hold:
        first = hold.deadline
        until_true(lambda: hold.deadline > first + 1.5, "three signs of life")
        hold.ensure()
        assert len(tree.queue(name)) == 1


@every_lock
def test_a_client_that_closes_gives_its_locks_back_and_answers_its_waiters(
    face: Face, tree: Tree, name: str, get: str
) -> None:
    row = Row(face, tree.url, get, name)
    told = Told()
    hold = row.holder(row.own.lock)
    row.holder(lambda: hold.on_lost(told))
    waiting = [row.rivals[0][0].begin(lambda: row.own.lock()), row.rivals[1][0].begin(lambda: row.other.lock(wait=30))]
    until_true(lambda: len(tree.queue(name)) >= 2, "a waiter in the server's queue")
    row.holder(row.clients[0].close)
    assert told.reason() == "closed"
    with pytest.raises(redlatch.ClosedError):
        waiting[0].result(10)
    row.rivals[1][0](waiting[1].result(10).release)
    for call in (row.own.lock, row.own.try_lock, row.own.is_locked, row.clients[0].ping):
        with pytest.raises(redlatch.ClosedError):
            row.holder(call)
    assert row.clients[0].closed


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


@pytest.mark.parametrize(
    "given", ["käse:€", "a//b", "..", "🔒", "n" * 60_000, "%s"], ids=lambda given: ascii(given)[:12]
)
def test_a_name_of_any_characters_is_a_lock(face: Face, tree: Tree, name: str, given: str) -> None:
    row = Row(face, tree.url, "lock", f"{name}/{given}")
    with row.holder.inside(row.own):
        assert row.rivals[1][0](row.other.try_lock) is None
        assert row.rivals[1][0](row.clients[1].lock(f"{name}/{given}x").is_locked) is False


def test_a_multi_lock_of_redis_and_zookeeper_excludes_the_clients_of_both(
    face: Face, tree: Tree, server: Server, view: View, name: str
) -> None:
    caller, other = face.caller(), face.caller()
    new, cache = face.client(tree.url), face.client(server.url)
    both = new.get_multi_lock(cache.lock(name), new.lock(name))
    with caller.inside(both) as hold:
        hold.ensure()
        assert len(tree.queue(name)) == 1
        assert view("EXISTS", name) == 1
        for url in (tree.url, server.url):
            assert other(face.client(url).lock(name).try_lock) is None
    for one in (new, cache):
        taken = other(one.lock(name).lock)
        assert caller(both.try_lock) is None
        waiting = caller.begin(lambda: both.lock(wait=30))
        other(taken.release)
        caller(waiting.result(20).release)
    assert view("EXISTS", name) == 0


def test_a_multi_lock_is_lost_with_its_member_on_zookeeper(face: Face, tree: Tree, server: Server, name: str) -> None:
    new, cache = face.client(tree.quick_url), face.client(server.url)
    caller, told = face.caller(), Told()
    hold = caller(new.get_multi_lock(new.lock(name), cache.lock(name)).lock)
    caller(lambda: hold.on_lost(told))
    tree.expire(tree.holder(name))
    assert told.reason() in ENDED
    with pytest.raises(redlatch.LockLostError):
        caller(hold.release)
    with caller.inside(cache.lock(name, wait=10)):
        pass


def test_the_urls_of_a_red_lock_may_be_of_several_systems(tree: Tree, own_server: Server, name: str) -> None:
    urls = [tree.url, own_server.url, f"{own_server.url}/1"]
    # A member that answers late is asked again at each renewal.
    lock, other = [redlatch.red_lock(urls, name, wait=20, watchdog=2) for _ in range(2)]
    with ThreadPoolExecutor() as pool, lock as hold:
        assert pool.submit(other.try_lock, wait=0).result() is None
        until_true(lambda: len(tree.queue(name)) == 1, "the lock at ZooKeeper")
        hold.ensure()
    with other as hold:
        hold.ensure()
    lock.client.close()
