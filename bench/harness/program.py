"""A measuring program: a process that carries out one line after the other."""

from __future__ import annotations

import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path

LAUNCHERS = Path(__file__).parents[2] / "target/bench"
LOG = LAUNCHERS / "log"
Answer = dict[str, list[int]]


class Broken(Exception):
    """A program ended, or said nothing in time."""


class Cannot(Exception):
    """A program has nothing for such an order."""


class Program:
    def __init__(self, peer: str, url: str) -> None:
        self.peer = peer
        with LOG.open("ab") as log:
            self._process = subprocess.Popen(
                [str(LAUNCHERS / peer), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def tell(self, order: str, **values: object) -> None:
        assert self._process.stdin is not None
        words = [order, *(f"{name}={value}" for name, value in values.items())]
        try:
            print(*words, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise Broken(f"{self.peer} ended; see {LOG}") from None

    def hear(self, seconds: float) -> Answer:
        """The numbers of the answer; every answer is one line, `name=1 name=2,3`."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            self.kill()
            raise Broken(f"{self.peer} said nothing in time")
        line = self._process.stdout.readline()
        if not line:
            self.kill()
            raise Broken(f"{self.peer} ended; see {LOG}")
        pairs = (word.split("=") for word in line.split())
        answer = {name: [int(number) for number in numbers.split(",")] for name, numbers in pairs}
        if "cannot" in answer:
            raise Cannot
        return answer

    @staticmethod
    def hear_all(programs: list[Program], seconds: float) -> list[Answer]:
        """Hears every program even if one fails: a late answer must not pass for that to the next order."""
        answers, failures, end = [], [], time.monotonic() + seconds
        for program in programs:
            try:
                answers.append(program.hear(max(0, end - time.monotonic())))
            except (Broken, Cannot) as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
        return answers

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def dismiss(self) -> None:
        """Tells it that there are no more orders."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def close(self) -> None:
        self.dismiss()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()


class Fleet:
    """The programs that run so far; each goes on to the end, so that a JVM is warmed once."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, str], list[Program]] = {}

    def take(self, peer: str, url: str, count: int) -> tuple[list[Program], list[Program]]:
        """The programs that had to be started, and all of them."""
        programs = self._programs.setdefault((peer, url), [])
        programs[:] = [program for program in programs if not program.ended]
        started = [Program(peer, url) for _ in range(count - len(programs))]
        programs += started
        return started, programs[:count]

    def close(self) -> None:
        programs = [program for programs in self._programs.values() for program in programs]
        for program in programs:
            program.dismiss()
        for program in programs:
            program.close()
