"""Jobs, with threads, with tasks and with processes: of all nodes one runs each period."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import loops
import redlatch
from cancelling import cancel_at_random
from eventually import until, until_true
from mariadb import Mariadb
from program import run
from redlatch import Client, JobRun, JobStats, aio
from redlatch.aio import AsyncClient
from servers import Server
from view import View

#: What another program writes into the key of a job that it takes.
THEIRS = "ADDED:2026-11-27T00:00:00Z@theirs"


def key(name: str, env: str = "default") -> str:
    return f"job-lock:{env}:{name}"


def pttl(view: View, name: str) -> int:
    """The ms that the server keeps the lock of a job; -2: it is free."""
    left = view("PTTL", key(name))
    assert isinstance(left, int)
    return left


def take_over(view: View, name: str) -> None:
    view("DEL", key(name))
    assert view("SET", key(name), THEIRS, "NX", "PX", "60000") == "OK"


def fails() -> None:
    raise KeyError("mine")


def skips(client: Client, name: str) -> bool:
    """Whether a client skips the job."""
    return client.job(name, at_most=60).run(int).outcome == "skipped"


def test_one_node_runs_the_others_skip_and_the_answers_are_counted(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    job, other = client.job(name, at_most=60), stranger.job(name, at_most=timedelta(minutes=1))

    def work(first: int, *, second: int) -> int:
        assert view("TYPE", key(name)) == "string"
        assert 0 < pttl(view, name) <= 60_000
        skipped = other.run(fails)
        assert (skipped.outcome, skipped.value, skipped.loss, bool(skipped)) == ("skipped", None, None, False)
        assert skips(client, name)
        return first + second

    ran = job.run(work, 1, second=2)
    assert (ran.outcome, ran.value, ran.loss, bool(ran)) == ("ran", 3, None, True)
    assert ran == JobRun("ran", 3) != JobRun("skipped")
    assert len({ran, JobRun("ran", 3)}) == 1
    assert repr(ran) == "<redlatch.JobRun ran, value 3, loss None>"
    assert view("EXISTS", key(name)) == 0
    assert other.run(len, "four").value == 4
    assert (job.stats(), other.stats()) == (JobStats(1, 0, 0), JobStats(1, 1, 0))
    assert client.stats().held == 0
    assert job.name == name
    assert f"redlatch.Job '{name}' of " in repr(job)


def test_a_job_that_runs_inside_itself_is_skipped_and_others_run(client: Client, view: View, name: str) -> None:
    job, inner = client.job(name, at_most=60), client.job(f"{name}:inner", at_most=60)

    def nested() -> tuple[str, str]:
        outer = job.hold
        within = inner.run(lambda: (inner.hold.name, job.hold is outer, job.run(fails).outcome))
        assert within.value == (key(f"{name}:inner"), True, "skipped")
        assert job.hold is outer
        return outer.name, client.job(name, at_most=60, env="test").run(view, "EXISTS", key(name, "test")).outcome

    assert job.run(nested).value == (key(name), "ran")
    assert (job.stats(), inner.stats()) == (JobStats(1, 1, 0), JobStats(1, 0, 0))


def test_the_hold_is_that_of_the_run_in_progress(client: Client, name: str, thread: ThreadPoolExecutor) -> None:
    job = client.job(name, at_most=60)

    def work() -> redlatch.Hold:
        job.hold.ensure()
        with pytest.raises(redlatch.NotHeldError, match=f"`{name}` does not run in this thread"):
            thread.submit(lambda: job.hold).result()
        with pytest.raises(redlatch.NotHeldError):
            _ = client.job(name, at_most=60).hold
        return job.hold

    hold = job.run(work).value
    assert hold is not None
    with pytest.raises(redlatch.NotHeldError, match="was released"):
        hold.ensure()
    assert not hold.lost
    with pytest.raises(redlatch.NotHeldError, match="does not run"):
        _ = job.hold


def test_work_may_end_its_hold_early(client: Client, stranger: Client, view: View, name: str) -> None:
    job = client.job(name, at_most=60, at_least=50)

    def work() -> bool:
        job.hold.release()
        return stranger.job(name, at_most=60).run(lambda: 1).value == 1

    assert job.run(work) == JobRun("ran", True)
    assert view("EXISTS", key(name)) == 0


@pytest.mark.parametrize("fault", [False, True], ids=["ran", "failed"])
def test_the_lock_stays_for_what_is_missing_of_at_least(
    server: Server, stranger: Client, view: View, name: str, fault: bool
) -> None:
    took: list[float] = []

    def work() -> None:
        begun = time.monotonic()
        threading.Event().wait(0.3)
        took.append(time.monotonic() - begun)
        if fault:
            raise KeyError("mine")

    with redlatch.connect(server.url) as client:
        job = client.job(name, at_most=100, at_least=50)
        before = time.monotonic()
        if fault:
            with pytest.raises(KeyError, match="mine"):
                job.run(work)
        else:
            assert job.run(work)
        left = pttl(view, name)
        total = time.monotonic() - before
        # The lock began after `before`, and before the work.
        assert 50_000 - total * 1000 - 5 <= left <= 50_000 - took[0] * 1000 + (total - took[0]) * 1000 + 5
        assert client.stats().held == 0
        assert job.stats() == JobStats(1, 0, 0)
    # The end of the client does not free it.
    assert skips(stranger, name)


def test_other_nodes_skip_until_at_least_is_over(client: Client, stranger: Client, view: View, name: str) -> None:
    other = stranger.job(name, at_most=60)
    before = time.monotonic()
    assert client.job(name, at_most=60, at_least=0.5).run(int)
    until_true(lambda: bool(other.run(int)), "the end of at_least")
    assert time.monotonic() - before >= 0.495
    assert other.stats().ran == 1
    # No key lives for less than a millisecond.
    view("DEL", key(name))
    assert client.job(name, at_most=60, at_least=1e-9).run(int).outcome == "ran"
    until_true(lambda: not view("EXISTS", key(name)), "the end of the key")


def test_work_that_takes_longer_than_at_most_is_renewed(
    client: Client, stranger: Client, view: View, name: str, thread: ThreadPoolExecutor
) -> None:
    job = client.job(name, at_most=1)
    never = threading.Event()
    begun = threading.Event()

    def work() -> int:
        begun.set()
        never.wait(2.5)
        job.hold.ensure()
        return 5

    running = thread.submit(job.run, work)
    assert begun.wait(20)
    looks = 0
    while not running.done():
        looks += 1
        if stranger.job(name, at_most=60).run(int):
            break  # the end of the work has made it free, else the work has an error
        never.wait(0.02)
    assert looks > 2
    assert running.result(20) == JobRun("ran", 5)
    assert job.stats() == JobStats(1, 0, 0)
    assert view("EXISTS", key(name)) == 0


def test_an_error_of_the_work_reaches_the_caller_and_ends_the_run(client: Client, view: View, name: str) -> None:
    job = client.job(name, at_most=60)
    for error in (KeyError("mine"), KeyboardInterrupt(), SystemExit(3), GeneratorExit()):

        def work(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)) as raised:
            job.run(work)
        assert raised.value is error
        assert view("EXISTS", key(name)) == 0
    assert job.stats() == JobStats(4, 0, 0)
    assert client.stats().held == 0


@pytest.mark.parametrize("at_least", [0, 30])
def test_a_run_whose_lock_is_taken_over_is_lost_and_its_end_leaves_the_lock(
    client: Client, view: View, name: str, at_least: int
) -> None:
    job = client.job(name, at_most=60, at_least=at_least)

    def work() -> int:
        take_over(view, name)
        return 7

    ran = job.run(work)
    assert (ran.outcome, ran.value, bool(ran)) == ("lost", 7, True)
    assert isinstance(ran.loss, redlatch.LockLostError)
    assert ran.loss.reason == "taken over"
    assert view("GET", key(name)) == THEIRS
    assert job.stats() == JobStats(0, 0, 1)


def test_work_is_told_of_a_loss(client: Client, view: View, name: str) -> None:
    job = client.job(name, at_most=0.9, at_least=0.5)
    told = threading.Event()

    def work() -> redlatch.Hold:
        job.hold.on_lost(lambda hold, error: told.set())
        view("DEL", key(name))
        assert told.wait(20)
        with pytest.raises(redlatch.LockLostError):
            job.hold.ensure()
        return job.hold

    ran = job.run(work)
    assert ran.loss is not None
    assert ran.value is not None
    assert ran.value.lost_reason == ran.loss.reason == "deleted"
    assert view("EXISTS", key(name)) == 0


def test_an_error_of_work_that_lost_its_lock_reaches_the_caller_with_a_note(
    client: Client, view: View, name: str
) -> None:
    job = client.job(name, at_most=60)

    def work() -> None:
        take_over(view, name)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as raised:
        job.run(work)
    if sys.version_info >= (3, 11):
        (note,) = raised.value.__notes__
        assert name in note
    assert job.stats() == JobStats(0, 0, 1)

    def ask() -> None:
        take_over(view, name)
        job.hold.wait_lost(20)
        job.hold.ensure()

    view("DEL", key(name))
    job = client.job(name, at_most=0.9)
    with pytest.raises(redlatch.LockLostError) as lost:
        job.run(ask)
    assert not hasattr(lost.value, "__notes__")
    assert job.stats() == JobStats(0, 0, 1)


def test_the_end_of_a_client_ends_its_runs(server: Server, stranger: Client, view: View, name: str) -> None:
    client = redlatch.connect(server.url)
    job = client.job(name, at_most=60, at_least=50)
    ran = job.run(client.close)
    assert ran.loss is not None
    assert (ran.outcome, ran.loss.reason) == ("lost", "closed")
    assert view("EXISTS", key(name)) == 0
    with pytest.raises(redlatch.ClosedError):
        job.run(int)
    assert job.stats() == JobStats(0, 0, 1)


def test_the_end_of_a_run_that_the_server_does_not_hear_of_is_no_error(own_server: Server, name: str) -> None:
    with redlatch.connect(f"{own_server.url}?response_timeout=0.2&retry_for=0") as client:

        def work() -> int:
            own_server.pause()
            return 5

        try:
            assert client.job(name, at_most=60, at_least=50).run(work) == JobRun("ran", 5)
        finally:
            own_server.resume()
        with own_server.view() as view:
            assert pttl(view, name) > 0


def test_a_decorated_function_runs_as_the_job_and_stays_itself(client: Client, stranger: Client, name: str) -> None:
    @client.job(name, at_most=600, at_least=50)
    def report(extra: int, *, more: int = 0) -> int:
        """Reports."""
        return extra + more

    assert report(1, more=2).value == 3
    assert report(1).outcome == "skipped"
    assert skips(stranger, name)
    assert (report.__name__, report.__doc__) == ("report", "Reports.")
    assert list(inspect.signature(report).parameters) == ["extra", "more"]


def test_methods_are_decorated_and_know_their_object(client: Client, name: str) -> None:
    job = client.job(name, at_most=600)

    class Shop:
        site = "north"

        @job
        def report(self, work: str) -> str:
            return f"{work} of {self.site}"

    assert Shop().report("work").value == "work of north"
    assert job.stats() == JobStats(1, 0, 0)


async def coroutine() -> None: ...


def generator() -> Iterator[int]:
    yield 1


def test_work_whose_body_runs_after_the_call_is_refused(client: Client, view: View, name: str) -> None:
    job = client.job(name, at_most=60)
    work: Any
    for work in (coroutine, generator):
        with pytest.raises(redlatch.UnsupportedError, match=r"redlatch\.aio"):
            job.run(work)
        with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
            job(work)
    assert job.stats() == JobStats(0, 0, 0)
    for late in (lambda: coroutine(), lambda: generator()):
        with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
            job.run(late)
    assert job.stats() == JobStats(2, 0, 0)
    for work in (None, "report", 5):
        with pytest.raises(TypeError, match="the work of the job"):
            job.run(work)
        with pytest.raises(redlatch.ConfigError, match="decorates functions"):
            job(work)
    assert view("EXISTS", key(name)) == 0


def test_a_job_that_cannot_be_is_refused_with_a_remedy(client: Client, aio_client: AsyncClient, name: str) -> None:
    for one in (client, aio_client):
        make: Any = one.job
        with pytest.raises(redlatch.ConfigError, match=r"at_least=6 s and at_most=5 s; let at_least be no longer than"):
            make(name, at_most=5, at_least=timedelta(seconds=6))
        with pytest.raises(redlatch.ConfigError, match="name of a job is empty; give"):
            make("", at_most=5)
        with pytest.raises(redlatch.ConfigError, match="env is empty; give"):
            make(name, at_most=5, env="")
        with pytest.raises(redlatch.ConfigError, match="at_most is 0 s"):
            make(name, at_most=0)
        for wrong in ({"at_most": None}, {"at_most": "5"}, {"at_most": 5, "at_least": None}, {"at_most": 5, "env": 1}):
            with pytest.raises(TypeError):
                make(name, **wrong)
        with pytest.raises(TypeError, match="at_most"):
            make(name)
        assert make(name, at_most=5, at_least=5).name == name


def test_a_server_without_such_locks_says_so(mariadb: Mariadb, name: str) -> None:
    with redlatch.connect(mariadb.url) as client:
        job = client.job(name, at_most=60)
        with pytest.raises(redlatch.UnsupportedError, match="token"):
            job.run(int)
        assert job.stats() == JobStats(0, 0, 0)


def test_the_prefix_of_a_client_is_before_the_name(server: Server, view: View, name: str) -> None:
    with redlatch.connect(server.url, prefix="mine:") as client:
        assert client.job(name, at_most=60, at_least=50).run(int)
    assert view("EXISTS", f"mine:{key(name)}") == 1


def test_a_fork_inside_the_work_leaves_the_run_to_the_parent(server: Server, view: View, name: str) -> None:
    program = """
