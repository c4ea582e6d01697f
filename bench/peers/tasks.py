"""The measuring program for asyncio: `tasks.py <redlatch|redis-py> <url>` carries out lines, see bench/README.md."""

import asyncio
import sys
import time


def locks(peer, url):
    """What gives the lock of a name, with `acquire` and `release`."""
    if peer == "redlatch":
        from redlatch import aio

        return aio.connect(url).get_lock
    import redis.asyncio

    client = redis.asyncio.Redis.from_url(url)
    return lambda name: client.lock(name, timeout=30)


async def pairs(lock, start, until):
    """The times of pairs, one after the other."""
    await asyncio.sleep(max(0, start - time.monotonic_ns()) / 1e9)
    took = []
    last = time.monotonic_ns()
    while last < until:
        await lock.acquire()
        await lock.release()
        now = time.monotonic_ns()
        took.append(now - last)
        last = now
    return took


async def measure(get_lock, name, tasks, start, until):
    works = [pairs(get_lock(f"{name}:{task}"), start, until) for task in range(tasks)]
    took = sorted(time for times in await asyncio.gather(*works) for time in times)
    p50, p99 = (took[int((len(took) - 1) * share)] for share in (0.5, 0.99))
    return f"pairs={len(took)} p50={p50} p99={p99}"


def main():
    # One loop for all: connections belong to it.
    loop = asyncio.new_event_loop()
    get_lock = locks(*sys.argv[1:3])
    for line in sys.stdin:
        what, *words = line.split()
        if what not in ("solo", "tasks"):
            sys.exit(f"there is no order `{what}`")
        order = dict(word.split("=", 1) for word in words)
        tasks, start, until = int(order.get("tasks", 1)), int(order["from"]), int(order["until"])
        print(loop.run_until_complete(measure(get_lock, order["name"], tasks, start, until)), flush=True)


if __name__ == "__main__":
    main()
