"""The measuring program for asyncio: `tasks.py <library> <url>` carries out orders, one a line; see bench/README.md."""

import asyncio
import itertools
import os
import sys
import time

from figures import Owners, crowded, numbers, paired, parsed
from libraries import TASKS, Cannot


class Program:
    def __init__(self, library):
        self.library = library
        self.holds = []
        self.taken = None
        self.waiters = []

    async def first(self, order):
        lock = self.library.lock(order["name"])
        await lock.acquire()
        await lock.release()
        return "pairs=1"

    async def solo(self, order):
        return paired([await pairs(self.library.lock(order["name"]), order["from"], order["until"])])

    async def own(self, order):
        locks = (self.library.lock(f"{order['name']}:{caller}") for caller in range(order["callers"]))
        return paired(await asyncio.gather(*(pairs(lock, order["from"], order["until"]) for lock in locks)))

    async def crowd(self, order):
        owners = Owners()
        shares = await contended(order, lambda: [self.library.lock(order["name"])], owners.took)
        return f"{shares} changes={owners.changes}"

    async def readers(self, order):
        def locks():
            reader, writer = self.library.read_write(order["name"])
            return [reader] * (order["writes"] - 1) + [writer]

        return await contended(order, locks)

    async def permits(self, order):
        semaphore = await self.library.permits(order["name"], order["permits"])
        return await contended(order, lambda: [semaphore])

    async def handover(self, order):
        lock = self.library.lock(order["name"])
        taken, released = [], []
        for _ in range(order["times"]):
            await lock.acquire()
            taken.append(time.monotonic_ns())
            await asyncio.sleep(order["hold"] / 1e3)
            released.append(time.monotonic_ns())
            await lock.release()
            await asyncio.sleep(order["gap"] / 1e3)
        return f"taken={numbers(taken)} released={numbers(released)}"

    async def wait(self, order):
        asked = asyncio.Semaphore(0)
        locks = (self.library.lock(order["name"]) for _ in range(order["waiters"]))
        self.waiters = [asyncio.create_task(wait(lock, asked)) for lock in locks]
        for waiter in self.waiters:
            waiter.add_done_callback(end_if_failed)
        for _ in self.waiters:
            await asked.acquire()
        return f"waiting={len(self.waiters)}"

    async def woken(self, _):
        last = max(await asyncio.gather(*self.waiters))
        return f"woken={len(self.waiters)} last={last}"

    async def take(self, order):
        self.taken = self.library.lock(order["name"])
        await self.taken.acquire()
        return f"taken={time.monotonic_ns()}"

    async def drop(self, _):
        released = time.monotonic_ns()
        await self.taken.release()
        return f"released={released}"

    async def hold(self, order):
        for i in range(1, order["locks"] + 1):
            self.holds.append(await self.library.hold(f"{order['name']}:{i}"))
        return f"held={len(self.holds)}"

    async def held(self, _):
        return f"held={sum(has() for has in self.holds)}"


async def contended(order, locks, took=lambda worker: None):
    return crowded(await asyncio.gather(*(contend(locks(), order, took, worker) for worker in range(order["workers"]))))


async def pairs(lock, begin, until):
    """The times of pairs, one after the other; of at least one pair, even if it begins too late."""
    await sleep_until(begin)
    took = []
    last = time.monotonic_ns()
    while not took or last < until:
        await lock.acquire()
        await lock.release()
        now = time.monotonic_ns()
        took.append(now - last)
        last = now
    return took


async def contend(locks, order, took, worker):
    """The waits for these, which it takes in turn and keeps for the order's `hold`, in ms."""
    await sleep_until(order["from"])
    turns, hold = itertools.cycle(locks), order.get("hold", 0) / 1e3
    waits = []
    asked = time.monotonic_ns()
    while asked < order["until"]:
        lock = next(turns)
        await lock.acquire()
        waits.append(time.monotonic_ns() - asked)
        took(worker)
        # The first time it lets all others ask: nothing else may ever suspend the holder of a lock within this process.
        if hold or len(waits) == 1:
            await asyncio.sleep(hold)
        await lock.release()
        asked = time.monotonic_ns()
    return waits


async def wait(lock, asked):
    has = await lock.acquire(blocking=False)
    asked.release()
    if not has:
        await lock.acquire()
    await lock.release()
    return time.monotonic_ns()


async def sleep_until(begin):
    await asyncio.sleep(max(0, begin - time.monotonic_ns()) / 1e9)


def end_if_failed(waiter):
    if waiter.exception():
        sys.excepthook(None, waiter.exception(), None)
        os._exit(1)


async def main():
    library, url = sys.argv[1:]
    program = Program(TASKS[library](url))
    # The loop goes on between orders, so waiters keep waiting.
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := (await lines.readline()).decode():
        what, order = parsed(line)
        try:
            answer = await getattr(program, what)(order)
        except Cannot:
            answer = "cannot=1"
        print(answer, flush=True)
    os._exit(0)  # even if callers still wait


if __name__ == "__main__":
    asyncio.run(main())