import os, sys, redlatch
client = redlatch.connect(sys.argv[1])
job = client.job(sys.argv[2], at_most=60)

def work():
    child = os.fork()
    if child == 0:
        return "child"
    assert os.waitpid(child, 0)[1] == 0
    job.hold.ensure()
    return "parent"

try:
    ran = job.run(work)
except redlatch.NotHeldError as error:
    assert "forked" in str(error), error
    os._exit(0)
assert (ran.value, ran.loss) == ("parent", None)
print("done")
"""
    ended = run(program, server.url, name)
    assert (ended.stdout, ended.stderr) == ("done\n", "")
    assert view("EXISTS", key(name)) == 0


def test_threads_share_a_job(client: Client, name: str) -> None:
    job = client.job(name, at_most=60)
    inside: list[str] = []

    def work() -> int:
        inside.append("a run")
        most = len(inside)
        inside.pop()
        return most

    with ThreadPoolExecutor(4) as pool:
        runs = [call.result() for call in [pool.submit(job.run, work) for _ in range(200)]]
    assert {one.value for one in runs if one} == {1}
    stats = job.stats()
    assert stats.ran == len([one for one in runs if one])
    assert stats == JobStats(stats.ran, 200 - stats.ran, 0)


def test_a_greenlet_runs_jobs_without_a_wait(server: Server, name: str) -> None:
    program = """
