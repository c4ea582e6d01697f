"""A measuring program: a process that carries out one line after the other."""

from __future__ import annotations

import select
import subprocess
from pathlib import Path

LAUNCHERS = Path(__file__).parents[2] / "target/bench"


class Broken(Exception):
    """A program ended, or said nothing in time."""


class Program:
    def __init__(self, peer: str, url: str) -> None:
        self.peer = peer
        with (LAUNCHERS / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(LAUNCHERS / peer), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, order: str, **values: object) -> None:
        assert self._process.stdin is not None
        words = [order, *(f"{name}={value}" for name, value in values.items())]
        try:
            print(*words, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise Broken(f"{self.peer} ended; see {LAUNCHERS / 'log'}") from None

    def hear(self, seconds: float) -> dict[str, list[int]]:
        """The numbers of the answer; every answer is one line, `name=1 name=2,3`."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            raise Broken(f"{self.peer} said nothing for {seconds:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise Broken(f"{self.peer} ended; see {LAUNCHERS / 'log'}")
        pairs = (word.split("=") for word in line.split())
        return {name: [int(number) for number in numbers.split(",")] for name, numbers in pairs}

    def close(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(5)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()


class Fleet:
    """The programs that run so far; each goes on to the end, so that a JVM is warmed once."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._programs: dict[str, list[Program]] = {}

    def take(self, peer: str, count: int = 1) -> list[Program]:
        programs = self._programs.setdefault(peer, [])
        while len(programs) < count:
            programs.append(Program(peer, self.url))
        return programs[:count]

    def close(self) -> None:
        for program in (program for programs in self._programs.values() for program in programs):
            program.close()
