"""The end of a process that has a lock of MariaDB, and forks of such a process."""

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
from faces import Face
from forks import in_a_fork
from mariadb import Site
from redlatch import aio

#: The ends, with the exit code of each.
ENDS = {
    "its end": ("pass", 0),
    "an error": ("raise SystemExit(3)", 3),
    "an exit without a farewell": ("os._exit(4)", 4),
    "SIGTERM": ("signal.raise_signal(signal.SIGTERM)", -15),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("program", HOLDING)
def test_a_lock_is_free_at_once_when_its_process_has_ended(
    face: Face, site: Site, name: str, program: str, end: str
) -> None:
    line, code = ENDS[end]
    command = [sys.executable, "-c", HOLDING[program].format(end=line), site.url, name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        assert site.sql.held() == [name]
        caller, lock = face.caller(), face.client(site.url).lock(name)
        waiting = caller.begin(lambda: lock.lock(wait=30))
        until_true(lambda: site.sql.waiting() == 1, "a waiter in the server's queue")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(20) == code
        # The watchdog's time, after which the session of a vanished machine ends, is 30 s.
        caller(waiting.result(5).release)
    finally:
        process.kill()
        process.communicate()


def done(answer: Any) -> Any:
    """The result of a call of either façade."""
    return loops.run(answer) if inspect.iscoroutine(answer) else answer


@pytest.mark.parametrize("connect", [redlatch.connect, aio.connect], ids=["threads", "asyncio"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_is_a_client_of_its_own_and_leaves_its_parents_locks_alone(
    site: Site, name: str, connect: Any
) -> None:
    client = connect(site.url)
    hold = done(client.lock(name).lock())
    session = site.sql.holder(name)

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
        assert site.sql.held() == [name]
        assert site.sql.holder(name) == session
        until_true(lambda: site.sql.sessions() == [session], "the end of the child's session")
    done(hold.release())
    assert site.sql.held() == []
    done(done(client.lock(name).lock()).release())
    done(client.close())


def test_ctrl_c_ends_a_wait_in_the_servers_queue(site: Site, name: str) -> None:
    assert site.sql.lock(name)
    command = [sys.executable, "-c", WAITING, site.url, name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin
        assert process.stdout
        with site.server.sql() as view:
            until_true(lambda: view.waiting() == 1, "a waiter in the server's queue")
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted None\n"
            until_true(lambda: view.waiting() == 0, "the end of its wait at the server")
        assert site.sql.unlock(name)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "held\n"
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
