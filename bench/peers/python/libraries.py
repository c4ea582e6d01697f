"""The interface of each library: `lock(name)`, with `acquire` and `release`, and its other objects.

A program imports its library when it uses it, so that the import counts in the program's start. The lease is 30 s, or
the URL's `watchdog`. All else is the library's default unless a comment gives a reason.
"""

# redis-py 8 stops at 100 connections, with an error; a thread or task that asks has one to itself.
POOL = {"max_connections": 1 << 20}


class Cannot(Exception):
    """The library has no such thing."""


class Library:
    def __init__(self, url):
        self.url, _, lease = url.partition("?watchdog=")
        self.lease = int(lease or 30)

    def read_write(self, name):
        """A lock for readers and one for the writer."""
        raise Cannot

    def permits(self, name, count):
        """A semaphore with so many permits."""
        raise Cannot

    def hold(self, name):
        """Takes a lock that the library renews by itself, and returns a function that tells whether it still has it."""
        raise Cannot


class Redlatch:
    def __init__(self, url):
        import redlatch

        self.client = redlatch.connect(url)
        self.lock = self.client.get_lock

    def read_write(self, name):
        locks = self.client.get_read_write_lock(name)
        return locks.read_lock, locks.write_lock

    def permits(self, name, count):
        semaphore = self.client.get_semaphore(name)
        semaphore.try_set_permits(count)
        return semaphore

    def hold(self, name):
        hold = self.lock(name).lock()
        return lambda: not hold.lost


class RedisPy(Library):
    def __init__(self, url):
        super().__init__(url)
        import redis

        self.client = redis.Redis.from_url(self.url, **POOL)

    def lock(self, name):
        return self.client.lock(name, timeout=self.lease)


class PythonRedisLock(Library):
    def __init__(self, url):
        super().__init__(url)
        import logging

        import redis
        import redis_lock

        # It waits in BLPOP for the lease, and redis-py 8 for no answer longer than 5 s.
        self.client = redis.Redis.from_url(self.url, socket_timeout=None, **POOL)
        self.new = redis_lock.Lock
        logging.disable(logging.WARNING)  # every try in vain is one

    def lock(self, name):
        return self.new(self.client, name, expire=self.lease)

    def hold(self, name):
        lock = self.new(self.client, name, expire=self.lease, auto_renewal=True)
        lock.acquire()
        return lambda: lock.get_owner_id() == lock.id


class Pottery(RedisPy):
    def __init__(self, url):
        super().__init__(url)
        from pottery import Redlock

        self.new = Redlock

    def lock(self, name):
        return self.new(key=name, masters={self.client}, auto_release_time=self.lease)


class RedlatchTasks:
    def __init__(self, url):
        from redlatch import aio

        self.client = aio.connect(url)
        self.lock = self.client.get_lock

    read_write = Redlatch.read_write

    async def permits(self, name, count):
        semaphore = self.client.get_semaphore(name)
        await semaphore.try_set_permits(count)
        return semaphore

    async def hold(self, name):
        hold = await self.lock(name).lock()
        return lambda: not hold.lost


class AsyncioLocks:
    """Locks within this process: as fast as tasks can wake one another, without a server."""

    def __init__(self, url):
        import asyncio

        self.new = asyncio.Lock
        self.locks = {}

    def lock(self, name):
        if name not in self.locks:
            self.locks[name] = AsyncioLock(self.new())
        return self.locks[name]


class AsyncioLock:
    def __init__(self, lock):
        self.acquire = lock.acquire
        self._release = lock.release

    async def release(self):
        self._release()


class RedisAsyncio(Library):
    def __init__(self, url):
        super().__init__(url)
        import redis.asyncio

        self.client = redis.asyncio.Redis.from_url(self.url, **POOL)

    lock = RedisPy.lock

    async def permits(self, name, count):
        raise Cannot

    async def hold(self, name):
        raise Cannot


THREADS = {"redlatch": Redlatch, "redis-py": RedisPy, "python-redis-lock": PythonRedisLock, "pottery": Pottery}
TASKS = {"redlatch": RedlatchTasks, "redis-asyncio": RedisAsyncio, "asyncio-lock": AsyncioLocks}
