"""Programs that use MariaDB's own locks, by `GET_LOCK`: they and redlatch exclude, wait for and wake each other."""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Callable

import pytest

from eventually import until_true
from faces import FACES, Face
from mariadb import Mariadb, Site


class Program:
    """A program that has one session of its own, or one client, and locks one name by it."""

    _is_over = False

    def take(self, wait: float) -> bool:
        """Waits so many seconds. Tells whether it has the lock."""
        raise NotImplementedError

    def give(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Ends without giving anything back."""
        if not self._is_over:
            self._is_over = True
            self._end()

    def _end(self) -> None:
        raise NotImplementedError


class Ours(Program):
    def __init__(self, face: Face, server: Mariadb, name: str) -> None:
        self._face = face
        self._caller = face.caller()
        self._lock = face.client(server.url).lock(name)
        self._hold: Any = None

    def take(self, wait: float) -> bool:
        self._hold = self._caller(lambda: self._lock.try_lock(wait=wait))
        return self._hold is not None

    def give(self) -> None:
        self._caller(self._hold.release)

    def _end(self) -> None:
        self._face.__exit__()


class PyMysql(Program):
    def __init__(self, server: Mariadb, name: str) -> None:
        self._sql = server.sql()
        self._name = name

    def take(self, wait: float) -> bool:
        return self._sql.lock(self._name, wait)

    def give(self) -> None:
        assert self._sql.unlock(self._name)

    def _end(self) -> None:
        self._sql.close()


class CommandLine(Program):
    """The program `mariadb`, into which a person or a script writes statements."""

    def __init__(self, server: Mariadb, name: str) -> None:
        command = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={server.port}", "--user=other"]
        command += ["--password=secret", "--batch", "--skip-column-names", "--unbuffered", "app"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._name = name

    def _ask(self, statement: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{statement};\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def take(self, wait: float) -> bool:
        return self._ask(f"SELECT GET_LOCK('{self._name}', {wait})") == "1"

    def give(self) -> None:
        assert self._ask(f"SELECT RELEASE_LOCK('{self._name}')") == "1"

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def system(site: Site) -> Site:
    return site


@pytest.fixture
def start(site: Site, name: str) -> Iterator[Callable[[str], Program]]:
    """Starts a program by its name. The end of the test ends it."""
    with ExitStack() as programs:

        def start(program: str) -> Program:
            started = PROGRAMS[program](site.server, name)
            programs.callback(started.end)
            return started

        yield start


PROGRAMS: dict[str, Callable[[Mariadb, str], Program]] = {
    "redlatch": lambda server, name: Ours(FACES["threads"](), server, name),
    "redlatch.aio": lambda server, name: Ours(FACES["asyncio"](), server, name),
    "PyMySQL": PyMysql,
    "mariadb": CommandLine,
}
Start = Callable[[str], Program]
every_pair = pytest.mark.parametrize(("holder", "waiter"), list(itertools.permutations(PROGRAMS, 2)))


def begin(call: Callable[[], Any]) -> Future[Any]:
    """Calls in a thread of its own."""
    pool = ThreadPoolExecutor(1)
    answer = pool.submit(call)
    pool.shutdown(wait=False)
    return answer


@every_pair
def test_each_excludes_the_other_and_hands_the_lock_over(
    site: Site, start: Start, name: str, holder: str, waiter: str
) -> None:
    first, second = start(holder), start(waiter)
    assert first.take(0)
    assert not second.take(0)
    assert not second.take(1)
    waiting = begin(lambda: second.take(30))
    until_true(lambda: site.sql.waiting() == 1, "a waiter in the server's queue")
    first.give()
    assert waiting.result(5), "the waiter was not woken"
    assert not first.take(0)
    second.give()
    assert first.take(0)
    first.give()
    assert site.holder(name) is None


@every_pair
def test_the_end_of_the_one_frees_the_lock_for_the_other(
    site: Site, start: Start, name: str, holder: str, waiter: str
) -> None:
    first, second = start(holder), start(waiter)
    assert first.take(0)
    waiting = begin(lambda: second.take(30))
    until_true(lambda: site.sql.waiting() == 1, "a waiter in the server's queue")
    first.end()
    assert waiting.result(5), "the waiter was not woken"
    second.give()
    assert site.holder(name) is None


def test_callers_of_all_programs_have_the_lock_one_at_a_time_and_all_have_their_turns(site: Site, start: Start) -> None:
    mutex = threading.Lock()
    turns: list[str] = []

    def work(program: str) -> None:
        started = start(program)
        for _ in range(15):
            assert started.take(60), "it is shut out"
            assert mutex.acquire(blocking=False), "two are inside"
            turns.append(program)
            mutex.release()
            started.give()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, list(PROGRAMS) * 3))
    assert {program: turns.count(program) for program in PROGRAMS} == dict.fromkeys(PROGRAMS, 45)


def test_other_owners_of_one_client_do_not_shut_a_program_out(face: Face, site: Site, name: str) -> None:
    client = face.client(site.url)
    over = threading.Event()

    def work(_: int) -> None:
        caller, lock = face.caller(), client.lock(name, wait=30)
        while not over.is_set():
            with caller.inside(lock):
                pass

    with ThreadPoolExecutor(6) as pool:
        working = [pool.submit(work, number) for number in range(6)]
        try:
            for _ in range(20):
                assert site.sql.lock(name, 20), "it is shut out"
                assert site.sql.unlock(name)
        finally:
            over.set()
        for work_of_one in working:
            work_of_one.result(30)
