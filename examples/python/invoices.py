# Numbers invoices without a gap, under a lock of the database that has them. Needs a MariaDB or MySQL at MARIADB_URL.
import os
import threading

import redlatch

numbers: list[int] = []


def issue(client: redlatch.Client) -> None:
    for _ in range(20):
        # It excludes every program that takes `GET_LOCK('example:invoices', 10)`, in whatever language.
        with client.lock("example:invoices", wait=10) as hold:
            number = len(numbers) + 1
            hold.ensure()  # LockLostError if the session of the lock has ended; asks nothing of the server
            numbers.append(number)


with redlatch.connect(os.environ["MARIADB_URL"]) as here, redlatch.connect(os.environ["MARIADB_URL"]) as elsewhere:
    threads = [threading.Thread(target=issue, args=(client,)) for client in (here, here, elsewhere)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

print(f"{len(numbers)} invoices, the last one is {numbers[-1]}")
assert numbers == list(range(1, 61))
