"""The server of ZooKeeper that the tests start: what they see there, and what they can do to it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from kazoo.client import KazooState

from eventually import until_true
from zookeeper import Zookeeper, owner, queue


@pytest.fixture
def own_zookeeper() -> Iterator[Zookeeper]:
    """A server that the test may kill."""
    server = Zookeeper()
    yield server
    server.close()


def test_a_holder_and_its_waiters_stand_in_order_and_have_the_lock_one_after_the_other(
    zookeeper: Zookeeper, name: str
) -> None:
    with zookeeper.kazoo() as view, zookeeper.kazoo() as one, zookeeper.kazoo() as other:
        first, second = one.Lock(f"/{name}"), other.Lock(f"/{name}")
        assert queue(view, f"/{name}") == []
        assert first.acquire(timeout=10)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(second.acquire, timeout=30)
            until_true(lambda: len(queue(view, f"/{name}")) == 2, "a waiter")
            owners = [owner(view, f"/{name}/{node}") for node in queue(view, f"/{name}")]
            assert owners == [client.client_id[0] for client in (one, other)]
            assert not waiting.done()
            first.release()
            assert waiting.result(10), "the waiter was not woken"
        assert [owner(view, f"/{name}/{node}") for node in queue(view, f"/{name}")] == owners[1:]
        second.release()


def test_the_end_of_a_session_takes_its_lock_along(zookeeper: Zookeeper, name: str) -> None:
    with zookeeper.kazoo() as view, zookeeper.kazoo() as theirs:
        states: list[KazooState] = []
        theirs.add_listener(states.append)
        assert theirs.Lock(f"/{name}").acquire(timeout=10)
        (node,) = queue(view, f"/{name}")
        session = owner(view, f"/{name}/{node}")
        assert session is not None
        assert session in zookeeper.sessions()
        zookeeper.expire(session)
        until_true(lambda: queue(view, f"/{name}") == [], "a lock without a holder")
        assert session not in zookeeper.sessions()
        until_true(lambda: KazooState.LOST in states, "a holder that is told")


def test_a_killed_server_comes_back_with_its_nodes(own_zookeeper: Zookeeper) -> None:
    with own_zookeeper.kazoo() as theirs:
        theirs.create("/kept", b"data")
    own_zookeeper.kill()
    own_zookeeper.restart()
    with own_zookeeper.kazoo() as theirs:
        assert theirs.get("/kept")[0] == b"data"


def test_a_paused_server_answers_nothing_until_it_is_resumed(own_zookeeper: Zookeeper) -> None:
    own_zookeeper.pause()
    with pytest.raises(OSError, match="timed out"):
        own_zookeeper.word("srvr", within=0.1)
    own_zookeeper.resume()
    assert "Mode: standalone" in own_zookeeper.word("srvr")


def test_a_test_may_change_the_configuration() -> None:
    with closing(Zookeeper(["minSessionTimeout=4000"])) as server:
        assert "minSessionTimeout=4000" in server.word("conf")
