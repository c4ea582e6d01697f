"""Leaders, with threads and with tasks, on Redis, MariaDB and ZooKeeper."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from mariadb import Mariadb
from redlatch import Client, CurrentLeader, aio
from redlatch.aio import AsyncClient
from servers import Server
from view import View
from zookeeper import Tree


def test_one_leads_and_the_others_see_its_value_and_its_token(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    leader = client.leader(name, value="api-1:80")
    assert (leader.name, leader.value) == (name, "api-1:80")
    assert stranger.leader(name).current() is None
    with leader.lead() as term:
        assert term.token is not None
        term.ensure()
        assert stranger.leader(name).current() == CurrentLeader("api-1:80", term.token)
        assert stranger.leader(name).try_lead() is None
        with pytest.raises(redlatch.NotAcquiredError, match=name):
            stranger.leader(name).lead(wait=0.05)
        first = term.token
    assert stranger.leader(name).current() is None
    assert view("EXISTS", f"redlatch_leader:{{{name}}}") == 0
    term = stranger.leader(name).lead()
    assert term.token is not None
    assert term.token > first
    assert leader.current() == ("", term.token)
    term.release()
    with pytest.raises(redlatch.NotHeldError):
        term.release()


def test_a_candidate_leads_as_soon_as_the_leader_resigns(
    client: Client, stranger: Client, view: View, name: str, thread: ThreadPoolExecutor
) -> None:
    for candidate in (client, stranger):
        term = client.leader(name, value="one").lead()
        waiting = thread.submit(candidate.leader(name, value="two").lead, wait=20)
        until_true(lambda: view.listeners(name) == 1, "a candidate that listens")
        term.release()
        with waiting.result(20) as term:
            assert client.leader(name).current() == ("two", term.token)


def test_an_observer_gives_the_present_leader_and_each_change(
    client: Client, stranger: Client, view: View, name: str, thread: ThreadPoolExecutor
) -> None:
    observer = iter(stranger.leader(name).observe())
    assert next(observer) is None
    for value in ("one", "two"):
        waiting = thread.submit(next, observer)
        until_true(lambda: view.listeners(name) == 1, "an observer that listens")
        with client.leader(name, value=value).lead() as term:
            assert waiting.result(20) == (value, term.token)
            waiting = thread.submit(next, observer)
            until_true(lambda: view.listeners(name) == 1, "an observer that listens")
        assert waiting.result(20) is None


def test_a_leader_that_is_forced_out_is_told(client: Client, stranger: Client, name: str) -> None:
    told: list[str | None] = []
    lost = threading.Event()
    term = client.leader(name).lead()

    def tell(hold: redlatch.Hold, error: redlatch.LockLostError) -> None:
        told.append(error.reason)
        lost.set()

    term.on_lost(tell)
    assert stranger.get_lock(name).force_unlock()
    assert lost.wait(20)
    assert told == [term.lost_reason]
    assert term.lost
    assert stranger.leader(name).current() is None
    with pytest.raises(redlatch.LockLostError):
        term.release()


def test_a_value_that_cannot_be_kept_is_refused(client: Client, name: str) -> None:
    for value, words in (("x" * 65_537, "65537 bytes"), ("a\0b", "zero byte")):
        with pytest.raises(redlatch.ConfigError, match=words):
            client.leader(name, value=value).lead()
    with pytest.raises(redlatch.ConfigError, match="no UTF-8 form"):
        client.leader(name, value="\ud800")
    with pytest.raises(redlatch.ConfigError, match="must be a str"):
        client.leader(name, value=7)  # type: ignore[arg-type]
    with pytest.raises(redlatch.ConfigError, match="empty"):
        client.leader("").lead()
    with pytest.raises(redlatch.ConfigError, match="must be a str"):
        client.leader(None)  # type: ignore[arg-type]
    with client.leader(name, value="käse\n 1 ü").lead():
        present = client.leader(name).current()
        assert present is not None
        assert present.value == "käse\n 1 ü"


def test_a_lock_of_that_name_is_no_leader_of_ours(client: Client, name: str) -> None:
    with client.lock(name):
        assert client.leader(name).current() == CurrentLeader("", None)
        assert client.leader(name).try_lead() is None


def test_the_end_of_a_client_resigns_and_ends_its_observers(
    server: Server, stranger: Client, view: View, name: str, thread: ThreadPoolExecutor
) -> None:
    client = redlatch.connect(server.url)
    term = client.leader(name).lead()
    observer = client.leader(name).observe()
    next(observer)
    waiting = thread.submit(next, observer)
    until_true(lambda: view.listeners(name) == 1, "an observer that listens")
    client.close()
    with pytest.raises(redlatch.ClosedError):
        waiting.result(20)
    assert term.lost_reason == "closed"
    assert stranger.leader(name).current() is None


ELECT = """
import redlatch, sys
client = redlatch.connect(sys.argv[1] + "?watchdog=1")
term = client.leader(sys.argv[2], value="doomed").lead()
print("leads", flush=True)
sys.stdin.read()
"""


def test_another_process_leads_when_a_killed_one_has_no_lease_any_more(
    server: Server, client: Client, view: View, name: str
) -> None:
    program = [sys.executable, "-c", ELECT, server.url, name]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "leads\n"
        present = client.leader(name).current()
        assert present is not None
        assert present.value == "doomed"
        process.send_signal(signal.SIGKILL)
    with client.leader(name, value="next").lead(wait=20) as term:
        assert client.leader(name).current() == ("next", term.token)
    assert view("EXISTS", f"redlatch_leader:{{{name}}}") == 0


async def test_tasks_lead_one_at_a_time(aio_client: AsyncClient, client: Client, name: str) -> None:
    leader = aio_client.leader(name, value="task")
    assert await leader.current() is None
    async with await leader.lead() as term:
        assert client.leader(name).current() == ("task", term.token)
        assert await leader.try_lead() is None
        with pytest.raises(redlatch.NotAcquiredError):
            await leader.lead(wait=0.02)
        waiting = asyncio.create_task(aio_client.leader(name, value="other").lead())
        await asyncio.sleep(0)
    async with await waiting as other:
        assert other.token is not None
        assert term.token is not None
        assert other.token > term.token
        assert await leader.current() == CurrentLeader("other", other.token)
    assert await leader.current() is None


async def test_a_task_observes_and_a_cancelled_step_misses_nothing(aio_client: AsyncClient, name: str) -> None:
    observer = aio_client.leader(name).observe()
    assert await observer.__anext__() is None
    for _ in range(3):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(observer.__anext__(), 0.02)
    seen = []
    term = await aio_client.leader(name, value="x").lead()
    async for leader in observer:
        seen.append(None if leader is None else leader.value)
        if leader is not None:
            assert leader.token == term.token
            await term.release()
        elif len(seen) == 2:
            term = await aio_client.leader(name, value="y").lead()
        else:
            break
    assert seen == ["x", None, "y", None]


async def test_a_cancelled_candidate_leaves_nothing(
    aio_client: AsyncClient, client: Client, view: View, name: str
) -> None:
    with client.leader(name).lead():
        for _ in range(5):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(aio_client.leader(name).lead(), 0.02)
    assert await aio_client.leader(name).current() is None


async def test_an_observer_for_threads_does_not_stop_an_event_loop(client: Client, name: str) -> None:
    with pytest.raises(redlatch.UnsupportedError, match="event loop"):
        next(client.leader(name).observe())
    assert client.leader(name).current() is None


@pytest.mark.parametrize("node_format", ["curator", "kazoo"])
def test_a_leader_of_zookeeper_is_one_for_the_recipes_of_other_programs(
    tree: Tree, name: str, node_format: str
) -> None:
    with redlatch.connect(f"{tree.url}?node_format={node_format}") as client:
        with client.leader(name, value="ours").lead() as term:
            assert client.leader(name).current() == CurrentLeader("ours", term.token)
            if node_format == "kazoo":
                assert tree.kazoo.Election(f"/{name}").contenders() == ["ours"]
        if node_format == "kazoo":
            election = tree.kazoo.Election(f"/{name}", "theirs")
            with election.lock:
                present = client.leader(name).current()
                assert present is not None
                assert present.value == "theirs"
                assert client.leader(name).try_lead() is None


def test_a_leader_of_mariadb_has_the_lock_of_its_name_and_ends_with_its_session(mariadb: Mariadb, name: str) -> None:
    with redlatch.connect(mariadb.url) as client, mariadb.sql() as sql:
        observer = iter(client.leader(name).observe())
        assert next(observer) is None
        with client.leader(name, value="ours").lead() as term:
            assert client.leader(name).current() == CurrentLeader("ours", term.token) == next(observer)
            assert not sql.lock(name)
            assert client.leader(name).try_lead() is None
            assert client.lock(name).try_lock() is None
        assert next(observer) is None
        assert sql.lock(name)
        assert client.leader(name).current() == CurrentLeader("", None)
        assert sql.unlock(name)
        other = client.leader(name, value="lost").lead()
        assert other.token is not None
        assert term.token is not None
        assert other.token > term.token
        sql.kill(sql.holder(name))
        until_true(lambda: other.lost_reason == "session ended", "the loss")


async def test_tasks_lead_on_mariadb(mariadb: Mariadb, name: str) -> None:
    async with aio.connect(mariadb.url) as client:
        leader = client.leader(name, value="task")
        async with await leader.lead() as term:
            assert await leader.current() == CurrentLeader("task", term.token)
            for _ in range(5):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(leader.lead(), 0.02)
            waiting = asyncio.create_task(client.leader(name, value="next").lead())
        async with await waiting as following:
            assert await leader.current() == CurrentLeader("next", following.token)
        assert await leader.current() is None
