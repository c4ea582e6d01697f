# Moves money between accounts: both are locked, or none, in either direction. Needs a server at REDLATCH_URL.
import threading

import redlatch

accounts = {"alice": 100, "bob": 100}


def transfer(client: redlatch.Client, giver: str, taker: str) -> None:
    lock = client.get_multi_lock(*(client.lock(f"example:account:{name}") for name in (giver, taker)))
    for _ in range(20):
        # Taken in one order everywhere: transfers in opposite directions do not wait in a circle.
        with lock as hold:
            before = accounts[giver], accounts[taker]
            hold.ensure()  # LockLostError if either of them was lost
            accounts[giver], accounts[taker] = before[0] - 1, before[1] + 1


with redlatch.connect() as client:
    ways = [("alice", "bob"), ("bob", "alice"), ("alice", "bob")]
    threads = [threading.Thread(target=transfer, args=(client, *way)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

print(accounts)
assert accounts == {"alice": 80, "bob": 120}
