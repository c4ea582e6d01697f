"""Two processes have a lock in turn; how long it takes from one to the other."""

from __future__ import annotations

import math
from bisect import bisect_right

from harness.peers import FLOORS
from harness.program import Answer, Broken, Program
from harness.window import PATIENCE, Bench, Figures, Window, fresh

HOLD, GAP = 12, 4  # ms


def handover(bench: Bench, peer: str, mode: str, seconds: float) -> Figures:
    """Each holds the lock for 12 ms; from before a release until the other one, asleep, has the lock."""
    programs = bench.take(peer, mode, 2)
    with Window(bench.server(peer), programs, mode) as window:
        name, times = fresh(), max(2, int(seconds * 1000 / (2 * HOLD)))
        for program, starts in zip(programs, (0, 1)):
            program.tell("handover", name=name, times=times, hold=HOLD, gap=GAP, starts=starts)
        answers = Program.hear_all(programs, seconds + PATIENCE)
    one, other = answers
    if peer not in FLOORS and overlap(answers):
        raise Broken("both had the lock")
    to_other = waits(one["released"], one["taken"], other["taken"])
    took = sorted(to_other + waits(other["released"], other["taken"], one["taken"]))
    if not took:
        return {"handovers": 0, **window.each(0)}
    p50, p99 = (took[int((len(took) - 1) * share)] / 1e3 for share in (0.5, 0.99))
    return {"p50": p50, "p99": p99, "handovers": len(took), **window.each(len(took))}


def overlap(answers: list[Answer]) -> bool:
    spans = sorted(span for answer in answers for span in zip(answer["taken"], answer["released"]))
    return any(released > taken for (_, released), (taken, _) in zip(spans, spans[1:]))


def waits(released: list[int], own: list[int], others: list[int]) -> list[int]:
    """How long after each release the other process had the lock, unless the releasing one took it again before."""
    pairs = ((time, following(own, time), following(others, time)) for time in released)
    return [int(other) - time for time, again, other in pairs if other < again]


def following(times: list[int], time: int) -> float:
    """The first of these sorted times after another one."""
    place = bisect_right(times, time)
    return times[place] if place < len(times) else math.inf