from gevent import monkey
monkey.patch_all()
import sys, gevent, redlatch
client = redlatch.connect(sys.argv[1])
job = client.job(sys.argv[2], at_most=60)

def work():
    mine = job.hold
    gevent.sleep(0.01)
    assert job.hold is mine
    return 1

runs = [gevent.spawn(job.run, work) for _ in range(5)]
gevent.joinall(runs, raise_error=True)
assert sorted(run.value.outcome for run in runs) == ["ran"] + ["skipped"] * 4
print("done")
"""
    pytest.importorskip("gevent")
    ended = run(program, server.url, name)
    assert ended.stdout == "done\n", ended.stderr


INTERRUPTED = """
import itertools, sys, redlatch
client = redlatch.connect(sys.argv[1])
job = client.job(sys.argv[2], at_most=600)

@job
def decorated():
    job.hold.ensure()

ways = itertools.cycle([decorated, lambda: job.run(int), lambda: job.run(decorated)])
while True:
    try:
        print("busy", flush=True)
        while True:
            next(ways)()
    except KeyboardInterrupt:
        pass
    print("holds", client.stats().held, flush=True)
    sys.stdin.readline()
"""


def test_ctrl_c_at_any_moment_leaves_no_lock(own_server: Server, name: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, own_server.url, name]
    with (
        own_server.view() as view,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(150):
            assert child.stdout.readline() == "busy\n"
            time.sleep(random.uniform(0, 0.003))
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "holds 0\n"
            assert view("EXISTS", key(name)) == 0
            child.stdin.write("\n")
        child.kill()


# Tasks


@pytest.mark.usefixtures("every_loop")
async def test_tasks_run_jobs_as_threads_do(
    aio_client: AsyncClient, client: Client, stranger: Client, view: View, name: str
) -> None:
    job = aio_client.job(name, at_most=60)

    async def work(first: int, *, second: int) -> int:
        job.hold.ensure()
        assert job.hold.name == key(name)
        assert skips(client, name)
        assert (await job.run(work, 3, second=4)).outcome == "skipped"
        # A task that the work starts has the run of its work.
        assert await asyncio.create_task(asyncio.wait_for(ask(), 20)) is job.hold
        return first + second

    async def ask() -> aio.Hold:
        return job.hold

    assert await job.run(work, 1, second=2) == JobRun("ran", 3)
    assert view("EXISTS", key(name)) == 0
    with pytest.raises(redlatch.NotHeldError, match="does not run in this task"):
        _ = job.hold

    with stranger.get_token_lock(key(name), lease=60, owner=redlatch.EACH):
        assert not await job.run(work, 1, second=2)
    assert job.stats() == JobStats(1, 2, 0)
    assert f"redlatch.aio.Job '{name}' of " in repr(job)


async def test_the_lock_of_a_task_stays_for_what_is_missing_of_at_least(
    aio_client: AsyncClient, client: Client, view: View, name: str
) -> None:
    job = aio_client.job(name, at_most=100, at_least=50)

    async def work() -> float:
        begun = time.monotonic()
        await asyncio.sleep(0.3)
        return time.monotonic() - begun

    before = time.monotonic()
    took = (await job.run(work)).value
    assert took is not None
    left = pttl(view, name)
    total = time.monotonic() - before
    assert 50_000 - total * 1000 - 5 <= left <= 50_000 - took * 1000 + (total - took) * 1000 + 5
    assert skips(client, name)


async def test_work_of_a_task_that_takes_longer_than_at_most_is_renewed(
    aio_client: AsyncClient, client: Client, name: str
) -> None:
    job = aio_client.job(name, at_most=1)
    other = aio_client.job(name, at_most=60)

    async def work() -> int:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            assert not await other.run(coroutine)
            job.hold.ensure()
            await asyncio.sleep(0.02)
        return 5

    assert await job.run(work) == JobRun("ran", 5)
    assert job.stats() == JobStats(1, 0, 0)


@pytest.mark.usefixtures("every_loop")
async def test_work_of_a_task_is_cancelled_at_a_loss(aio_client: AsyncClient, view: View, name: str) -> None:
    job = aio_client.job(name, at_most=0.9, at_least=0.5)
    ended: list[str] = []

    async def work(swallows: bool) -> str:
        try:
            take_over(view, name)
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            ended.append("cancelled")
            if not swallows:
                raise
        return "swallowed"

    for swallows in (False, True):
        ran = await job.run(work, swallows)
        assert (ran.outcome, ran.value) == ("lost", "swallowed" if swallows else None)
        assert ran.loss is not None
        assert ran.loss.reason == "taken over"
        assert view("GET", key(name)) == THEIRS
        view("DEL", key(name))
    assert ended == ["cancelled"] * 2
    assert job.stats() == JobStats(0, 0, 2)

    async def fails_then() -> None:
        try:
            await work(False)
        finally:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await job.run(fails_then)
    assert job.stats() == JobStats(0, 0, 3)


@pytest.mark.usefixtures("every_loop")
async def test_a_cancelled_task_leaves_no_lock_and_is_cancelled(
    aio_client: AsyncClient, client: Client, view: View, name: str
) -> None:
    job = aio_client.job(name, at_most=60)
    begun = asyncio.Event()
    ended: list[str] = []

    async def work(cleans: str) -> str:
        begun.set()
        try:
            return str(await asyncio.get_running_loop().create_future())
        finally:
            assert pttl(view, name) > 0
            await asyncio.sleep(0)
            ended.append(cleans)
            if cleans == "fails":
                raise KeyError("mine")
            if cleans == "swallows":
                return "swallowed"  # noqa: B012

    for cleans, error in (
        ("raises", asyncio.CancelledError),
        ("swallows", asyncio.CancelledError),
        ("fails", KeyError),
    ):
        begun.clear()
        running = asyncio.create_task(job.run(work, cleans))
        await begun.wait()
        running.cancel()
        with pytest.raises(error):
            await running
        assert ended.pop() == cleans
        assert view("EXISTS", key(name)) == 0
    assert job.stats() == JobStats(3, 0, 0)
    begun.clear()
    running = asyncio.create_task(aio_client.job(name, at_most=60, at_least=50).run(work, "raises"))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert 0 < pttl(view, name) <= 50_000
    view("DEL", key(name))
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(aio_client.job(name, at_most=60).run(work, "raises"), 0.1)
    assert view("EXISTS", key(name)) == 0


@pytest.mark.usefixtures("every_loop")
async def test_a_run_that_is_cancelled_at_any_moment_leaves_no_lock(
    aio_client: AsyncClient, view: View, name: str
) -> None:
    job = aio_client.job(name, at_most=600)
    for turns in range(40):
        running = asyncio.create_task(job.run(asyncio.sleep, turns % 2 / 1000))
        for _ in range(turns):
            await asyncio.sleep(0)
        is_cancelled = running.cancel()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert running.cancelled() == is_cancelled
    await cancel_at_random([lambda: job.run(asyncio.sleep, 0), lambda: job.run(asyncio.sleep, 0.001)])

    async def is_over() -> bool:
        # The acquires of cancelled runs go on to their ends, and are given back. The key may be gone in between.
        stats = aio_client.stats()
        return stats.waiting == 0 and stats.held == 0 and view("EXISTS", key(name)) == 0

    await loops.until(is_over, "the release of the last run")


async def test_work_that_cancels_itself_is_no_loss(aio_client: AsyncClient, view: View, name: str) -> None:
    job = aio_client.job(name, at_most=60)

    async def work() -> None:
        raise asyncio.CancelledError("mine")

    with pytest.raises(asyncio.CancelledError):
        await job.run(work)

    async def release() -> str:
        await job.hold.release()
        await asyncio.sleep(0.01)
        return "free"

    assert await job.run(release) == JobRun("ran", "free")
    assert view("EXISTS", key(name)) == 0
    assert job.stats() == JobStats(2, 0, 0)


async def test_an_error_of_a_coroutine_reaches_the_caller(aio_client: AsyncClient, view: View, name: str) -> None:
    job = aio_client.job(name, at_most=60)

    async def work(wrong: bool) -> None:
        if wrong:
            take_over(view, name)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await job.run(work, False)
    assert view("EXISTS", key(name)) == 0
    without_arguments: Any = work
    with pytest.raises(TypeError, match="wrong"):
        await job.run(without_arguments)
    assert view("EXISTS", key(name)) == 0
    assert job.stats() == JobStats(2, 0, 0)
    with pytest.raises(KeyError, match="mine") as raised:
        await job.run(work, True)
    if sys.version_info >= (3, 11):
        assert len(raised.value.__notes__) == 1
    assert job.stats() == JobStats(2, 0, 1)


async def test_coroutine_functions_are_decorated_and_others_refused(
    aio_client: AsyncClient, view: View, name: str
) -> None:
    job = aio_client.job(name, at_most=600, at_least=50)

    @job
    async def report(extra: int, *, more: int = 0) -> int:
        """Reports."""
        return extra + more

    assert inspect.iscoroutinefunction(report)
    assert (report.__name__, report.__doc__) == ("report", "Reports.")
    assert (await report(1, more=2)).value == 3
    assert not await report(1)
    work: Any
    for work in (len, generator, lambda: coroutine()):
        with pytest.raises(redlatch.UnsupportedError, match="no coroutine function"):
            await job.run(work)
        with pytest.raises(redlatch.UnsupportedError, match=r"redlatch\.connect"):
            job(work)
    for work in (None, 5):
        with pytest.raises(TypeError, match="the work of the job"):
            await job.run(work)
    assert job.stats() == JobStats(1, 1, 0)
    view("DEL", key(name))

    async def late() -> Any:
        return coroutine()

    with pytest.raises(redlatch.UnsupportedError, match="await it inside"):
        await job.run(late)


async def test_the_end_of_an_asyncio_client_ends_its_runs(server: Server, view: View, name: str) -> None:
    client = aio.connect(server.url)
    job = client.job(name, at_most=60, at_least=50)

    async def work() -> None:
        await client.close()
        await asyncio.get_running_loop().create_future()

    ran = await job.run(work)
    assert ran.loss is not None
    assert (ran.outcome, ran.loss.reason) == ("lost", "closed")

    async def is_free() -> bool:
        return view("EXISTS", key(name)) == 0

    # The run is over once the lock is lost, which its release need not be.
    await loops.until(is_free, "the release by the client")


def test_a_loop_that_ends_in_the_middle_of_a_run_leaves_no_lock(aio_client: AsyncClient, view: View, name: str) -> None:
    job = aio_client.job(name, at_most=60)
    begun: list[bool] = []

    async def work() -> None:
        begun.append(True)
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        running = asyncio.create_task(job.run(work))
        while not begun:
            await asyncio.sleep(0)
        assert not running.done()

    asyncio.run(main())
    assert view("EXISTS", key(name)) == 0


@pytest.mark.parametrize("at_least", [0, 50])
def test_a_run_whose_loop_is_closed_leaves_no_lock(
    aio_client: AsyncClient, client: Client, view: View, name: str, at_least: int
) -> None:
    job = aio_client.job(name, at_most=60, at_least=at_least)
    loop = asyncio.new_event_loop()
    # The loop tells its handler of tasks that end with it.
    loop.set_exception_handler(lambda *_: None)
    begun = loop.create_future()

    async def work() -> None:
        begun.set_result(None)
        await loop.create_future()

    running = loop.create_task(job.run(work))
    loop.run_until_complete(begun)
    assert pttl(view, name) > 50_000
    loop.close()
    del running
    gc.collect()
    until_true(lambda: pttl(view, name) <= at_least * 1000, "the end of the run")
    assert skips(client, name) == bool(at_least)
    # The server has let the lock go before the client hears of it.
    until_true(lambda: aio_client.stats().held == 0, "the answer to the end of the run")
    assert job.stats() == JobStats(1, 0, 0)


# Processes

NODE = """
import os, sys
import redlatch
from view import View

