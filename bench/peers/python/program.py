"""The measuring program for threads: `program.py <library> <url>` carries out orders; see bench/README.md."""

import itertools
import os
import queue
import sys
import threading
import time

from figures import Owners, crowded, numbers, paired, parsed
from libraries import THREADS, Cannot


class Program:
    def __init__(self, library):
        self.library = library
        self.holds = []
        self.taken = None
        self.waiting = 0
        self.done = queue.SimpleQueue()

    def first(self, order):
        lock = self.library.lock(order["name"])
        lock.acquire()
        lock.release()
        return "pairs=1"

    def solo(self, order):
        return paired([pairs(self.library.lock(order["name"]), order["from"], order["until"])])

    def own(self, order):
        locks = (self.library.lock(f"{order['name']}:{caller}") for caller in range(order["callers"]))
        return paired(together([(pairs, lock, order["from"], order["until"]) for lock in locks]))

    def crowd(self, order):
        owners = Owners()
        shares = self.contend(order, lambda: [self.library.lock(order["name"])], owners.took)
        return f"{shares} changes={owners.changes}"

    def readers(self, order):
        def locks():
            reader, writer = self.library.read_write(order["name"])
            return [reader] * (order["writes"] - 1) + [writer]

        return self.contend(order, locks)

    def permits(self, order):
        semaphore = self.library.permits(order["name"], order["permits"])
        return self.contend(order, lambda: [semaphore])

    def contend(self, order, locks, took=lambda worker: None):
        return crowded(together([(contend, locks(), order, took, worker) for worker in range(order["workers"])]))

    def handover(self, order):
        lock = self.library.lock(order["name"])
        taken, released = [], []
        for _ in range(order["times"]):
            lock.acquire()
            taken.append(time.monotonic_ns())
            time.sleep(order["hold"] / 1e3)
            released.append(time.monotonic_ns())
            lock.release()
            time.sleep(order["gap"] / 1e3)
        return f"taken={numbers(taken)} released={numbers(released)}"

    def wait(self, order):
        asked = queue.SimpleQueue()
        self.waiting = order["waiters"]
        for _ in range(self.waiting):
            start(wait, self.library.lock(order["name"]), asked, self.done)
        for _ in range(self.waiting):
            asked.get()
        return f"waiting={self.waiting}"

    def woken(self, _):
        last = max(self.done.get() for _ in range(self.waiting))
        return f"woken={self.waiting} last={last}"

    def take(self, order):
        self.taken = self.library.lock(order["name"])
        self.taken.acquire()
        return f"taken={time.monotonic_ns()}"

    def drop(self, _):
        released = time.monotonic_ns()
        self.taken.release()
        return f"released={released}"

    def hold(self, order):
        self.holds += [self.library.hold(f"{order['name']}:{i}") for i in range(1, order["locks"] + 1)]
        return f"held={len(self.holds)}"

    def held(self, _):
        return f"held={sum(has() for has in self.holds)}"


def start(work, *arguments):
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def together(works):
    """The results of these calls, each in a thread of its own."""
    results = [None] * len(works)

    def run(place, work, *arguments):
        results[place] = work(*arguments)

    for thread in [start(run, place, *work) for place, work in enumerate(works)]:
        thread.join()
    return results


def pairs(lock, begin, until):
    """The times of pairs, one after the other; of at least one pair, even if it begins too late."""
    sleep_until(begin)
    took = []
    last = time.monotonic_ns()
    while not took or last < until:
        lock.acquire()
        lock.release()
        now = time.monotonic_ns()
        took.append(now - last)
        last = now
    return took


def contend(locks, order, took, worker):
    """The waits for these, which it takes in turn and keeps for the order's `hold`, in ms."""
    sleep_until(order["from"])
    turns, hold = itertools.cycle(locks), order.get("hold", 0) / 1e3
    waits = []
    asked = time.monotonic_ns()
    while asked < order["until"]:
        lock = next(turns)
        lock.acquire()
        waits.append(time.monotonic_ns() - asked)
        took(worker)
        if hold:
            time.sleep(hold)
        lock.release()
        asked = time.monotonic_ns()
    return waits


def wait(lock, asked, done):
    has = lock.acquire(blocking=False)
    asked.put(None)
    if not has:
        lock.acquire()
    lock.release()
    done.put(time.monotonic_ns())


def sleep_until(begin):
    time.sleep(max(0, begin - time.monotonic_ns()) / 1e9)


def end_at_once(failure):
    sys.__excepthook__(*failure[:3])
    os._exit(1)


def main():
    threading.excepthook = end_at_once  # else a failing thread would go unnoticed
    threading.stack_size(1 << 18)  # for 10,000 that wait
    library, url = sys.argv[1:]
    program = Program(THREADS[library](url))
    for line in sys.stdin:
        what, order = parsed(line)
        try:
            answer = getattr(program, what)(order)
        except Cannot:
            answer = "cannot=1"
        print(answer, flush=True)
    os._exit(0)  # even if callers still wait


if __name__ == "__main__":
    main()
