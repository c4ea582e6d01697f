"""The verdict: the conditions that a finished demo must meet, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from record import LANGUAGES, Record

MARGIN = 1.0  # seconds that a takeover may come after the dead holder's lease: a waiter's own clock and a busy machine


@dataclass
class Kill:
    """The moment at which the holder was killed."""

    worker: str
    at: int
    remaining: float | None  # seconds that its lease had left; None: it had a session
    session: float  # seconds for which that session lasts without its process

    def takeover(self, record: Record) -> float | None:
        """Seconds from the kill until another worker had the lock."""
        later = [hold.start for hold in record.holds if hold.start > self.at]
        return (min(later) - self.at) / 1e9 if later else None


@dataclass
class Finding:
    """One line: the subject, the result, and whether it is right."""

    title: str
    text: str
    good: bool


def findings(record: Record, stock: Path, kill: Kill, left: list[str], nothing: str) -> Iterator[Finding]:
    """All findings; `nothing` names the things that are not left behind."""
    found, expected = stock.read_text().strip(), record.expected()
    yield Finding("increments", f"{expected:,} expected, {int(found or -1):,} found", found == str(expected))

    overlaps = record.overlaps()
    text = f"{len(record.holds):,} holds, {len(overlaps)} overlaps"
    for old, new in overlaps[:3]:
        text += f"; {new.worker} came in while {old.worker} was inside"
    yield Finding("exclusion", text, not overlaps)

    count = record.acquisitions()
    text = ", ".join(f"{language} {count[language]:,}" for language in LANGUAGES)
    yield Finding("acquisitions", text, all(count[language] for language in LANGUAGES))

    over = record.hand_overs()
    between = {f"{a} to {b}": over[a, b] for a in LANGUAGES for b in LANGUAGES if a != b}
    rarest = min(between, key=lambda pair: between[pair])
    text = f"{sum(between.values()):,} hand-overs; the rarest: {rarest}, {between[rarest]:,} times"
    yield Finding("between languages", text, between[rarest] > 0)

    takeover = kill.takeover(record)
    text = "never" if takeover is None else f"{takeover:.3f} s after the kill"
    if kill.remaining is None:
        lasts = f" lasts for {kill.session:.0f} s without a sign of life" if kill.session else " ended with it"
        text += f"; the session of {kill.worker}{lasts}"
        good = takeover is not None and takeover <= kill.session + MARGIN
    else:
        text += f"; the lease of {kill.worker} had {kill.remaining:.3f} s left"
        # Redis rounds the remaining time to whole milliseconds.
        good = takeover is not None and 0 < kill.remaining - 0.002 <= takeover <= kill.remaining + MARGIN
    yield Finding("takeover", text, good)

    times = record.hand_over_times()
    text = "none between processes"
    if times:
        text = f"p50 {_at(times, 0.50):.2f} ms, p99 {_at(times, 0.99):.2f} ms"
        text += f" of {len(times):,}, from release to acquire in another process"
    yield Finding("hand-over", text, bool(times))

    yield Finding("left behind", ", ".join(left) or f"nothing: {nothing}", not left)


def _at(times: list[int], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))] / 1e6