client = redlatch.connect(sys.argv[1])
view = View(int(sys.argv[3]))
job = client.job(sys.argv[2], at_most=float(sys.argv[4]), at_least=float(sys.argv[5]))

def work(period):
    view("INCR", f"{sys.argv[2]}:{period}")
    if period == "dies":
        print("begun", flush=True)
        sys.stdin.read()

client.ping()
print("ready", flush=True)
for line in sys.stdin:
    print(job.run(work, line.strip()).outcome, flush=True)
print(*job.stats(), flush=True)
"""


class Node:
    """A process that runs the job when it is told to."""

    def __init__(self, server: Server, name: str, at_most: float, at_least: float) -> None:
        command = [sys.executable, "-c", NODE, server.url, name, str(server.port), str(at_most), str(at_least)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )

    def tell(self, period: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{period}\n")

    def hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, period: object) -> str:
        self.tell(period)
        return self.hear()

    def end(self) -> JobStats:
        assert self._process.stdin is not None
        self._process.stdin.close()
        stats = JobStats(*map(int, self.hear().split()))
        assert self._process.wait(20) == 0
        return stats

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def started() -> Iterator[list[Node]]:
    """Nodes that a test has started. They are killed at its end."""
    nodes: list[Node] = []
    yield nodes
    for node in nodes:
        node.kill()


def test_four_processes_run_each_period_once(server: Server, view: View, name: str, started: list[Node]) -> None:
    periods = 100
    started += [Node(server, name, 600, 300) for _ in range(4)]
    assert [node.hear() for node in started] == ["ready"] * 4
    for period in range(periods):
        for node in started:
            node.tell(period)
        assert sorted(node.hear() for node in started) == ["ran", "skipped", "skipped", "skipped"]
        assert view("GET", f"{name}:{period}") == "1"
        # The next period: `at_least` is over.
        assert view("DEL", key(name)) == 1
    stats = [node.end() for node in started]
    assert [sum(column) for column in zip(*stats)] == [periods, 3 * periods, 0]


def test_after_the_death_of_a_node_the_next_one_runs_when_at_most_is_over(
    server: Server, view: View, name: str, started: list[Node]
) -> None:
    started += [Node(server, name, 3, 0) for _ in range(2)]
    doomed, other = started
    assert [node.hear() for node in started] == ["ready"] * 2
    doomed.tell("dies")
    assert doomed.hear() == "begun"
    # Beyond at_most it is still renewed.
    time_of_first_end = time.monotonic() + 3.2
    while time.monotonic() < time_of_first_end:
        assert other.run("next") == "skipped"
    doomed.kill()
    before = time.monotonic()
    left = pttl(view, name)
    assert 0 < left <= 3000
    until(lambda: other.run("next") == "ran" or None, "the end of at_most")
    assert time.monotonic() - before >= left / 1000 - 0.005
    assert view("GET", f"{name}:next") == "1"
    assert view("GET", f"{name}:dies") == "1"
