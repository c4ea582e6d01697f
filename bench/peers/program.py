"""The measuring program for Python: `program.py <redlatch|redis-py> <url>` carries out lines, see bench/README.md."""

import sys
import time


def locks(peer, url):
    """What gives the lock of a name, with `acquire` and `release`."""
    if peer == "redlatch":
        import redlatch

        return redlatch.connect(url).get_lock
    import redis

    client = redis.Redis.from_url(url)
    return lambda name: client.lock(name, timeout=30)


def solo(lock, start, until):
    time.sleep(max(0, start - time.monotonic_ns()) / 1e9)
    took = []
    last = time.monotonic_ns()
    while last < until:
        lock.acquire()
        lock.release()
        now = time.monotonic_ns()
        took.append(now - last)
        last = now
    took.sort()
    p50, p99 = (took[int((len(took) - 1) * share)] for share in (0.5, 0.99))
    return f"pairs={len(took)} p50={p50} p99={p99}"


def main():
    get_lock = locks(*sys.argv[1:3])
    for line in sys.stdin:
        what, *words = line.split()
        if what != "solo":
            sys.exit(f"there is no order `{what}`")
        order = dict(word.split("=", 1) for word in words)
        print(solo(get_lock(order["name"]), int(order["from"]), int(order["until"])), flush=True)


if __name__ == "__main__":
    main()
