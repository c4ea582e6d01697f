"""Rows that last for a time and count: one caller or many, each alone or all at one lock."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from harness.program import Answer, Program
from harness.server import Server
from harness.window import LEAD, Bench, Figures, Window, fresh

LATE = 8  # seconds after the end; the harness waits no longer for a hanging lock


def solo(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """One caller locks and unlocks, without contention."""
    window, (answer,) = timed(bench, peer, mode, seconds, "solo")
    return pairs(window, answer, seconds)


def own(bench: Bench, peer: str, mode: str, seconds: float, callers: int = 64) -> Figures:
    """Each of many callers locks and unlocks a lock of its own."""
    window, (answer,) = timed(bench, peer, mode, seconds, "own", callers=callers)
    return pairs(window, answer, seconds)


def crowd(
    bench: Bench, peer: str, mode: str, seconds: float, processes: int = 1, workers: int = 16, hold: int = 0
) -> Figures:
    """Workers of one or more processes contend for one lock, and sleep for `hold` ms while they have it."""
    window, answers = timed(bench, peer, mode, seconds, "crowd", processes, workers=workers, hold=hold)
    return shares(window, answers, seconds)


def readers(bench: Bench, peer: str, mode: str, seconds: float, workers: int = 16) -> Figures:
    """One acquisition of twenty is for writing."""
    window, answers = timed(bench, peer, mode, seconds, "readers", workers=workers, writes=20)
    return shares(window, answers, seconds)


def permits(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """A hundred workers take one of ten permits each."""
    window, answers = timed(bench, peer, mode, seconds, "permits", workers=100, permits=10)
    return shares(window, answers, seconds)


def timed(
    bench: Bench, peer: str, mode: str, seconds: float, order: str, processes: int = 1, **values: object
) -> tuple[Window, list[Answer]]:
    """Several programs of one peer carry out one order over the same span of time."""
    tasks = [(program, values) for program in bench.take(peer, mode, processes)]
    return together(bench.server(peer), tasks, mode, seconds, order)


def together(
    server: Server, tasks: Sequence[tuple[Program, Mapping[str, object]]], mode: str, seconds: float, order: str
) -> tuple[Window, list[Answer]]:
    """Several programs carry out one order over the same span of time, each with values of its own."""
    programs = [program for program, _ in tasks]
    with Window(server, programs, mode) as window:
        start, name = time.monotonic_ns() + LEAD, fresh()
        for program, values in tasks:
            program.tell(order, name=name, **values, **{"from": start}, until=start + int(seconds * 1e9))
        answers = Program.hear_all(programs, seconds + LATE)
    return window, answers


def pairs(window: Window, answer: Answer, seconds: float) -> Figures:
    count = answer["pairs"][0]
    times = {"p50": answer["p50"][0] / 1e3, "p99": answer["p99"][0] / 1e3, "rate": count / seconds}
    return {**times, **window.each(count)}


def shares(window: Window, answers: list[Answer], seconds: float) -> Figures:
    taken = [count for answer in answers for count in answer["taken"]]
    longest = max(answer["longest"][0] for answer in answers) / 1e6
    share = {"share": min(taken) / max(max(taken), 1), "least": min(taken), "most": max(taken), "longest": longest}
    alone = of_one(answers[0], seconds) if len(answers) == 1 else {}
    return {"rate": sum(taken) / seconds, **share, **alone, **window.each(sum(taken))}


def of_one(answer: Answer, seconds: float) -> Figures:
    """The waits of one process, and how often its workers took the lock from one another, if it tells."""
    waits = {"wait": answer["p50"][0] / 1e6, "wait_p99": answer["p99"][0] / 1e6} if "p50" in answer else {}
    return waits | ({"changes": answer["changes"][0] / seconds} if "changes" in answer else {})
