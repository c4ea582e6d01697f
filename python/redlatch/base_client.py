"""The base of `redlatch.Client` and `redlatch.aio.AsyncClient`: everything but the calls that wait for the server.

Both give locks, semaphores and latches of the same names, with the same arguments. Only the classes differ, and each
client brings its own. In this file the name of such a class, `Lock` say, is a type variable that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, ClassVar, Generic, TypeVar, overload

from redlatch import _redlatch, at_exit
from redlatch.checks import checked_text
from redlatch.durations import Seconds
from redlatch.groups import one_group
from redlatch.owners import EACH, Owner
from redlatch.pickling import NotPickled
from redlatch.stats import Stats

Lock = TypeVar("Lock")
ReadWriteLock = TypeVar("ReadWriteLock")
Semaphore = TypeVar("Semaphore")
PermitExpirableSemaphore = TypeVar("PermitExpirableSemaphore")
CountDownLatch = TypeVar("CountDownLatch")
MultiLock = TypeVar("MultiLock")
FasterMultiLock = TypeVar("FasterMultiLock")
RedLock = TypeVar("RedLock")
Leader = TypeVar("Leader")
Job = TypeVar("Job")
Locks = TypeVar("Locks")


class BaseClient(
    NotPickled,
    Generic[
        Lock,
        ReadWriteLock,
        Semaphore,
        PermitExpirableSemaphore,
        CountDownLatch,
        MultiLock,
        FasterMultiLock,
        RedLock,
        Leader,
        Job,
        Locks,
    ],
):
    """The locks, semaphores and latches of a client, its id and its credentials."""

    #: The client's name in `repr`.
    _title: ClassVar[str]

    #: The client's own classes.
    _lock: Callable[..., Lock]
    _read_write_lock: Callable[..., ReadWriteLock]
    _semaphore: Callable[..., Semaphore]
    _permit_expirable_semaphore: Callable[..., PermitExpirableSemaphore]
    _count_down_latch: Callable[..., CountDownLatch]
    _multi_lock: Callable[..., MultiLock]
    _faster_multi_lock: Callable[..., FasterMultiLock]
    _red_lock: Callable[..., RedLock]
    _leader: Callable[..., Leader]
    _job: Callable[..., Job]
    _locks: Callable[..., Locks]

    _native: _redlatch.Client

    def __init__(self, native: object = None) -> None:
        self._native = at_exit.register(native)

    def __del__(self) -> None:
        native = getattr(self, "_native", None)  # `__init__` may have raised
        if native is not None:
            at_exit.drop(native)

    @property
    def id(self) -> str:
        """The client's name in Redis, a UUID. A forked child has another one."""
        return self._native.id

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed

    def lock(self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None) -> Lock:
        """Returns the lock called `name`. Each of its acquires is an owner of its own. No call goes to Redis.

        An acquire excludes every other acquire, also of the same thread or task. Any thread or task may end it: see
        `Lock`. `wait` is how long an acquire waits, in seconds or as `timedelta` (None: for ever, 0: it tries once).
        `lease` is how long a hold lasts (None: until it is released; the watchdog renews it while this process lives).

        Raises ConfigError for an argument that cannot be used.
        """
        return self._lock(self, name, wait, lease, EACH)

    def get_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> Lock:
        """Returns Redisson's reentrant lock called `name`. No call goes to Redis.

        The lock's methods take `wait` and `lease` from here where their caller gives none, in seconds or as
        `timedelta`. `wait` is how long an acquire waits (None: for ever, 0: it tries once). `lease` is how long a hold
        lasts (None: until it is released; the watchdog renews it while this process lives). `owner` holds the lock
        (None: the calling thread, in asyncio the calling task). It is an int below 2**40, and the same owner of the
        same client may acquire the lock again while it holds it. With `owner=redlatch.EACH` every acquire is an owner
        of its own, as with `lock`.

        Raises ConfigError for an argument that cannot be used.
        """
        return self._lock(self, name, wait, lease, owner)

    def get_read_write_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> ReadWriteLock:
        """Returns the locks called `name` for many readers or one writer. The arguments are those of `get_lock`."""
        return self._read_write_lock(self, name, wait, lease, owner)

    def get_semaphore(self, name: str, *, permits: int | None = None, wait: Seconds | None = None) -> Semaphore:
        """Returns the semaphore called `name`. No call goes to Redis.

        `permits` is how many there are. The first acquire through this object sets them, unless they were set before.
        None leaves it to another caller, by `try_set_permits`; until then an acquire waits. `wait` is how long a
        `with` block and an `acquire` without a wait of its own wait, in seconds or as `timedelta` (None: for ever,
        0: they try once).

        Raises ConfigError for an argument that cannot be used.
        """
        return self._semaphore(self, name, permits, wait)

    def get_permit_expirable_semaphore(
        self, name: str, *, permits: int | None = None, wait: Seconds | None = None
    ) -> PermitExpirableSemaphore:
        """Returns the semaphore called `name` whose permits have ids and may have leases. No call goes to Redis.

        The arguments are those of `get_semaphore`.
        """
        return self._permit_expirable_semaphore(self, name, permits, wait)

    def get_count_down_latch(self, name: str) -> CountDownLatch:
        """Returns the latch called `name`. No call goes to Redis."""
        return self._count_down_latch(self, name)

    @overload
    def get_multi_lock(
        self,
        *locks: Lock,
        values: None = None,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> MultiLock: ...

    @overload
    def get_multi_lock(
        self,
        group: str,
        /,
        *,
        values: Iterable[str],
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> FasterMultiLock: ...

    def get_multi_lock(
        self,
        *locks: Any,
        values: Iterable[str] | None = None,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> MultiLock | FasterMultiLock:
        """Returns one lock of all of these locks, of this client and of others: an acquire takes all of them or none.

        An acquire takes them one after the other, in an order that is the same in every process. It does not keep
        some of them for long while it waits for another one. `wait`, `lease` and `owner` are those of `get_lock`; the
        wait, lease and owner of the single locks do not count. If all of them come from `lock`, each acquire is an
        owner of its own. Raises ConfigError if no lock is given, or one of them twice.

        `get_multi_lock(group, values=[…])` is one lock of all these values of a group, which an acquire takes in one
        call. Two such locks exclude each other if they have a value in common. One owner may hold several sets that
        have no value in common; for one that has, AlreadyHeldError is raised. A Redisson with its StringCodec shares
        the group.
        """
        if values is not None:
            return self._faster_multi_lock(self, one_group(locks, values), values, wait, lease, owner)
        return self._multi_lock(self, locks, wait, lease, owner)

    def get_red_lock(
        self, *locks: Lock, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> RedLock:
        """Returns one lock of a majority of these locks, each of a client of another server.

        The function `red_lock` makes the clients as well. The arguments are those of `get_multi_lock`.
        """
        return self._red_lock(self, locks, wait, lease, owner)

    def leader(self, name: str, *, value: str | None = None) -> Leader:
        """Returns the election of the leader called `name`. No call goes to the server.

        `value` is the text that the others see while this process leads, such as its address: at most 65,536 bytes of
        UTF-8, without a zero byte. Raises ConfigError for an argument that cannot be used.
        """
        return self._leader(self, name, value)

    def job(self, name: str, *, at_most: Seconds, at_least: Seconds = 0, env: str = "default") -> Job:
        """Returns the job called `name`, which runs once a period among all nodes. No call goes to Redis.

        `at_most` is for how long a node that died keeps the others from the job, in seconds or as `timedelta`. A node
        that lives renews its lock, so the work may take longer. `at_least` is for how long no other node runs the job,
        from the beginning of a run, even if its work ends before: nodes whose clocks are apart by less do not run it
        twice. Jobs of one name in two environments (`env`) do not exclude each other.

        Raises ConfigError for an argument that cannot be used, and if `at_least` is longer than `at_most`.
        """
        return self._job(self, name, at_most, at_least, env)

    def locks(self, pattern: str) -> Locks:
        """Lists the locks that are held and whose names match a pattern, one after the other, as `HeldLock`.

        In the pattern `*` stands for any text, `?` for one character and `[ab]` for one of these. A name without them
        is looked at alone. No call goes to Redis before the first step. The locks of every client are listed,
        Redisson's among them, and nothing is changed.

        Locks that clients wait for come first. Then all keys of each server are read, with nine times as much rest: a
        million keys take about half a minute, and other callers wait no longer than a millisecond. Of a cluster, behind
        sentinels and of `redis+replicated://` the keys of a replica are read in place of its server's; the server
        itself then says what is locked. Locks that come or go meanwhile may be missing. Token locks, semaphores and
        latches are texts and numbers: those are found that clients listen to, and those that are named.

        Only Redis has it: MySQL, MariaDB and ZooKeeper raise UnsupportedError. Raises ConfigError for an argument that
        cannot be used.
        """
        return self._locks(self, pattern)

    def stats(self) -> Stats:
        """Returns the figures that this client has counted since it was made, as `Stats`. No call goes to Redis.

        A client that is closed still tells. A forked child begins anew.
        """
        counts, waited, held_for, lost = self._native._stats()
        return Stats._make([*counts, waited, held_for, dict(lost)])

    def set_credentials(self, password: str, username: str | None = None) -> None:
        """Logs in with these from now on: without `username` as the server's default user.

        Open connections stay as they are, and every new connection uses these. Holds and waits go on. No call goes to
        Redis: a wrong password raises RefusedError (`WRONGPASS`) in the first call that needs a new connection.

        Raises ConfigError for a password or a user that cannot be one, for a user without a password, and for a
        password without a user of MySQL or MariaDB, which have no default user.
        """
        name = None if username is None else checked_text("username", username)
        self._native.set_credentials(checked_text("password", password), name)

    def __repr__(self) -> str:
        return f"<{self._title} {self.id} of {self._native.server}{', closed' if self.closed else ''}>"
