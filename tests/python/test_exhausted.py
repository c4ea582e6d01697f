"""In a process without free descriptors a call raises a usual error, and later calls work."""

from __future__ import annotations

import subprocess
import sys

from servers import Server

PROGRAM = """
import asyncio, resource, sys
import redlatch
from redlatch import aio

url = sys.argv[1]
with redlatch.connect(url).get_lock("warm", wait=20):  # the first lock imports more modules
    pass
asyncio.run(aio.connect(url).ping())
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)


def limit(most):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def told(ask):
    try:
        ask()
    except redlatch.UnavailableError as error:
        assert "ulimit -n" in str(error), error
        return "told"
    return "done"


client = redlatch.connect(url + "?retry_for=0.2")
limit(3)  # all three are in use
print(told(lambda: client.get_lock("n").lock(wait=20)))
limit(soft)
print(told(lambda: client.get_lock("n").lock(wait=20)))


async def ask_twice():
    other = aio.connect(url + "?retry_for=0.2")
    limit(3)
    try:
        await other.get_lock("m").lock(wait=20)
    except redlatch.UnavailableError as error:
        assert "ulimit -n" in str(error), error
        print("told")
    limit(soft)
    await other.get_lock("m").lock(wait=20)
    print("done")


asyncio.run(ask_twice())
"""


def test_without_a_descriptor_left_a_call_is_an_error_and_later_ones_work() -> None:
    server = Server()
    try:
        program = [sys.executable, "-c", PROGRAM, server.url]
        ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    finally:
        server.close()
    assert ended.stdout.split() == ["told", "done", "told", "done"], ended.stderr
    assert "panicked" not in ended.stderr
