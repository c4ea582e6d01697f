"""The end of a process that has a lock of a system with sessions, and forks of such a process."""

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
from redlatch import aio
from system import System
from systems import every_system

#: The ends, with the exit code of each, and whether the client takes leave of its server.
ENDS = {
    "its end": ("pass", 0, True),
    "an error": ("raise SystemExit(3)", 3, True),
    "an exit without a farewell": ("os._exit(4)", 4, False),
    "SIGTERM": ("signal.raise_signal(signal.SIGTERM)", -15, False),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9, False),
}
#: The times of sessions: one that no test awaits, and one that ends soon.
LONG, SHORT = 30, 2


@every_system
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("program", HOLDING)
def test_a_lock_is_free_when_its_process_has_ended_or_its_session_after_the_end_without_a_farewell(
    face: Face, system: System, name: str, program: str, end: str
) -> None:
    line, code, takes_leave = ENDS[end]
    session = LONG if takes_leave or system.ENDS_WITH_CONNECTION else SHORT
    command = [sys.executable, "-c", HOLDING[program].format(end=line), f"{system.url}?watchdog={session}", name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        assert system.holder(name)
        caller, lock = face.caller(), face.client(system.url).lock(name)
        waiting = caller.begin(lambda: lock.lock(wait=30))
        until_true(lambda: system.waiting(name) == 1, "a waiter in the server's queue")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(20) == code
        caller(waiting.result(5).release)
    finally:
        process.kill()
        process.communicate()


def done(answer: Any) -> Any:
    """The result of a call of either façade."""
    return loops.run(answer) if inspect.iscoroutine(answer) else answer


@every_system
@pytest.mark.parametrize("connect", [redlatch.connect, aio.connect], ids=["threads", "asyncio"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_is_a_client_of_its_own_and_leaves_its_parents_locks_alone(
    system: System, name: str, connect: Any
) -> None:
    client = connect(system.url)
    hold = done(client.lock(name).lock())
    session = system.holder(name)

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
        assert system.holder(name) == session
        if closes or system.ENDS_WITH_CONNECTION:
            until_true(lambda: system.sessions() == [session], "the end of the child's session")
    for left in set(system.sessions()) - {session}:
        system.end(left)
    done(hold.release())
    assert system.holder(name) is None
    done(done(client.lock(name).lock()).release())
    done(client.close())


@every_system
def test_ctrl_c_ends_a_wait_in_the_servers_queue(system: System, name: str) -> None:
    command = [sys.executable, "-c", WAITING, system.url, name]
    with redlatch.connect(system.url) as other:
        hold = other.lock(name).lock()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdin
            assert process.stdout
            until_true(lambda: system.waiting(name) == 1, "a waiter in the server's queue")
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted None\n"
            until_true(lambda: system.waiting(name) == 0, "the end of its wait at the server")
            hold.release()
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "held\n"
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.communicate()
