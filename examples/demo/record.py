"""The history of the demo: every hold of the lock by every worker, and its consequences."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

LANGUAGES = ("rust", "python", "java")


@dataclass
class Hold:
    """One stay inside the critical section. Times are nanoseconds of CLOCK_MONOTONIC, which all processes share."""

    worker: str
    asked: int
    start: int
    end: int | None = None
    sold: bool = False

    @property
    def language(self) -> str:
        return self.worker.split()[0]


@dataclass
class Record:
    """Takes in the workers' events as they come; answers the questions of the board and the verdict."""

    holds: list[Hold] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    inside: dict[str, Hold] = field(default_factory=dict)
    hanging: str | None = None
    dead: str | None = None  # the killed holder, until another worker comes in
    began: float = field(default_factory=time.monotonic)

    def take(self, worker: str, event: str, at: int) -> None:
        """One line that a worker wrote."""
        if event == "waits":
            self.waiting[worker] = at
        elif event == "holds":
            self.inside[worker] = Hold(worker, self.waiting.pop(worker), at)
            self.holds.append(self.inside[worker])
            self.dead = None
        elif event == "frees":
            hold = self.inside.pop(worker)
            hold.end, hold.sold = at, True
        elif event == "hangs":
            self.hanging = worker

    def killed(self, worker: str, at: int) -> None:
        """The worker has been dead since `at`; its hold ended there, without a sale."""
        self.waiting.pop(worker, None)
        self.inside.pop(worker).end = at
        self.hanging, self.dead = None, worker

    def holder(self) -> Hold | None:
        """The present hold. Lines of different workers arrive in any order: the latest start is right."""
        return max(self.inside.values(), key=lambda hold: hold.start, default=None)

    def in_order(self) -> list[Hold]:
        return sorted(self.holds, key=lambda hold: hold.start)

    def acquisitions(self) -> Counter[str]:
        return Counter(hold.language for hold in self.holds)

    def expected(self) -> int:
        return sum(hold.sold for hold in self.holds)

    def hand_overs(self) -> Counter[tuple[str, str]]:
        """How often the lock went from a process of one language to another process, by languages."""
        return Counter((old.language, new.language) for old, new in self._changes())

    def hand_over_times(self) -> list[int]:
        """Nanoseconds from a release to the return of acquire in another process that was waiting, in rising order."""
        return sorted(
            new.start - old.end
            for old, new in self._changes()
            if old.sold and old.end is not None and new.asked < old.end
        )

    def _changes(self) -> Iterator[tuple[Hold, Hold]]:
        """Holds that follow one another in different processes."""
        order = self.in_order()
        return ((old, new) for old, new in zip(order, order[1:]) if old.worker != new.worker)

    def overlaps(self) -> list[tuple[Hold, Hold]]:
        """Pairs of holds that were inside at the same time."""
        found = []
        last: Hold | None = None
        for hold in self.in_order():
            if last is not None and (last.end is None or hold.start < last.end):
                found.append((last, hold))
            if last is None or (last.end is not None and (hold.end is None or hold.end > last.end)):
                last = hold
        return found
