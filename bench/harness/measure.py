"""How each row is measured: orders to programs; figures out of answers, and of what system and server count."""

from __future__ import annotations

import itertools
import math
import os
import time
from bisect import bisect_right

from harness import machine
from harness.program import LAUNCHERS, Fleet, Program
from harness.server import Server, sent

Figures = dict[str, float]
FREE, ONE_CPU, TWO_CPUS = "", "client and server on one CPU", "client and server on different CPUs"
PATIENCE = 60
LEAD = 30_000_000  # ns from an order to its beginning, so that all processes have read it
names = itertools.count()


class Bench:
    def __init__(self) -> None:
        self.server = Server(LAUNCHERS / "log")
        self.fleet = Fleet(self.server.url)

    def close(self) -> None:
        self.fleet.close()
        self.server.close()


class Window:
    """What is used between `with` and its end: CPU seconds of clients, server and others, and commands by name."""

    def __init__(self, server: Server, programs: list[Program], mode: str = FREE) -> None:
        self._server, self._programs = server, programs
        for program in programs:
            machine.pin(program.pid, machine.CPUS[:1] if mode else machine.CPUS)
        machine.pin(server.pid, {FREE: machine.CPUS, ONE_CPU: machine.CPUS[:1], TWO_CPUS: machine.CPUS[1:2]}[mode])

    def __enter__(self) -> Window:
        self._start, self._before = time.monotonic(), self._used()
        self.commands = self._server.commands()
        return self

    def __exit__(self, *_: object) -> None:
        self.commands = self._server.commands() - self.commands
        used = (after - before for before, after in zip(self._before, self._used()))
        self.client, self.server, own, busy = used
        self.seconds = time.monotonic() - self._start
        self.foreign = max(0.0, busy - own - self.client - self.server) / self.seconds

    def _used(self) -> tuple[float, float, float, float]:
        clients = sum(machine.cpu_seconds(program.pid) for program in self._programs)
        own = machine.cpu_seconds(os.getpid())
        return clients, machine.cpu_seconds(self._server.pid), own, machine.busy_seconds()


