"""The end of a `with` block ends the hold that the block began with.

That is so on every thread, if the hold is lost or not, and with other open blocks of the same lock object.
`test_aio_blocks.py` has the same tests for tasks.
"""

from __future__ import annotations

import gc
import queue
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, Callable

import pytest

import program
import redlatch
from redlatch import EACH, Client, Hold, Lock
from servers import Server
from table_of_blocks import EXCLUSIVE, KINDS, BaseRow, Case, cases, rows
from view import View


class Block:
    """A block: one thread begins it, and the same or another one ends it."""

    hold: Hold

    def begin(self, lock: Lock) -> None: ...

    def end(self) -> None: ...


class Generator(Block):
    """The `with` statement of a generator, like that of a dependency of FastAPI."""

    def begin(self, lock: Lock) -> None:
        self._steps = self._body(lock)
        self.hold = next(self._steps)

    def end(self) -> None:
        next(self._steps, None)

    def _body(self, lock: Lock) -> Iterator[Hold]:
        with lock as hold:
            yield hold


class Manager(Block):
    """The `with` statement of a context manager that a stack ends."""

    def begin(self, lock: Lock) -> None:
        self._stack = ExitStack()
        self.hold = self._stack.enter_context(self._body(lock))

    def end(self) -> None:
        self._stack.close()

    @contextmanager
    def _body(self, lock: Lock) -> Iterator[Hold]:
        with lock as hold:
            yield hold


class Stack(Block):
    """A block without a statement: a stack begins and ends it."""

    def begin(self, lock: Lock) -> None:
        self._stack = ExitStack()
        self.hold = self._stack.enter_context(lock)

    def end(self) -> None:
        self._stack.close()


class Thread:
    """A thread that makes calls, also while a `with` statement of its own is open."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._inside: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] | None = None

    def do(self, call: Callable[[], Any]) -> Any:
        if self._inside is None:
            return self._pool.submit(call).result(20)
        done: Future[Any] = Future()
        self._inside.put((done, call))
        return done.result(20)

    def enter(self, lock: Lock) -> tuple[Hold, Future[None]]:
        """Enters the `with` statement of a plain function. Returns its hold and the future of its end."""
        entered: Future[Hold] = Future()
        inside: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        ended = self._pool.submit(self._body, lock, entered, inside)
        self._inside = inside
        return entered.result(20), ended

    def leave(self) -> None:
        """Ends that statement."""
        assert self._inside is not None
        self._inside.put(None)
        self._inside = None

    def close(self) -> None:
        self._pool.shutdown()

    @staticmethod
    def _body(lock: Lock, entered: Future[Hold], inside: queue.SimpleQueue[Any]) -> None:
        with lock as hold:
            entered.set_result(hold)
            while (task := inside.get()) is not None:
                done, call = task
                done.set_result(call())


class Function(Block):
    """The `with` statement of a plain function, which a thread runs from its beginning to its end."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread

    def begin(self, lock: Lock) -> None:
        self.hold, self._ended = self._thread.enter(lock)

    def end(self) -> None:
        self._thread.leave()
        self._ended.result(20)


WAYS: dict[str, Callable[[], Block]] = {"generator": Generator, "manager": Manager, "stack": Stack}


@pytest.fixture
def threads() -> Iterator[list[Thread]]:
    threads = [Thread(), Thread()]
    yield threads
    for thread in threads:
        thread.close()


def raised(call: Callable[[], object]) -> type[BaseException] | None:
    try:
        call()
    except redlatch.RedlatchError as error:
        return type(error)
    return None


@pytest.mark.parametrize(("kind", "way", "elsewhere"), rows(["function", *WAYS]))
def test_a_block_ends_the_hold_that_it_began_with(
    client: Client, stranger: Client, view: View, threads: list[Thread], name: str, kind: str, way: str, elsewhere: bool
) -> None:
    lock, names = KINDS[kind](client, name)
    theirs, _ = KINDS[kind](stranger, name)
    row = Row(client, view, lock, names, theirs)
    here, there = threads
    for case in cases(kind, way):
        row.check(case, kind, way, here, there if elsewhere else here)


