"""The costs of starting, waiting and holding, in processes of their own."""

from __future__ import annotations

import time
from bisect import bisect_right
from statistics import median

from harness import machine
from harness.peers import ENGINES
from harness.program import Broken, Cannot, Program
from harness.server import Redis, engine, sent
from harness.window import PATIENCE, Bench, Figures, Window, fresh

LEASE = 9  # seconds
MANY = 60  # seconds within which very many locks are taken


def start(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """From the start of a process to its first lock and unlock."""
    server = bench.server(peer)
    before, begun = server.connections(), time.monotonic()
    program = Program(peer, server.url)
    try:
        program.tell("first", name=fresh())
        program.hear(PATIENCE)
        took = time.monotonic() - begun
        status, connections = machine.status(program.pid), server.connections() - before
        cpu = machine.cpu_seconds(program.pid)
    finally:
        program.close()
    figures = {"ms": took * 1e3, "cpu_ms": cpu * 1e3, "rss": status["VmRSS"] / 1024, "threads": status["Threads"]}
    return {**figures, "connections": connections} if connections else figures


def waiting(bench: Bench, peer: str, mode: str, seconds: float, waiters: int = 10_000) -> Figures:
    """Very many wait for one lock, and each has it once when it is released."""
    server = Redis()
    program, holder = Program(peer, server.url), Program("rust", server.url)
    try:
        name = fresh()
        for each in (program, holder):
            each.tell("first", name=fresh())
            each.hear(PATIENCE)
        holder.tell("hold", name=name, locks=1)
        holder.hear(PATIENCE)
        before = machine.status(program.pid)
        program.tell("wait", name=f"{name}:1", waiters=waiters)
        program.hear(MANY)
        settled(program)
        after = machine.status(program.pid)
        with Window(server, [program]) as asleep:
            time.sleep(seconds)
        with Window(server, [program]) as window:
            released = time.monotonic_ns()
            holder.tell("release")
            program.tell("woken")
            answer = program.hear(MANY)
    finally:
        holder.close()
        program.close()
        server.close()
    last, growth = answer["last"][0], after["VmRSS"] - before["VmRSS"]
    if answer["woken"] != [waiters] or last < released:
        raise Broken("not each had the lock once, after its release")
    awake = {"ms": (last - released) / 1e6, "each": (last - released) / 1e3 / waiters, "memory": growth / waiters}
    return {**awake, **window.each(waiters), "asleep": 100 * asleep.client / asleep.seconds}


def settled(program: Program) -> None:
    """Returns when all callers wait: the process has used next to no CPU for a while, or never stops using it."""
    for _ in range(100):
        before = machine.cpu_seconds(program.pid)
        time.sleep(0.2)
        if machine.cpu_seconds(program.pid) - before < 0.01:
            return


def renewal(_: Bench, peer: str, mode: str, seconds: float, locks: int = 10_000) -> Figures:
    """Very many locks, taken at once and then renewed, by a process and at a server of their own."""
    server = Redis()
    program = Program(peer, f"{server.url}?watchdog={LEASE}")
    try:
        before = taken(program, locks)
        with Window(server, [program], mode) as window:
            names_at = renewed(server, seconds)
        after, keys = machine.status(program.pid), int(server.ask("DBSIZE"))
        try:
            held = still_held(program)
        except Cannot:  # it knows no better than the server
            held = keys
    finally:
        program.close()
        server.close()
    return {
        **costs(window, before, after, locks),
        "burst": biggest(names_at, 0.1),
        "names": names_at[-1][1] / seconds,
        "scripts": window.commands["evalsha"] / seconds,
        "lost": locks - min(held, keys),
    }


def held(_: Bench, peer: str, mode: str, seconds: float, locks: int = 10_000) -> Figures:
    """The same at another system, where a request renews all that a session has."""
    server = engine(ENGINES[peer])
    program = Program(peer, f"{server.url}?watchdog={LEASE}")
    try:
        before = taken(program, locks)
        with Window(server, [program], mode) as window:
            time.sleep(seconds)
        after = machine.status(program.pid)
        still = still_held(program)
    finally:
        program.close()
        server.close()
    return {
        **costs(window, before, after, locks),
        "requests": sent(window.commands) / seconds,
        "lost": locks - still,
    }


def taken(program: Program, locks: int) -> dict[str, int]:
    """Has the program take so many locks. Gives its status after the first one."""
    program.tell("hold", name=fresh(), locks=1)
    program.hear(PATIENCE)
    status = machine.status(program.pid)
    program.tell("hold", name=fresh(), locks=locks - 1)
    program.hear(MANY)
    return status


def still_held(program: Program) -> int:
    program.tell("held")
    return program.hear(MANY)["held"][0]


def costs(window: Window, before: dict[str, int], after: dict[str, int], locks: int) -> Figures:
    growth = after["VmRSS"] - before["VmRSS"]
    return {
        "cpu_percent": 100 * window.client / window.seconds,
        "server_percent": 100 * window.server / window.seconds,
        "rss": after["VmRSS"] / 1024,
        "growth": growth / 1024,
        "memory": growth / locks,
        "threads": after["Threads"],
        "new_threads": after["Threads"] - before["Threads"],
        "foreign": window.foreign,
    }


def killed(bench: Bench, peer: str, mode: str, seconds: float, times: int = 5) -> Figures:
    """A holder is killed; until another process, asleep, has had its lock."""
    server, (waiter,) = bench.server(peer), bench.take(peer, mode)
    Window(server, [waiter], mode)  # lets both run on all CPUs
    took = []
    for _ in range(times):
        holder, name = Program(f"rust-{ENGINES[peer]}", f"{server.url}?watchdog={LEASE}"), fresh()
        try:
            holder.tell("hold", name=name, locks=1)
            holder.hear(PATIENCE)
            waiter.tell("wait", name=f"{name}:1", waiters=1)
            waiter.hear(PATIENCE)
            settled(waiter)
            before = time.monotonic_ns()
            holder.kill()
            waiter.tell("woken")
            took.append((waiter.hear(PATIENCE)["last"][0] - before) / 1e6)
        finally:
            holder.close()
    if min(took) < 0:
        raise Broken("it had the lock of a holder that lived")
    return {"ms": median(took), "longest": max(took)}


def renewed(server: Redis, seconds: float) -> list[tuple[float, int]]:
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
