# Charges each order once, although a retry and a second machine try it as well: the note that it is done is written
# under the lock. Needs a server at REDLATCH_URL.
import threading

import redlatch

charged: dict[int, str] = {}  # a table of the database: a lock does not remember what was done


def charge(client: redlatch.Client, order: int, machine: str) -> None:
    with client.lock(f"example:order:{order}", wait=5) as hold:
        if order in charged:
            return  # another machine was first
        hold.ensure()  # LockLostError if the lock was lost meanwhile: better not charged than charged twice
        charged[order] = machine


with redlatch.connect() as client:
    machines = [
        threading.Thread(target=charge, args=(client, order, machine))
        for order in range(10)
        for machine in ("machine 1", "machine 2", "the retry of machine 1")
    ]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()

print(f"{len(charged)} orders are charged, each of them once")
assert sorted(charged) == list(range(10))
