"""Tasks of Celery under a lock, in a real worker with a pool of processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dramatiq
import pytest
from celery import Celery
from dramatiq.brokers.stub import StubBroker

import redlatch
from redlatch import Client
from redlatch.celery import exclusive
from servers import Server
from view import View

JOBS = """
import os, signal, threading, redlatch
from celery import Celery
from redlatch.celery import exclusive

URL, NAME = os.environ["URL"], os.environ["NAME"]
app = Celery("jobs", broker=URL, backend=URL)
app.conf.update(task_default_queue=NAME, broker_connection_retry_on_startup=True)
client = redlatch.connect(URL, watchdog=1)

@app.task
@exclusive(client.lock(NAME + ":{day}"), on_busy="skip")
def skipping(day):
    return f"{day} is done"

@app.task(max_retries=None)
@exclusive(client.lock(NAME + ":{day}"), on_busy="retry", countdown=0.1)
def retrying(day):
    return f"{day} is done"

@app.task(bind=True, max_retries=1)
@exclusive(client.lock(NAME + ":{day}"), countdown=0)
def giving_up(self, day):
    return f"{day} is done, {self.name}"

@app.task
@exclusive(client.lock(NAME + ":{day}"), on_busy="raise")
def killed(day):
    os.kill(os.getpid(), signal.SIGKILL)

@app.task(time_limit=1)
@exclusive(client.lock(NAME + ":{day}"), on_busy="raise")
def too_long(day):
    threading.Event().wait()

@app.task
def ping():
    return "pong"
"""
DRIVE = """
import sys, time
from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from jobs import *

def result(task, day):
    return task.delay(day).get(timeout=40)

def error(task, day, kind):
    try:
        return result(task, day)
    except kind as error:
        return type(error).__name__

with redlatch.connect(URL) as other:
    with other.lock(f"{NAME}:monday"):
        print(result(skipping, "monday"))
        print(error(giving_up, "monday", redlatch.NotAcquiredError))
        waiting = retrying.delay("monday")
        while waiting.state != "RETRY":
            assert not waiting.ready(), waiting.result
            time.sleep(0.01)  # the backend of Celery has no call that waits for a state
    print(waiting.get(timeout=40))
    print(result(skipping, "monday"))
    print(result(giving_up, "monday"))
    for task, kind, day in (killed, WorkerLostError, "tuesday"), (too_long, TimeLimitExceeded, "friday"):
        print(error(task, day, kind))
        print(result(retrying, day))
"""


@contextmanager
def worker(folder: Path, env: dict[str, str]) -> Iterator[None]:
    options = ["--pool", "prefork", "--concurrency", "2", "--loglevel", "ERROR"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    with (folder / "said").open("wb") as said:
        command = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "jobs", "worker", *options, *quiet]
        running = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
    try:
        yield
        running.terminate()
        assert running.wait(timeout=30) == 0, (folder / "said").read_text()
    finally:
        running.kill()
        running.wait()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_run_is_skipped_or_retried_and_a_killed_worker_blocks_no_longer_than_a_lease(
    tmp_path: Path, server: Server, view: View, name: str
) -> None:
    env = {**os.environ, "URL": server.url, "NAME": name}
    (tmp_path / "jobs.py").write_text(JOBS)
    with worker(tmp_path, env):
        command = [sys.executable, "-W", "ignore", "-c", DRIVE]
        driven = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
        )
    assert driven.returncode == 0, driven.stderr + (tmp_path / "said").read_text()
    assert driven.stdout.splitlines() == [
        "None",
        "NotAcquiredError",
        "monday is done",
        "monday is done",
        "monday is done, jobs.giving_up",
        "WorkerLostError",
        "tuesday is done",
        "TimeLimitExceeded",
        "friday is done",
    ]
    assert view("KEYS", f"{name}:*") == []


def task(day: str) -> str:
    return day


@pytest.mark.parametrize("is_lazy", [True, False])
def test_a_decorator_above_the_task_is_an_error(client: Client, is_lazy: bool) -> None:
    app = Celery("of a test", set_as_current=False)
    made: Any = app.task(lazy=is_lazy)(task)
    for decorator in (exclusive(client.lock("n")), client.lock("n"), client.lock("n").decorator(on_busy="skip")):
        with pytest.raises(redlatch.UnsupportedError, match=r"put it below `@app.task`"):
            decorator(made)


def test_a_decorator_above_an_actor_of_dramatiq_is_an_error(client: Client) -> None:
    actor: Any = dramatiq.actor(broker=StubBroker())(task)
    for decorator in (client.lock("n"), client.lock("n").decorator(on_busy="skip"), client.job("n", at_most=60)):
        with pytest.raises(redlatch.UnsupportedError, match=r"put it below `@dramatiq.actor`"):
            decorator(actor)


def test_a_call_outside_of_a_worker_has_the_lock_too(client: Client, stranger: Client, name: str) -> None:
    app = Celery("of a test", set_as_current=False)
    made = app.task(exclusive(client.lock(name + ":{day}"))(task))
    assert made("monday") == "monday"
    with stranger.lock(f"{name}:monday"), pytest.raises(redlatch.NotAcquiredError):
        made("monday")


async def coroutine() -> None: ...


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a name for a lock": ("report", {}, "the lock of a task is 'report'"),
    "no lock": (None, {}, "the lock of a task is None"),
    "a word": ("lock", {"on_busy": "later"}, "one of raise, retry, skip, wait"),
    "no word": ("lock", {"on_busy": None}, "one of raise, retry, skip, wait"),
    "a negative countdown": ("lock", {"countdown": -1}, "countdown is -1"),
    "a text for a time": ("lock", {"countdown": "5"}, "countdown is '5'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_refused(client: Client, case: str) -> None:
    lock, options, match = BAD[case]
    with pytest.raises(redlatch.ConfigError, match=match):
        exclusive(client.lock("n") if lock == "lock" else lock, **options)


def test_what_is_no_plain_function_is_refused(client: Client) -> None:
    for wrong in (coroutine, int, 5):
        with pytest.raises((redlatch.UnsupportedError, redlatch.ConfigError), match="`n`"):
            exclusive(client.lock("n"))(wrong)  # type: ignore[arg-type]
