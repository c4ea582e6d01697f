"""The demo: Rust, Python and JVM processes count sales in one plain file, and lose none: they share one lock key.

Half-way, the demo kills one of them with `kill -9` while it holds the lock. Then, if there are several servers, it
kills a server. Run it by `make demo`, `make demo TOPOLOGY=cluster`, `make demo ENGINE=mysql` or `make demo
ENGINE=zookeeper`.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from board import Board
from record import Record
from topologies import topology
from topology import Topology
from verdict import Kill, findings
from workers import WorkerFailed, Workers

TRADING = 4.0  # seconds of undisturbed sales, before and after each kill


class Stuck(Exception):
    """An expected event did not happen."""


class Demo:
    """The plot."""

    def __init__(self, servers: Topology, name: str, folder: Path) -> None:
        self.servers, self.name, self.folder = servers, name, folder
        self.lease = servers.lease  # a takeover after a kill takes at most this long
        self.stock = folder / "stock"
        self.stock.write_text("0")
        self.record = Record()
        self.board = Board(self.record, self.stock, "session" if servers.has_sessions else "lease")

    def play(self) -> bool:
        """From the first worker to the verdict; True if all is well."""
        with Workers(self.record) as workers:
            self.workers = workers
            self.open()
            self.trade()
            kill = self.kill_a_holder()
            self.trade()
            if self.kill_a_master():
                self.trade()
            workers.finish()
            self.wait("every worker to end", 20, lambda: not workers.all)
        return self.judge(kill)

    def open(self) -> None:
        self.board.say(
            f"one key, `{self.name}` on {self.servers.title}; two processes a language; one unprotected file\n"
        )
        self.workers.start([self.servers.url, self.name, str(self.stock), str(self.lease)], self.folder)
        self.wait("every worker to be ready", 60, lambda: not self.workers.starting)
        self.record.began = time.monotonic()
        self.workers.begin()

    def trade(self) -> None:
        end = time.monotonic() + TRADING
        self.wait("the time to pass", TRADING + 1, lambda: time.monotonic() > end)

    def kill_a_holder(self) -> Kill:
        victim = random.choice(list(self.workers.all))
        self.workers.all[victim].order("hang")
        self.wait(f"{victim} to get the lock", 20, lambda: self.record.hanging == victim)
        renewal = self.servers.renewal or f"its lease of {self.lease} s is renewed"
        self.board.say(self.at(f"{victim} hangs inside; {renewal}, so no other worker may come in"))
        end = time.monotonic() + self.lease + 0.5
        self.wait("the lease to be renewed", self.lease + 2, lambda: time.monotonic() > end)
        at = self.workers.kill(victim)
        remaining = None if self.servers.has_sessions else self.servers.remaining(self.name)
        kill = Kill(victim, at, remaining, self.servers.session)
        rest = self.servers.rest or f"{kill.remaining:.3f} s of its lease are left"
        self.board.say(self.at(f"{victim} is killed with kill -9; {rest}"))
        self.wait("another worker to take over", self.lease + 20, lambda: kill.takeover(self.record) is not None)
        self.board.say(self.at(f"{self.taker(kill)} takes over, {kill.takeover(self.record):.3f} s after the kill\n"))
        return kill

    def kill_a_master(self) -> bool:
        """True if there was more than one server, of which one is dead now."""
        at, dead = time.monotonic_ns(), self.servers.kill_a_master(self.name)
        if dead is None:
            return False
        self.board.say(self.at(f"the master at {dead} is killed with kill -9"))

        def first() -> int:
            return min((hold.start for hold in self.record.holds if hold.asked > at), default=0)

        self.wait("the others to go on without it", 30, lambda: first() > 0)
        self.board.say(self.at(f"the others go on without it, {(first() - at) / 1e9:.3f} s later\n"))
        return True

    def taker(self, kill: Kill) -> str:
        return min((hold for hold in self.record.holds if hold.start > kill.at), key=lambda hold: hold.start).worker

    def wait(self, what: str, seconds: float, done: Callable[[], bool]) -> None:
        """Takes in events and shows them until `done`."""
        give_up = time.monotonic() + seconds
        while not done():
            if time.monotonic() > give_up:
                raise Stuck(f"waited {seconds:.0f} s for {what}, in vain")
            self.workers.listen(0.05)
            if not self.workers.starting:
                self.board.show()

    def judge(self, kill: Kill) -> bool:
        self.board.close()
        left, nothing = self.servers.leftovers(self.name), self.servers.nothing
        results = list(findings(self.record, self.stock, kill, left, nothing))
        for finding in results:
            mark = "  " if finding.good else self.board.colour(False, "✗ ")
            print(f"{mark}{finding.title:<18} {finding.text}")
        wrong = [finding.title for finding in results if not finding.good]
        print()
        if wrong:
            print(self.board.colour(False, "FAILED") + f"  wrong: {', '.join(wrong)}")
        else:
            sold = self.record.expected()
            print(
                self.board.colour(True, "OK")
                + f"  three languages, one key, one kill -9: {sold:,} increments and none lost"
            )
        return not wrong

    def at(self, text: str) -> str:
        return f"{time.monotonic() - self.record.began:5.1f} s  {text}"

    def close(self) -> None:
        """Leaves the terminal and the server as they were, after a failure as well."""
        self.board.close()
        self.servers.forget(self.name)


def main() -> int:
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, signal.default_int_handler)
    name = f"redlatch-demo:{random.getrandbits(32):08x}"
    try:
        with tempfile.TemporaryDirectory(prefix="redlatch-demo-") as folder, topology(Path(folder)) as servers:
            demo = Demo(servers, name, Path(folder))
            try:
                return 0 if demo.play() else 1
            finally:
                demo.close()
    except (WorkerFailed, Stuck, OSError) as error:
        print(f"FAILED  {error}")
        return 1
    except KeyboardInterrupt:
        print("interrupted; workers, server and key are gone")
        return 130


if __name__ == "__main__":
    sys.exit(main())
