"""The live view: redrawn in place on a terminal, a plain line every two seconds without one."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from record import LANGUAGES, Record

BOLD, DIM, RED, GREEN, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"
HIDE_CURSOR, SHOW_CURSOR, CLEAR_BELOW = "\x1b[?25l", "\x1b[?25h", "\x1b[J"


class Board:
    """Shows a record while it grows."""

    def __init__(self, record: Record, stock: Path, keeps: str) -> None:
        """`keeps`: the thing with which the lock of a dead holder ends."""
        self._record, self._stock, self._keeps = record, stock, keeps
        self._live = sys.stdout.isatty()
        self._drawn = 0  # lines of the view that are on the screen now
        self._next = 0.0
        if self._live:
            sys.stdout.write(HIDE_CURSOR)

    def say(self, text: str) -> None:
        """A line that stays, above the view."""
        print(self._up() + text, flush=True)
        self._next = 0.0

    def show(self) -> None:
        """Draws the present state, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.1 if self._live else 2.0)
        if not self._live:
            print(f"{now - self._record.began:5.1f} s  {self._plain()}", flush=True)
            return
        width = shutil.get_terminal_size().columns - 1
        lines = [f"{style}{text[:width]}{PLAIN}" for style, text in self._lines(now)]
        text = self._up() + "\n".join(lines) + "\n"
        self._drawn = len(lines)
        sys.stdout.write(text)
        sys.stdout.flush()

    def close(self) -> None:
        """Takes the view away and leaves the terminal as it was."""
        if self._live:
            sys.stdout.write(self._up() + SHOW_CURSOR)
            sys.stdout.flush()

    def colour(self, good: bool, text: str) -> str:
        return f"{BOLD}{GREEN if good else RED}{text}{PLAIN}" if self._live else text

    def _up(self) -> str:
        """Back to the first line of the view, with nothing left of it."""
        if not self._drawn:
            return ""
        lines, self._drawn = self._drawn, 0
        return f"\x1b[{lines}F{CLEAR_BELOW}"

    def _holder(self) -> str:
        hold = self._record.holder()
        if hold is None:
            dead = self._record.dead
            return f"{dead}, which is dead, until its {self._keeps} ends" if dead else "no worker"
        return f"{hold.worker} for {(time.monotonic_ns() - hold.start) / 1e6:,.0f} ms"

    def _plain(self) -> str:
        count = self._record.acquisitions()
        each = ", ".join(f"{language} {count[language]}" for language in LANGUAGES)
        between = sum(times for (old, new), times in self._record.hand_overs().items() if old != new)
        waiting = len(self._record.waiting)
        return f"acquired: {each}; between languages: {between}; holds: {self._holder()}; waiting: {waiting}"

    def _lines(self, now: float) -> list[tuple[str, str]]:
        """The view, from top to bottom: the style of each line, and its text."""
        record = self._record
        count, over = record.acquisitions(), record.hand_overs()
        heads = "".join(f"{'to ' + language:>11}" for language in LANGUAGES)
        lines = [
            (PLAIN, ""),
            (RED if record.hanging or record.dead else BOLD, f"  holds   {self._holder()}"),
            (PLAIN, f"  waits   {', '.join(sorted(record.waiting)) or 'no worker'}"),
            (PLAIN, ""),
            (DIM, f"  {'':8}{'acquired':>10}{'handed over':>14}{heads}"),
        ]
        for language in LANGUAGES:
            cells = "".join(f"{over[language, to]:>11,}" for to in LANGUAGES)
            lines.append((PLAIN, f"  {language:<8}{count[language]:>10,}{'':14}{cells}"))
        lines.append((PLAIN, ""))
        sold = f"{record.expected():,} sold, {self._stock} says {_content(self._stock)}"
        lines.append((PLAIN, f"  {now - record.began:4.1f} s: {sold}"))
        return lines


def _content(stock: Path) -> str:
    return stock.read_text().strip() or "(is being written)"
