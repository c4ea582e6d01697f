# Many tasks fetch pages: each page once, and no more than three at the same time. Needs a server at REDLATCH_URL.
import asyncio

from redlatch import aio

client = aio.connect()  # a URL, or REDLATCH_URL / REDIS_URL, or redis://localhost:6379
cache: dict[str, str] = {}
fetched: list[str] = []


@client.lock("example:page:{url}", wait=30)  # one lock a page: its name has the argument of each call
async def fetch(url: str) -> str:
    if url not in cache:
        async with client.get_semaphore("example:fetches"):
            await asyncio.sleep(0.01)  # the page takes its time
            fetched.append(url)
            cache[url] = f"the text of {url}"
    return cache[url]


async def main() -> None:
    async with client:
        await client.get_semaphore("example:fetches").try_set_permits(3)
        pages = [f"/{number % 10}" for number in range(50)]
        texts = await asyncio.gather(*(fetch(page) for page in pages))

        # A time-out cancels: a lock that is still granted is given back.
        lock = client.lock("example:slow")
        async with client.lock("example:slow", wait=5):
            try:
                await asyncio.wait_for(lock.lock(), 0.05)
            except asyncio.TimeoutError:
                print("gave up on the slow one")
        assert not await lock.is_locked()

    print(f"{len(texts)} answers from {len(fetched)} fetches")
    assert sorted(fetched) == sorted(set(pages))


asyncio.run(main())
