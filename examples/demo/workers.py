"""The worker processes: starts them, gives them orders, reads their events, ends them.

A worker reads orders from its standard input, a word a line: `sell` is one sale under the lock, `hang` takes the lock
and never lets go; the end of the input ends its work. It writes events, `<word> <CLOCK_MONOTONIC ns>`: `ready`,
and for each order `waits` (asks for the lock), `holds` (has got it), then `frees` (began to release it) or `hangs`.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from record import LANGUAGES, Record

ROOT = Path(__file__).resolve().parents[2]
EACH = 2  # processes for each language
AHEAD = 2  # orders that a worker has in advance, so that it never waits for one


class WorkerFailed(Exception):
    """A worker ended by itself, or wrote a line that is no event."""


class Worker:
    """One process."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name, self.log = name, log
        self.unread = b""
        with log.open("wb") as stderr:
            # A session of its own: Ctrl-C must reach the demo only, which then ends everything in order.
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0, start_new_session=True
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def order(self, word: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended: the end of its output tells
            self.stdin.write(f"{word}\n".encode())

    def kill(self) -> int:
        """Ends it with SIGKILL; returns when that was, in nanoseconds of CLOCK_MONOTONIC."""
        at = time.monotonic_ns()
        self.process.kill()
        self.process.wait()
        return at


class Workers:
    """All workers. The end of the `with` block ends the remaining ones."""

    def __init__(self, record: Record) -> None:
        self.all: dict[str, Worker] = {}
        self.starting: set[str] = set()
        self._record = record
        self._selector = selectors.DefaultSelector()
        self._orders = False

    def start(self, arguments: list[str], folder: Path) -> None:
        """Starts them; a worker that is not ready yet is in `starting`."""
        commands = _commands()
        for language in LANGUAGES:
            for number in range(1, EACH + 1):
                name = f"{language} {number}"
                worker = Worker(name, commands[language] + arguments, folder / f"{language}-{number}.log")
                self.all[name] = worker
                self._selector.register(worker.stdout, selectors.EVENT_READ, worker)
        self.starting = set(self.all)

    def listen(self, seconds: float) -> None:
        """Takes in events for at most `seconds`; returns after the first ones."""
        for key, _ in self._selector.select(seconds):
            worker: Worker = key.data
            data = os.read(worker.stdout.fileno(), 65536)
            if not data:
                self._ended(worker)
                continue
            *lines, worker.unread = (worker.unread + data).split(b"\n")
            for line in lines:
                self._event(worker, line.decode())

    def _event(self, worker: Worker, line: str) -> None:
        try:
            event, at = line.split()
            self._record.take(worker.name, event, int(at))
        except (ValueError, KeyError) as error:
            raise WorkerFailed(f"{worker.name} wrote `{line}`, which is no event in its place") from error
        if event == "ready":
            self.starting.discard(worker.name)
        elif event == "frees" and self._orders:
            worker.order("sell")

    def _ended(self, worker: Worker) -> None:
        self._selector.unregister(worker.stdout)
        code = worker.process.wait()
        if code != 0 or self._orders:
            said = worker.log.read_text(errors="replace").strip().splitlines()[-8:]
            raise WorkerFailed("\n  ".join([f"{worker.name} ended with exit code {code}", *said]))
        del self.all[worker.name]

    def begin(self) -> None:
        """From now on every worker always has its next order."""
        self._orders = True
        for worker in self.all.values():
            for _ in range(AHEAD):
                worker.order("sell")

    def kill(self, name: str) -> int:
        """Ends one with SIGKILL, and takes note of it."""
        worker = self.all.pop(name)
        self._selector.unregister(worker.stdout)
        at = worker.kill()
        self._record.killed(name, at)
        return at

    def finish(self) -> None:
        """No more orders: every worker ends when it has done its own."""
        self._orders = False
        for worker in self.all.values():
            worker.stdin.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.all.values():
            worker.kill()


def _commands() -> dict[str, list[str]]:
    """How to start a worker of each language, once `make` has built them."""
    jars = sorted(ROOT.glob("build/libs/redlatch-*[0-9].jar"))
    if not jars:
        raise SystemExit("the jar is not built; run `make demo`, which builds everything first")
    return {
        "rust": [str(ROOT / "target/ci/redlatch-demo-worker")],
        "python": [sys.executable, str(ROOT / "examples/demo/worker.py")],
        "java": ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars[-1]}:{ROOT / 'target/demo'}", "Worker"],
    }
