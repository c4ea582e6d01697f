# Moves a lock from Redis to another system while programs run: in between they hold both. Needs a server at
# REDLATCH_URL, and at NEW_URL a MariaDB (mariadb://user:password@host/schema) or a ZooKeeper (zookeeper://host1,host2).
import os
import threading

import redlatch

stock = 0


def deliver(lock: redlatch.Lock) -> None:
    global stock
    for _ in range(20):
        with lock as hold:
            seen = stock
            hold.ensure()  # LockLostError if one of its locks was lost
            stock = seen + 1


def side_by_side(*locks: redlatch.Lock) -> None:
    threads = [threading.Thread(target=deliver, args=(lock,)) for lock in locks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


with redlatch.connect() as redis, redlatch.connect(os.environ["NEW_URL"]) as other:
    old = redis.lock("example:stock", wait=30)
    new = other.lock("example:stock", wait=30)
    both = redis.get_multi_lock(old, new, wait=30)

    side_by_side(old, old, both)  # some programs know the new lock already
    side_by_side(both, new, new)  # when all of them do, the first ones leave the old lock out

print(f"{stock} deliveries")
assert stock == 120
