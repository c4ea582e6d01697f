"""The end of a process that has a lock of ZooKeeper, and forks of such a process."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

import loops
import redlatch
from ends import HOLDING, WAITING
from eventually import until_true
from forks import in_a_fork
from redlatch import aio
from zookeeper import Tree

#: The ends, with the exit code of each, the session's time in seconds, and the longest time until the lock is free.
ENDS = {
    "its end": ("pass", 0, 30, 5),
    "an error": ("raise SystemExit(3)", 3, 30, 5),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9, 2, 3),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("program", HOLDING)
def test_a_lock_is_free_at_once_when_its_process_has_ended_and_when_its_session_has_if_it_was_killed(
    tree: Tree, name: str, program: str, end: str
) -> None:
    line, code, session, within = ENDS[end]
    url = f"{tree.url}?watchdog={session}"
    command = [sys.executable, "-c", HOLDING[program].format(end=line), url, name]
    # Not by our client, whose queues go when they are empty: kazoo looks only once whether its queue is there.
    tree.kazoo.ensure_path(f"/{name}")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    theirs = tree.kazoo.Lock(f"/{name}", extra_lock_patterns=["lock-"])
    try:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        assert theirs.acquire(blocking=False) is False
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(20) == code
        assert theirs.acquire(timeout=within)
        theirs.release()
    finally:
        process.kill()
        process.communicate()


def done(answer: Any) -> Any:
    """The result of a call of either façade."""
    return loops.run(answer) if inspect.iscoroutine(answer) else answer


@pytest.mark.parametrize("connect", [redlatch.connect, aio.connect], ids=["threads", "asyncio"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_is_a_client_of_its_own_and_leaves_its_parents_locks_alone(
    tree: Tree, name: str, connect: Any
) -> None:
    client = connect(tree.url)
    hold = done(client.lock(name).lock())
    session = tree.holder(name)

    def child(closes: bool) -> str:
        own = done(client.lock(f"{name}:child").lock())
        found = [done(client.lock(name).try_lock()), done(client.lock(name).is_locked())]
        for call in (hold.release, hold.ensure):
            try:
                done(call())
            except redlatch.NotHeldError as error:
                found.append(error.code)
        own.ensure()
        done(own.release())
        if closes:
            done(client.close())
        return f"{found} {client.id}"

    for closes in (True, False):
        found = in_a_fork(partial(child, closes))
        assert found.startswith("[None, True, 'not_held', 'not_held']")
        assert client.id not in found
        hold.ensure()
        assert tree.holder(name) == session
        if closes:
            until_true(lambda: tree.sessions() == [session], "the end of the child's session")
    # The session of a child that ends without a farewell lasts for its time.
    for left in set(tree.sessions()) - {session}:
        tree.expire(left)
    done(hold.release())
    done(done(client.lock(name).lock()).release())
    done(client.close())


def test_ctrl_c_ends_a_wait_in_the_servers_queue(tree: Tree, name: str) -> None:
    theirs = tree.kazoo.Lock(f"/{name}")
    assert theirs.acquire(blocking=False)
    command = [sys.executable, "-c", WAITING, tree.url, name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin
        assert process.stdout
        until_true(lambda: len(tree.queue(name)) == 2, "a waiter in the server's queue")
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted None\n"
        until_true(lambda: len(tree.queue(name)) == 1, "the end of its wait at the server")
        theirs.release()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "held\n"
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