def solo(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """One caller locks and unlocks; nobody else asks."""
    return alone(bench, peer, mode, seconds, "solo")


def tasks(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """A hundred tasks lock and unlock, each its own lock."""
    return alone(bench, peer, mode, seconds, "tasks", tasks=100)


def alone(bench: Bench, peer: str, mode: str, seconds: float, order: str, **values: object) -> Figures:
    (program,) = bench.fleet.take(peer)
    with Window(bench.server, [program], mode) as window:
        start = time.monotonic_ns() + LEAD
        program.tell(order, name=fresh(), **values, **{"from": start}, until=start + int(seconds * 1e9))
        answer = program.hear(seconds + PATIENCE)
    pairs = answer["pairs"][0]
    times = {"p50": answer["p50"][0] / 1e3, "p99": answer["p99"][0] / 1e3, "rate": pairs / seconds}
    return {**times, **each(window, pairs), "foreign": window.foreign}


def crowd(bench: Bench, peer: str, mode: str, seconds: float, processes: int = 1, workers: int = 16) -> Figures:
    """Workers of one or more processes contend for one lock, and do nothing while they hold it."""
    programs = bench.fleet.take(peer, processes)
    with Window(bench.server, programs, mode) as window:
        start, name = time.monotonic_ns() + LEAD, fresh()
        for program in programs:
            program.tell("crowd", name=name, workers=workers, **{"from": start}, until=start + int(seconds * 1e9))
        answers = [program.hear(seconds + PATIENCE) for program in programs]
    taken = [count for answer in answers for count in answer["taken"]]
    longest = max(answer["longest"][0] for answer in answers) / 1e6
    shares = {"share": min(taken) / max(taken), "least": min(taken), "most": max(taken), "longest": longest}
    return {"rate": sum(taken) / seconds, **each(window, sum(taken)), **shares, "foreign": window.foreign}


def processes(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    return crowd(bench, peer, mode, seconds, processes=4, workers=4)


def each(window: Window, count: int) -> Figures:
    """What one acquisition cost."""
    scripts = window.commands["evalsha"] + window.commands["eval"]
    costs = {"scripts": scripts, "commands": sent(window.commands), "all": sum(window.commands.values())}
    times = {"cpu": window.client * 1e6, "server_cpu": window.server * 1e6}
    return {name: cost / max(count, 1) for name, cost in {**costs, **times}.items()}


def handover(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """Two processes hold a lock in turn for 12 ms; from before a release until the other one, asleep, has the lock."""
    hold, gap = 12, 4
    programs = bench.fleet.take(peer, 2)
    with Window(bench.server, programs, mode) as window:
        name, times = fresh(), max(2, int(seconds * 1000 / (2 * hold)))
        for program, starts in zip(programs, (0, 1)):
            program.tell("handover", name=name, times=times, hold=hold, gap=gap, starts=starts)
        answers = [program.hear(seconds + PATIENCE) for program in programs]
    one, other = answers
    to_other = waits(one["released"], one["taken"], other["taken"])
    took = sorted(to_other + waits(other["released"], other["taken"], one["taken"]))
    p50, p99 = (took[int((len(took) - 1) * share)] / 1e3 for share in (0.5, 0.99))
    return {"p50": p50, "p99": p99, "handovers": len(took), **each(window, len(took)), "foreign": window.foreign}


def waits(released: list[int], own: list[int], others: list[int]) -> list[int]:
    """How long after each release the other process had the lock, unless the releasing one took it again before."""
    pairs = ((time, following(own, time), following(others, time)) for time in released)
    return [int(other) - time for time, again, other in pairs if other < again]


def following(times: list[int], time: int) -> float:
    """The first of these sorted times after another one."""
    place = bisect_right(times, time)
    return times[place] if place < len(times) else math.inf


def renewal(_: Bench, peer: str, mode: str, seconds: float, locks: int = 10_000, lease: int = 9) -> Figures:
    """Very many locks, taken at once and then renewed, by a process and at a server of their own."""
    server = Server(LAUNCHERS / "log")
    program = Program(peer, f"{server.url}?watchdog={lease}")
    try:
        program.tell("hold", name=fresh(), locks=1)
        program.hear(PATIENCE)
        before = machine.status(program.pid)
        program.tell("hold", name=fresh(), locks=locks - 1)
        program.hear(PATIENCE)
        with Window(server, [program], mode) as window:
            names_at = renewed(server, seconds)
        program.tell("held")
        held = program.hear(PATIENCE)["held"][0]
        after, keys = machine.status(program.pid), int(server.ask("DBSIZE"))
    finally:
        program.close()
        server.close()
    return {
        "cpu_percent": 100 * window.client / window.seconds,
        "rss": after["VmRSS"] / 1024,
        "growth": (after["VmRSS"] - before["VmRSS"]) / 1024,
        "threads": after["Threads"],
        "new_threads": after["Threads"] - before["Threads"],
        "burst": biggest(names_at, 0.1),
        "names": names_at[-1][1] / seconds,
        "scripts": window.commands["evalsha"] / seconds,
        "lost": locks - min(held, keys),
        "foreign": window.foreign,
    }


def renewed(server: Server, seconds: float) -> list[tuple[float, int]]:
    """How many names had been renewed at which time, every 20 ms."""
    start, first = time.monotonic(), server.commands()["pexpire"]
    seen = [(start, 0)]
    while seen[-1][0] < start + seconds:
        time.sleep(0.02)
        seen.append((time.monotonic(), server.commands()["pexpire"] - first))
    return seen


def biggest(seen: list[tuple[float, int]], span: float) -> int:
    """The most names within any such time."""
    times = [time for time, _ in seen]
    return max(seen[bisect_right(times, time + span) - 1][1] - count for time, count in seen)


def fresh() -> str:
    """A name that no lock had before: nobody listens to it any more."""
    return f"bench:{next(names)}"
