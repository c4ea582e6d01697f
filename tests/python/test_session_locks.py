"""The locks of every system with sessions, with threads and with tasks: every promise that they all keep."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import redlatch
from eventually import until_true
from faces import PATIENCE, Face
from servers import Server
from system import System
from systems import Row, every_lock, every_non_reentrant_lock, every_reentrant_lock, every_system
from told import Told
from view import View


@every_lock
def test_a_block_has_the_lock_from_its_begin_to_its_end(face: Face, system: System, name: str, get: str) -> None:
    row = Row(face, system.url, get, name)
    with row.holder.inside(row.own) as hold:
        hold.ensure()
        assert 0 < hold.remaining <= 30
        assert system.holder(name)
        for caller, lock in row.rivals:
            assert caller(lock.is_locked)
            assert caller(lock.try_lock) is None
            with pytest.raises(redlatch.NotHeldError):
                caller(lock.release)
        hold.ensure()
    assert system.holder(name) is None
    assert hold.remaining == 0
    for caller, lock in row.rivals:
        assert not caller(lock.is_locked)
        with caller.inside(lock):
            assert system.holder(name)


@every_lock
def test_a_body_that_fails_gives_the_lock_back(face: Face, system: System, name: str, get: str) -> None:
    row = Row(face, system.url, get, name)
    with pytest.raises(ZeroDivisionError), row.holder.inside(row.own):
        raise ZeroDivisionError
    assert system.holder(name) is None


@every_lock
def test_a_waiter_of_another_client_gets_the_lock_when_it_is_released(
    face: Face, system: System, name: str, get: str
) -> None:
    row = Row(face, system.url, get, name)
    waiter, lock = row.rivals[1]
    hold = row.holder(row.own.lock)
    before = system.holder(name)
    waiting = waiter.begin(lambda: lock.lock(wait=30))
    until_true(lambda: system.waiting(name) == 1, "a waiter in the server's queue")
    assert not waiting.done()
    row.holder(hold.release)
    taken = waiting.result(10)
    assert system.holder(name) not in (None, before)
    again = row.holder.begin(lambda: row.own.lock(wait=30))
    until_true(lambda: system.waiting(name) == 1, "a waiter in the server's queue")
    waiter(taken.release)
    row.holder(again.result(10).release)


@every_lock
def test_waiters_of_two_clients_have_the_lock_one_at_a_time_and_all_have_their_turns(
    face: Face, system: System, name: str, get: str
) -> None:
    row = Row(face, system.url, get, name)
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

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert turns == 8 * 10


@every_lock
def test_a_try_without_a_wait_tells_whether_the_lock_is_free(face: Face, system: System, name: str, get: str) -> None:
    row = Row(face, system.url, get, name)
    hold = row.holder(row.own.try_lock)
    for caller, lock in row.rivals:
        assert caller(lock.try_lock) is None
        assert caller(partial(lock.acquire, False)) is None
        with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`"):
            caller(partial(lock.lock, wait=0))
    row.holder(hold.release)
    for caller, lock in row.rivals:
        caller(caller(lock.try_lock).release)


@every_system
def test_tries_without_a_wait_that_follow_each_other_at_once_are_all_answered_at_once(
    face: Face, system: System, name: str
) -> None:
    row = Row(face, system.url, "lock", name)
    caller, lock = row.rivals[1]
    with row.holder.inside(row.own):
        tries = caller.again(lock.try_lock, 200)
    assert {hold for hold, _ in tries} == {None}
    assert max(took for _, took in tries) < 2, "a try took as long as a call may stay unanswered"


@every_lock
def test_a_wait_that_runs_out_is_told_and_leaves_no_waiter(face: Face, system: System, name: str, get: str) -> None:
    row = Row(face, system.url, get, name)
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
        until_true(lambda: system.waiting(name) == 0, "no waiter in the server's queue")
        hold.ensure()


@every_reentrant_lock
def test_an_owner_holds_a_reentrant_lock_as_often_as_it_took_it(
    face: Face, system: System, name: str, get: str
) -> None:
    row = Row(face, system.url, get, name)
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
    assert system.holder(name) is None
    with pytest.raises(redlatch.NotHeldError):
        row.holder(row.own.unlock)


@every_non_reentrant_lock
def test_an_owner_that_takes_a_non_reentrant_lock_twice_is_told_and_keeps_it(
    face: Face, system: System, name: str, get: str
) -> None:
    row = Row(face, system.url, get, name)
    with row.holder.inside(row.own) as hold:
        for call in (row.own.lock, row.own.try_lock, lambda: row.own.lock(wait=5)):
            with pytest.raises(redlatch.AlreadyHeldError, match=f"`{name}`"):
                row.holder(call)
        hold.ensure()
        assert system.holder(name)
        assert system.waiting(name) == 0


@every_system
def test_each_acquire_of_client_lock_excludes_every_other_one_and_any_caller_may_release_it(
    face: Face, system: System, name: str
) -> None:
    row = Row(face, system.url, "lock", name)
    hold = row.holder(row.own.lock)
    assert row.holder(row.own.try_lock) is None
    waiting = row.holder.begin(lambda: row.own.lock(wait=20))
    row.rivals[0][0](hold.release)
    row.holder(waiting.result(10).release)


@every_system
def test_a_fenced_lock_has_a_greater_number_for_each_hold_of_any_client(face: Face, system: System, name: str) -> None:
    row = Row(face, system.url, "get_fenced_lock", name)
    tokens = []
    for caller, lock in [(row.holder, row.own), *row.rivals, (row.holder, row.own)]:
        with caller.inside(lock) as hold:
            tokens.append(hold.token)
            assert caller(lock.get_token) == hold.token
    assert tokens == sorted(set(tokens))
    assert tokens[0] > 0


@every_system
def test_a_multi_lock_that_spans_systems_excludes_the_clients_of_both(
    face: Face, system: System, server: Server, view: View, name: str
) -> None:
    caller, other = face.caller(), face.caller()
    new, cache = face.client(system.url), face.client(server.url)
    both = new.get_multi_lock(cache.lock(name), new.lock(name))
    with caller.inside(both) as hold:
        hold.ensure()
        assert system.holder(name)
        assert view("EXISTS", name) == 1
        for url in (system.url, server.url):
            assert other(face.client(url).lock(name).try_lock) is None
    assert (system.holder(name), view("EXISTS", name)) == (None, 0)
    for one in (new, cache):
        with caller.inside(one.lock(name)):
            assert other(both.try_lock) is None
        assert (system.holder(name), view("EXISTS", name)) == (None, 0)


@every_system
def test_a_multi_lock_waits_for_the_member_that_is_taken(face: Face, system: System, server: Server, name: str) -> None:
    caller, other = face.caller(), face.caller()
    new, cache = face.client(system.url), face.client(server.url)
    both = new.get_multi_lock(new.lock(name), cache.lock(name))
    for one in (new, cache):
        taken = other(one.lock(name).lock)
        waiting = caller.begin(lambda: both.lock(wait=30))
        assert other(both.try_lock) is None
        other(taken.release)
        caller(waiting.result(20).release)


@every_system
def test_a_multi_lock_is_lost_with_its_member(face: Face, system: System, server: Server, name: str) -> None:
    new, cache = face.client(system.quick_url), face.client(server.url)
    caller, told = face.caller(), Told()
    hold = caller(new.get_multi_lock(new.lock(name), cache.lock(name)).lock)
    caller(lambda: hold.on_lost(told))
    system.end(system.holder(name))
    assert told.reason() in system.ENDED
    with pytest.raises(redlatch.LockLostError):
        caller(hold.release)
    with caller.inside(cache.lock(name, wait=10)):
        pass


@every_system
def test_a_red_lock_that_spans_systems_is_held_by_a_majority(
    face: Face, system: System, server: Server, own_server: Server, name: str
) -> None:
    caller, other = face.caller(), face.caller()
    clients = [face.client(url) for url in (system.url, server.url, own_server.url)]
    red = clients[0].get_red_lock(*(client.get_lock(name) for client in clients))
    with caller.inside(red) as hold:
        hold.ensure()
        assert other(red.try_lock) is None
    system.check_empty()
    # Any two of the three servers are enough.
    for one in clients:
        with other.inside(one.lock(name)), caller.inside(red) as hold:
            hold.ensure()
    with other.inside(clients[0].lock(name)), other.inside(clients[1].lock(name)):
        assert caller(red.try_lock) is None


@every_system
def test_the_urls_of_a_red_lock_may_be_of_several_systems(system: System, own_server: Server, name: str) -> None:
    urls = [system.url, own_server.url, f"{own_server.url}/1"]
    # A member that answers late is asked again at each renewal.
    lock, other = [redlatch.red_lock(urls, name, wait=20, watchdog=2) for _ in range(2)]
    with ThreadPoolExecutor() as pool, lock as hold:
        assert pool.submit(other.try_lock, wait=0).result() is None
        until_true(lambda: system.holder(name) is not None, "the lock at the server with sessions")
        hold.ensure()
    with other as hold:
        hold.ensure()
    for one in (lock, other):
        one.client.close()


@every_system
def test_a_lease_of_its_own_ends_in_time_and_is_told(face: Face, system: System, name: str) -> None:
    row = Row(face, system.url, "lock", name)
    told = Told()
    hold = row.holder(lambda: row.own.lock(lease=0.5))
    assert 0 < hold.remaining <= 0.5
    row.holder(lambda: hold.on_lost(told))
    other, lock = row.rivals[1]
    taken = other(lambda: lock.lock(wait=20))
    assert told.reason() == "expired"
    assert hold.lost
    with pytest.raises(redlatch.LockLostError, match="expired"):
        row.holder(hold.release)
    taken.ensure()
    other(taken.release)


@every_system
def test_a_hold_without_a_lease_outlasts_the_watchdogs_time(face: Face, system: System, name: str) -> None:
    client, caller = face.client(system.url, watchdog=1), face.caller()
    with caller.inside(client.lock(name)) as hold:
        first = hold.deadline
        until_true(lambda: hold.deadline > first + 1.5, "three signs of life")
        hold.ensure()
        assert system.holder(name)


@every_lock
def test_a_holder_is_told_at_once_when_its_session_ends(face: Face, system: System, name: str, get: str) -> None:
    row = Row(face, system.quick_url, get, name)
    told = Told()
    hold = row.holder(row.own.lock)
    row.holder(lambda: hold.on_lost(told))
    system.end(system.holder(name))
    reason = told.reason()
    assert reason in system.ENDED
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


@every_system
def test_a_forced_release_frees_the_lock_and_tells_its_holder(face: Face, system: System, name: str) -> None:
    row = Row(face, system.url, "get_lock", name)
    for (caller, lock), reason in zip(row.rivals, system.FORCED):
        told = Told()
        hold = row.holder(row.own.lock)
        row.holder(partial(hold.on_lost, told))
        assert caller(lock.force_unlock)
        assert told.reason() == reason
        assert not caller(lock.force_unlock)
        system.check_empty()
        with pytest.raises(redlatch.LockLostError):
            row.holder(row.own.unlock)


@every_lock
def test_a_client_that_closes_gives_its_locks_back_and_answers_its_waiters(
    face: Face, system: System, name: str, get: str
) -> None:
    row = Row(face, system.url, get, name)
    told = Told()
    hold = row.holder(row.own.lock)
    row.holder(lambda: hold.on_lost(told))
    waiting = [row.rivals[0][0].begin(lambda: row.own.lock()), row.rivals[1][0].begin(lambda: row.other.lock(wait=30))]
    until_true(lambda: system.waiting(name) >= 1, "a waiter in the server's queue")
    row.holder(row.clients[0].close)
    assert told.reason() == "closed"
    with pytest.raises(redlatch.ClosedError):
        waiting[0].result(10)
    row.rivals[1][0](waiting[1].result(10).release)
    for call in (row.own.lock, row.own.try_lock, row.own.is_locked, row.clients[0].ping):
        with pytest.raises(redlatch.ClosedError):
            row.holder(call)
    assert row.clients[0].closed
    assert system.holder(name) is None


@every_system
def test_a_prefix_stands_before_the_name_on_the_server_and_in_no_error(face: Face, system: System, name: str) -> None:
    caller, client = face.caller(), face.client(system.url, prefix="shop:")
    with caller.inside(client.get_non_reentrant_lock(name)) as hold:
        assert hold.name == name
        assert system.holder(f"shop:{name}")
        with pytest.raises(redlatch.AlreadyHeldError) as told:
            caller(client.get_non_reentrant_lock(name).lock)
        assert "shop:" not in str(told.value)


@every_system
@pytest.mark.parametrize(
    "given",
    ["käse:€", "a b'c\\\"d`;--", "a//b", "..", "🔒", "n" * 60_000, "%s %(x)s"],
    ids=lambda given: ascii(given)[:12],
)
def test_a_name_of_any_characters_is_a_lock(face: Face, system: System, name: str, given: str) -> None:
    row = Row(face, system.url, "lock", f"{name}/{given}")
    with row.holder.inside(row.own):
        assert row.rivals[1][0](row.other.try_lock) is None
        assert row.rivals[1][0](row.clients[1].lock(f"{name}/{given}x").is_locked) is False
