"""The messages of redlatch reach `logging`: by the loggers `redlatch.*`, with the lock, the owner and the reason."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until, until_true
from forks import in_a_fork
from program import run
from redlatch import Client, aio
from servers import Server
from view import View


class Kept(logging.Handler):
    """Keeps the records of one lock."""

    def __init__(self, lock: str) -> None:
        super().__init__()
        self._lock_name = lock
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "lock", None) == self._lock_name:
            self.records.append(record)

    def first(self) -> logging.LogRecord:
        return until(lambda: self.records[0] if self.records else None, "a record of the lock")


@pytest.fixture
def kept(name: str) -> Iterator[Kept]:
    """The records of redlatch's loggers about the test's lock."""
    handler = Kept(name)
    logger = logging.getLogger("redlatch")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def check(record: logging.LogRecord, name: str, owner: str) -> None:
    """Fails unless the record warns of the loss of a deleted lock."""
    assert (record.name, record.levelno) == ("redlatch.lost", logging.WARNING)
    shown = record.__dict__
    assert (shown["lock"], shown["owner"], shown["reason"]) == (name, owner, "deleted")
    assert record.getMessage().startswith(f"`{name}` is lost to {owner}: deleted")


def test_a_loss_is_a_warning_that_names_the_lock_the_owner_and_the_reason(
    client: Client, view: View, kept: Kept, name: str
) -> None:
    hold = client.lock(name).lock()
    view("DEL", name)
    check(kept.first(), name, f"{client.id}:{hold.owner}")
    assert len(kept.records) == 1


async def test_a_loss_of_asyncio_is_the_same_warning(
    aio_client: aio.AsyncClient, view: View, kept: Kept, name: str
) -> None:
    hold = await aio_client.lock(name).lock()
    view("DEL", name)
    check(kept.first(), name, f"{aio_client.id}:{hold.owner}")


def test_a_release_is_no_warning(client: Client, view: View, kept: Kept, name: str) -> None:
    with client.lock(name):
        pass
    hold = client.lock(name).lock()
    view("DEL", name)
    kept.first()  # the record of the second hold; one of the first hold would have come before it
    assert hold.lost
    assert len(kept.records) == 1


def test_only_a_logger_for_debugging_gets_records_of_acquires(server: Server, kept: Kept, name: str) -> None:
    with redlatch.connect(server.url) as client, client.lock(name):
        pass
    assert kept.records == []
    logging.getLogger("redlatch").setLevel(logging.DEBUG)
    # A new client looks at the levels again.
    with redlatch.connect(server.url) as client:
        with client.lock(name) as hold:
            first = kept.first()
        assert (first.name, first.levelno) == ("redlatch.acquire", logging.DEBUG)
        assert first.__dict__["owner"] == f"{client.id}:{hold.owner}"


def test_a_loss_in_a_forked_child_is_logged_in_the_child_alone(
    server: Server, client: Client, view: View, kept: Kept, name: str
) -> None:
    hold = client.lock(name).lock()
    view("DEL", name)
    kept.first()  # so the parent's thread for logging runs

    def child() -> str:
        own = client.lock(name).lock(wait=0)
        with server.view() as view:
            view("DEL", name)
        until_true(lambda: len(kept.records) == 2, "a record in the child")
        assert own.lost
        return kept.records[1].getMessage()

    assert "is lost to" in in_a_fork(child)
    assert hold.lost
    assert len(kept.records) == 1


LOSER = """
import sys, redlatch
{configured}
client, operator = redlatch.connect(sys.argv[1]), redlatch.connect(sys.argv[1])
hold = client.lock(sys.argv[2]).lock()
operator.lock(sys.argv[2]).force_unlock()
assert hold.wait_lost(20)
"""


@pytest.mark.parametrize(
    "configured",
    ["", "import logging; logging.basicConfig(format='%(name)s: %(message)s')"],
    ids=["plain", "configured"],
)
def test_a_program_that_ends_at_once_shows_its_loss(server: Server, name: str, configured: str) -> None:
    ended = run(LOSER.format(configured=configured), server.url, name)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.startswith(f"{'redlatch.lost: ' if configured else ''}`{name}` is lost to ")
    assert len(ended.stderr.splitlines()) == 1


def test_programs_that_end_beside_others_end_after_the_threads_that_start_their_logs(server: Server, name: str) -> None:
    """On busy processors the thread that starts the one for messages may be late."""
    program = LOSER.format(configured="")
    with ThreadPoolExecutor(8) as programs:
        ended = list(programs.map(lambda number: run(program, server.url, f"{name}:{number}"), range(48)))
    assert [one.stderr for one in ended if one.returncode != 0] == []


LATE = """
import logging, threading, time

def start_late(thread, start=threading.Thread.start):
    start(thread)
    end = time.monotonic() + 1
    while thread.name == "redlatch-logs" and time.monotonic() < end:
        time.sleep(0)  # gives the GIL up, and wants it again

threading.Thread.start = start_late
logging.basicConfig()  # with logging the end of the interpreter takes longer
"""


def test_a_program_ends_after_the_native_thread_that_starts_the_log(server: Server, name: str) -> None:
    """CPython before 3.14 ends a thread that wants the GIL too late. With Rust below Python that aborts the process."""
    ended = run(LOSER.format(configured=LATE), server.url, name)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_program_without_a_message_starts_no_thread_for_them(server: Server, name: str) -> None:
    ended = run(
        "import sys, threading, redlatch\n"
        "with redlatch.connect(sys.argv[1]) as client, client.lock(sys.argv[2]):\n"
        "    print([thread.name for thread in threading.enumerate()], 'logging' in sys.modules)\n",
        server.url,
        name,
    )
    assert (ended.stderr, ended.stdout) == ("", "['MainThread'] False\n")


HANDLED = """
import logging, sys, threading, redlatch

told = threading.Semaphore(0)

class Slow(logging.Handler):
    def emit(self, record):
        with client.lock(sys.argv[2] + ":handler"):
            print(record.getMessage().split(" to ")[0])
        told.release()
        raise ValueError("the handler fails")

logging.getLogger("redlatch").addHandler(Slow())
client, operator = redlatch.connect(sys.argv[1]), redlatch.connect(sys.argv[1])
for part in "ab":
    hold = client.lock(sys.argv[2] + part).lock()
    operator.lock(sys.argv[2] + part).force_unlock()
    assert hold.wait_lost(20)
    assert told.acquire(timeout=20)  # the end of the program closes the client of the handler
"""


def test_a_log_handler_may_use_locks_and_its_error_does_not_stop_later_messages(server: Server, name: str) -> None:
    ended = run(HANDLED, server.url, name)
    assert ended.stdout == f"`{name}a` is lost\n`{name}b` is lost\n", ended.stderr
    assert ended.stderr.count("ValueError: the handler fails") == 2


def test_a_semaphore_that_was_never_set_is_a_warning_while_a_caller_waits(
    client: Client, kept: Kept, thread: ThreadPoolExecutor, name: str
) -> None:
    semaphore = client.get_semaphore(name)
    waiter = thread.submit(semaphore.acquire)
    record = kept.first()
    assert (record.name, record.levelno) == ("redlatch.semaphore", logging.WARNING)
    assert f"the permits of `{name}` were never set" in record.getMessage()
    assert semaphore.try_set_permits(1)
    waiter.result(20)
    assert len(kept.records) == 1
