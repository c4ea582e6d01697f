# Sells from a stock that several threads share, one at a time under a lock. Needs a server at REDLATCH_URL.
import threading
import time

import redlatch

client = redlatch.connect()  # a URL, or REDLATCH_URL / REDIS_URL, or redis://localhost:6379
stock = 100


def sell(till: int) -> None:
    global stock
    for _ in range(10):
        # Waits up to 5 s; the block is never entered without the lock. Another process would be kept out as well.
        with client.lock("example:stock", wait=5) as hold:
            left = stock
            time.sleep(0.001)  # without the lock, sales of other tills would be lost here
            hold.ensure()  # LockLostError if the lock was lost meanwhile
            stock = left - 1
    print(f"till {till} is done")


with client:
    tills = [threading.Thread(target=sell, args=(till,)) for till in range(5)]
    for till in tills:
        till.start()
    for till in tills:
        till.join()

print(f"{stock} left of 100 after 50 sales")
assert stock == 50
