"""The import of redlatch imports few modules, and starts no thread and no connection."""

from __future__ import annotations

import program
from servers import Server

LOOK = """
import os, sys

def started():
    threads = os.listdir("/proc/self/task")
    files = os.listdir("/proc/self/fd")
    # The descriptor of the listing itself is closed by now.
    links = [os.readlink(f"/proc/self/fd/{file}") for file in files if os.path.exists(f"/proc/self/fd/{file}")]
    return len(threads), sorted(link for link in links if not link.startswith("/"))

before = started()
import redlatch
"""


def test_nothing_starts_before_the_first_call(server: Server) -> None:
    run = program.run(
        LOOK + "after = started()\n"
        "client = redlatch.connect(sys.argv[1])\n"
        "lock = client.get_lock('imported')\n"
        "print(after == before, started() == before)\n"
        "client.ping()\n"
        "threads, open = started()\n"
        "print(threads - before[0], any(file.startswith('socket:') for file in open))",
        server.url,
    )
    assert (run.stderr, run.stdout) == ("", "True True\n1 True\n")


def test_modules_that_take_long_to_import_are_imported_at_their_first_use() -> None:
    run = program.run(
        "import sys, redlatch\nassert not {'asyncio', 'inspect', 'logging', 'socket'} & sys.modules.keys()\n"
        "redlatch.aio.connect()\n"
        "try: redlatch.nothing\nexcept AttributeError as e: print(e)"
    )
    assert (run.stderr, run.stdout) == ("", "module 'redlatch' has no attribute 'nothing'\n")
