# A cache that many read side by side and one fills at a time: readers share the read lock, and the writer that finds
# the cache stale writes alone. Needs a server at REDLATCH_URL.
import threading

import redlatch

cache: dict[str, int] = {}
filled: list[str] = []


def price(client: redlatch.Client, article: str) -> int:
    lock = client.get_read_write_lock(f"example:price:{article}", wait=10)
    with lock.read_lock:
        if article in cache:
            return cache[article]
    # A reader does not wait for the write lock, since other readers may do so as well: it lets go first.
    with lock.write_lock as hold:
        if article not in cache:  # another writer may have been here in between
            hold.ensure()
            filled.append(article)
            cache[article] = len(article) * 100
        return cache[article]


with redlatch.connect() as client:
    readers = [threading.Thread(target=price, args=(client, article)) for article in ("tea", "coffee") * 10]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    print(f"20 readers, {len(filled)} writes: {cache}")

assert sorted(filled) == ["coffee", "tea"]
