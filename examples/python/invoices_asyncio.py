# Numbers invoices in tasks of asyncio, under a lock of the database. Needs a MariaDB or MySQL at MARIADB_URL.
import asyncio
import os

from redlatch import aio

numbers: list[int] = []


async def issue(client: aio.AsyncClient) -> None:
    for _ in range(20):
        async with client.lock("example:invoices:tasks", wait=10) as hold:
            number = len(numbers) + 1
            await asyncio.sleep(0)  # the work; other tasks run meanwhile
            hold.ensure()  # LockLostError if the session of the lock has ended; asks nothing of the server
            numbers.append(number)


async def main() -> None:
    url = os.environ["MARIADB_URL"]
    async with aio.connect(url) as here, aio.connect(url) as elsewhere:
        await asyncio.gather(*(issue(client) for client in (here, here, elsewhere)))


asyncio.run(main())
print(f"{len(numbers)} invoices, the last one is {numbers[-1]}")
assert numbers == list(range(1, 61))