class Row(BaseRow):
    def check(self, case: Case, kind: str, way: str, here: Thread, there: Thread) -> None:
        block: Block = Function(here) if way == "function" else WAYS[way]()
        other = WAYS[case.other]() if case.other is not None else None
        others_thread = there if case.there else here
        other_is_lost = case.other_is_lost and kind in EXCLUSIVE
        if other is not None and case.before:
            others_thread.do(lambda: other.begin(self._lock))
            if other_is_lost:
                self._lose(other.hold)
        self._begin(block, way, here)
        if case.lost:
            self._lose(block.hold)
        if other is not None and not case.before:
            others_thread.do(lambda: other.begin(self._lock))

        told = raised(lambda: self._end(block, way, there))
        if way == "stack" and kind == "read" and here is not there and not case.lost:
            # A lock for readers may have many holds, and nothing tells which of them a stack means.
            assert told is redlatch.NotHeldError, case
            block.hold.ensure()
            block.hold.release()
        else:
            self.check_told(case, told, case.lost)
        assert block.hold.remaining == 0, case
        if other is None:
            self.check_held(case)
        else:
            self.check_held(case, *([] if other_is_lost else [other.hold]))
            self.check_told(case, raised(lambda: others_thread.do(other.end)), other_is_lost)
            self.check_held(case)

    def _begin(self, block: Block, way: str, thread: Thread) -> None:
        if way == "function":
            block.begin(self._lock)
        else:
            thread.do(lambda: block.begin(self._lock))

    def _end(self, block: Block, way: str, thread: Thread) -> None:
        if way == "function":
            block.end()
        else:
            thread.do(block.end)

    def _lose(self, hold: Hold) -> None:
        self._theirs.force_unlock()
        assert hold.wait_lost(20)


class OfAProgram:
    """A program's own context. Its beginning has a `with` statement for another object."""

    hold: Hold

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self._mutex = threading.Lock()

    def begin(self) -> None:
        with self._mutex:
            self.hold = self._lock.__enter__()

    def end(self) -> None:
        self._lock.__exit__(None, None, None)


@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize("other", WAYS)
@pytest.mark.parametrize("kind", ["plain", "read"])
def test_a_block_that_begins_beside_another_statement_ends_its_own_hold(
    client: Client, stranger: Client, threads: list[Thread], name: str, kind: str, other: str, is_lost: bool
) -> None:
    lock, _ = KINDS[kind](client, name)
    theirs, _ = KINDS[kind](stranger, name)
    others = WAYS[other]()
    threads[0].do(lambda: others.begin(lock))
    if kind == "plain" or is_lost:
        theirs.force_unlock()
        assert others.hold.wait_lost(20)
    block = OfAProgram(lock)
    block.begin()
    assert raised(block.end) is None
    assert block.hold.remaining == 0
    told = raised(lambda: threads[0].do(others.end))
    assert told is (redlatch.LockLostError if kind == "plain" or is_lost else None)
    assert not lock.is_locked()


def release_inside(lock: Lock, mutex: threading.Lock) -> None:
    with mutex:
        lock.__enter__().release()


def test_blocks_that_no_statement_ends_are_forgotten_once_their_holds_are_released(client: Client, name: str) -> None:
    lock = client.lock(name)
    mutex = threading.Lock()

    def deeper(depth: int) -> None:
        # The depth makes each call begin in a frame with another identity.
        return deeper(depth - 1) if depth else release_inside(lock, mutex)

    for number in range(500):
        deeper(number % 50)
        assert len(lock._blocks) <= 128
    assert not lock.is_locked()


@pytest.mark.parametrize("many", [20, 100])
def test_statements_of_one_frame_end_their_own_holds_after_many_other_holds_were_released(
    client: Client, name: str, many: int
) -> None:
    readers = client.get_read_write_lock(name, owner=EACH).read_lock
    mutex = threading.Lock()
    with readers as kept:
        with pytest.raises(redlatch.NotHeldError, match="released already by this hold"), readers as released:
            released.release()
            for _ in range(many):
                release_inside(readers, mutex)
        kept.ensure()
    assert kept.remaining == 0
    assert not readers.is_locked()


class Large:
    """A variable of a frame."""


def test_a_block_keeps_no_frame_that_has_ended(client: Client, name: str) -> None:
    lock = client.lock(name)

    def begin() -> weakref.ref[Large]:
        large = Large()
        lock.__enter__()
        return weakref.ref(large)

    kept = begin()
    gc.collect()
    assert kept() is None
    lock.__exit__(None, None, None)
    assert not lock.is_locked()


def test_a_block_ends_its_own_hold_after_many_other_holds_were_released_by_themselves(
    client: Client, name: str
) -> None:
    readers = client.get_read_write_lock(name, owner=EACH).read_lock
    blocks = [Generator() for _ in range(40)]
    for block in blocks:
        block.begin(readers)
        block.hold.release()
    with readers as last:
        for block in blocks:
            assert raised(block.end) is redlatch.NotHeldError
        last.ensure()
    assert not readers.is_locked()


FIRST_ENDS = """
import sys, threading, redlatch
readers = redlatch.connect(sys.argv[1]).get_read_write_lock(sys.argv[2], owner=redlatch.EACH).read_lock
inside = threading.Barrier(8)

def job():
    with readers:
        inside.wait(20)

threads = [threading.Thread(target=job) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(readers.hold_count())
"""


def test_threads_that_end_their_first_block_at_the_same_time_do_not_hang(server: Server, name: str) -> None:
    for _ in range(5):
        ended = program.run(FIRST_ENDS, server.url, name)
        assert (ended.stdout, ended.stderr) == ("0\n", "")
