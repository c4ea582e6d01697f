"""A row for each public function: a good call of it, and its own bad values and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import redis

import redlatch
import redlatch.compat.redis_py
import redlatch.testing
from bad_values import COUNTS, FUNCTIONS, IDS, NAMES, NUMBERS, PATHS, SECONDS
from kinds import LOCKS

#: A lock that a list has shown, and whose holder has it no more.
LISTED = redlatch.HeldLock(
    "free", "plain", True, (redlatch.Holder("", "1", 1, False, None, None, None, False),), 1, 30.0, None, (), None
)


class World:
    """A client, and one object of every kind that a client gives. Every name begins with `name`."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name
        self.client = redlatch.connect(url)
        self.lock = self.client.get_lock(name)
        self.fenced = self.client.get_fenced_lock(name)
        self.held = self.client.get_lock(f"{name}:held", lease=60)
        self.hold = self.held.lock()
        self.semaphore = self.client.get_semaphore(f"{name}:semaphore")
        self.semaphore.try_set_permits(3)
        self.permits = self.client.get_permit_expirable_semaphore(f"{name}:permits")
        self.permits.try_set_permits(3)
        self.permit = self.permits.acquire()
        self.latch = self.client.get_count_down_latch(f"{name}:latch")
        self.latch.try_set_count(1)
        self.leader = self.client.leader(f"{name}:leader")
        self.job = self.client.job(f"{name}:job", at_most=60)
        self.work: Any = int
        self.theirs = redlatch.compat.redis_py.Lock(self.client, f"{name}:theirs", timeout=60)
        self.theirs.acquire()
        self.their_free = redlatch.compat.redis_py.Lock(self.client, name, timeout=60, blocking_timeout=0)


@dataclass(frozen=True)
class Row:
    #: Gets the function from a world.
    call: Callable[[World], Callable[..., object]]
    #: Arguments with which it succeeds without a wait.
    good: Mapping[str, Any] = field(default_factory=dict)
    #: Its own bad values, in the place of those of `bad_values`.
    bad: Mapping[str, list[Any]] = field(default_factory=dict)
    #: The name of the parameter that takes any number of positional arguments.
    many: str | None = None
    #: The errors for bad values that are no RedlatchError, for example those of `threading.RLock`.
    raises: tuple[type[Exception], ...] = ()
    #: It asks the server, so a closed client refuses it.
    needs_server: bool = True


def _used(hold: object) -> None:
    if isinstance(hold, redlatch.Hold):
        hold.release()


def _getting(kind: str, then: str = "try_lock") -> Row:
    """A function that only makes an object. The first use of the object refuses a long name or a short lease."""

    def call(world: World) -> Callable[..., object]:
        return lambda **given: _used(getattr(getattr(world.client, kind)(**given), then)())

    return Row(call, {"name": "free"})


def _permitting(kind: str) -> Row:
    """A function that makes a semaphore. Unlike other counts, `permits=None` is good here."""
    return replace(
        _getting(kind, "available_permits"), bad={"permits": [0, *(value for value in COUNTS if value is not None)]}
    )


def _grouping(kind: str) -> Row:
    def call(world: World) -> Callable[..., object]:
        return lambda *locks, **given: _used(getattr(world.client, kind)(*(locks or [world.lock]), **given).try_lock())

    return Row(call, many="locks")


def _block(thing: Callable[[World], Any]) -> Row:
    def call(world: World) -> Callable[..., object]:
        def enter_and_leave() -> None:
            with thing(world):
                pass

        return enter_and_leave

    return Row(call)


def _of(name: str, thing: Callable[[World], Any], *, needs_server: bool = True, **good: Any) -> Row:
    return Row(lambda world: getattr(thing(world), name), good, needs_server=needs_server)


def _policy(kind: Callable[..., Any], replicas: list[int]) -> Row:
    def call(_: World) -> Callable[..., object]:
        return lambda **given: redlatch.connect("redis://localhost", sync=kind(**given))

    return Row(call, bad={"replicas": [*NUMBERS, *replicas], "within": [*SECONDS, 0, 31]}, needs_server=False)


def _read_write(world: World) -> Callable[..., object]:
    return lambda **given: _used(world.client.get_read_write_lock(**given).read_lock.try_lock())


def _client(w: World) -> redlatch.Client:
    return w.client


def _lock(w: World) -> redlatch.Lock:
    return w.lock


def _hold(w: World) -> redlatch.Hold:
    return w.hold


def _semaphore(w: World) -> redlatch.Semaphore:
    return w.semaphore


def _permits(w: World) -> redlatch.PermitExpirableSemaphore:
    return w.permits


def _latch(w: World) -> redlatch.CountDownLatch:
    return w.latch


def _theirs(w: World) -> redlatch.compat.redis_py.Lock:
    return w.theirs


def _free(w: World) -> redlatch.compat.redis_py.Lock:
    return w.their_free


_IDS = Row(lambda w: lambda *ids: w.permits.try_release(*(ids or [w.permit])), bad={"permits": IDS}, many="permits")
_LOCK_MAKER = Row(
    lambda w: lambda **given: redlatch.compat.redis_py.Lock(**{"redis": w.client, "name": w.name, **given}).locked(),
    bad={
        "name": [None, 5, b"\xff", "lone \udc80 surrogate", "", "x" * 10_000_000],
    },
)


def _record(of: Any) -> Row:
    """A record takes all values: the library makes it."""
    return Row(lambda w: of, dict.fromkeys(of._fields), bad={field: [] for field in of._fields}, needs_server=False)


ROWS: dict[str, Row] = {
    "Client.lock": _getting("lock"),
    **{f"Client.{get}": _getting(get) for get in LOCKS},
    "Client.get_read_write_lock": Row(_read_write, {"name": "free"}),
    "Client.get_semaphore": _permitting("get_semaphore"),
    "Client.get_permit_expirable_semaphore": _permitting("get_permit_expirable_semaphore"),
    "Client.get_count_down_latch": _getting("get_count_down_latch", "get_count"),
    "Client.get_multi_lock": _grouping("get_multi_lock"),
    "Client.get_red_lock": _grouping("get_red_lock"),
    "Client.leader": Row(
        lambda w: lambda **given: _used(w.client.leader(**given).try_lead()),
        {"name": "free"},
        bad={"value": [5, b"text", "lone \udc80 surrogate", "a\0b", "x" * 65_537]},
    ),
    "Client.job": Row(
        lambda w: lambda **given: w.client.job(**given).run(w.work),
        {"name": "free", "at_most": 60},
        bad={
            "at_most": [None, *SECONDS, 0, 1e-9],
            "at_least": [None, *SECONDS, 61],
            "env": NAMES,
        },
    ),
    "Client.locks": Row(lambda w: lambda **given: next(w.client.locks(**given)), {"pattern": "*"}),
    "Client.evict": Row(
        lambda w: lambda **given: w.client.evict(**given),
        {"lock": LISTED},
        bad={"lock": [None, 5, "name", object(), LISTED._replace(kind="unknown"), LISTED._replace(holders=())]},
    ),
    "Client.ping": _of("ping", _client),
    "Client.close": _of("close", _client, needs_server=False),
    "Client.set_credentials": Row(lambda w: w.client.set_credentials, {"password": ""}, needs_server=False),
    "Client.stats": _of("stats", _client, needs_server=False),
    "Client.__enter__": _of("__enter__", _client, needs_server=False),
    "Client.__exit__": Row(lambda w: lambda: w.client.__exit__(None, None, None), needs_server=False),
    "Lock.lock": _of("lock", _lock, wait=0),
    "Lock.try_lock": _of("try_lock", _lock),
    "Lock.unlock": _of("unlock", lambda w: w.held),
    "Lock.release": _of("release", lambda w: w.held),
    "Lock.force_unlock": _of("force_unlock", _lock),
    "Lock.is_locked": _of("is_locked", _lock),
    "Lock.locked": _of("locked", _lock),
    "Lock.is_held_by_current_thread": _of("is_held_by_current_thread", _lock),
    "Lock.hold_count": _of("hold_count", _lock),
    "Lock.remain_time_to_live": _of("remain_time_to_live", _lock),
    "Lock.acquire": Row(
        lambda w: w.lock.acquire,
        {"blocking": False},
        {"timeout": [None, 0, -2, float("nan"), float("inf"), "5", True, 5j]},
        raises=(TypeError, ValueError, OverflowError),
    ),
    "Lock.__call__": Row(lambda w: lambda function: w.lock(function), {"function": len}, needs_server=False),
    "Lock.decorator": _of("decorator", _lock, needs_server=False, on_busy="skip"),
    "Lock.__enter__": _block(_lock),
    "Lock.__exit__": _block(_lock),
    "FencedLock.get_token": _of("get_token", lambda w: w.fenced),
    "Hold.on_lost": _of("on_lost", _hold, needs_server=False, callback=print),
    "Hold.extend": _of("extend", _hold, lease=60),
    "Hold.wait_lost": _of("wait_lost", _hold, needs_server=False, wait=0),
    "Hold.ensure": _of("ensure", _hold),
    "Hold.release": _of("release", _hold),
    "Hold.__enter__": _of("__enter__", _hold, needs_server=False),
    "Hold.__exit__": _block(_hold),
    "Semaphore.try_set_permits": _of("try_set_permits", _semaphore, permits=5),
    "Semaphore.add_permits": Row(lambda w: w.semaphore.add_permits, {"permits": 1}, {"permits": NUMBERS}),
    "Semaphore.available_permits": _of("available_permits", _semaphore),
    "Semaphore.drain_permits": _of("drain_permits", _semaphore),
    "Semaphore.acquire": _of("acquire", _semaphore, wait=0),
    "Semaphore.try_acquire": _of("try_acquire", _semaphore),
    "Semaphore.release": _of("release", _semaphore),
    "Semaphore.release_if_exists": _of("release_if_exists", _semaphore),
    "Semaphore.delete": _of("delete", _semaphore),
    "Semaphore.__enter__": _block(_semaphore),
    "Semaphore.__exit__": _block(_semaphore),
    "PermitExpirableSemaphore.try_set_permits": _of("try_set_permits", _permits, permits=5),
    "PermitExpirableSemaphore.set_permits": _of("set_permits", _permits, permits=5),
    "PermitExpirableSemaphore.add_permits": Row(lambda w: w.permits.add_permits, {"permits": 1}, {"permits": NUMBERS}),
    "PermitExpirableSemaphore.available_permits": _of("available_permits", _permits),
    "PermitExpirableSemaphore.acquired_permits": _of("acquired_permits", _permits),
    "PermitExpirableSemaphore.get_permits": _of("get_permits", _permits),
    "PermitExpirableSemaphore.acquire": _of("acquire", _permits, wait=0),
    "PermitExpirableSemaphore.acquire_many": _of("acquire_many", _permits, permits=2, wait=0),
    "PermitExpirableSemaphore.try_acquire": _of("try_acquire", _permits),
    "PermitExpirableSemaphore.try_acquire_many": _of("try_acquire_many", _permits, permits=2),
    "PermitExpirableSemaphore.release": _IDS,
    "PermitExpirableSemaphore.try_release": _IDS,
    "PermitExpirableSemaphore.update_lease": _of("update_lease", _permits, permit="0" * 32, lease=5),
    "PermitExpirableSemaphore.lease_time": _of("lease_time", _permits, permit="0" * 32),
    "PermitExpirableSemaphore.delete": _of("delete", _permits),
    "Permit.release": _of("release", lambda w: w.permit),
    "Permit.__enter__": _of("__enter__", lambda w: w.permit, needs_server=False),
    "Permit.__exit__": _block(lambda w: w.permit),
    "CountDownLatch.try_set_count": _of("try_set_count", _latch, count=2),
    "CountDownLatch.count_down": _of("count_down", _latch),
    "CountDownLatch.get_count": _of("get_count", _latch),
    "CountDownLatch.wait": _of("wait", _latch, wait=0),
    "CountDownLatch.delete": _of("delete", _latch),
    "Leader.lead": Row(lambda w: lambda **given: _used(w.leader.lead(**given)), {"wait": 0}),
    "Leader.try_lead": Row(lambda w: lambda **given: _used(w.leader.try_lead(**given))),
    "Leader.current": _of("current", lambda w: w.leader),
    "Leader.observe": Row(lambda w: lambda: next(w.leader.observe())),
    "Job.run": Row(
        lambda w: lambda work, **given: w.job.run(work, **given),
        {"work": int},
        bad={"work": FUNCTIONS, "args": [], "kwargs": []},
    ),
    "Job.stats": _of("stats", lambda w: w.job, needs_server=False),
    "Job.__call__": Row(
        lambda w: lambda function: w.job(function),
        {"function": len},
        {"function": [*FUNCTIONS, int]},
        needs_server=False,
    ),
    # A program gets these from the others.
    "HeldLock.__init__": _record(redlatch.HeldLock),
    "Holder.__init__": _record(redlatch.Holder),
    "JobStats.__init__": _record(redlatch.JobStats),
    "Stats.__init__": _record(redlatch.Stats),
    "CurrentLeader.__init__": Row(
        lambda w: redlatch.CurrentLeader,
        {"value": "x", "token": 1},
        bad={"value": [], "token": []},
        needs_server=False,
    ),
    "Tls.__init__": Row(
        lambda w: lambda **given: redlatch.connect("rediss://localhost", tls=redlatch.Tls(**given)),
        bad={"ca": PATHS, "cert": PATHS, "key": PATHS, "verify": [None, 5, "", "half", b"full"]},
        needs_server=False,
    ),
    "Wait.__init__": _policy(redlatch.Wait, [0, -1, 1001]),
    "WaitAof.__init__": _policy(redlatch.WaitAof, [-1, 1001]),
    "from_redis": Row(
        lambda w: lambda **given: redlatch.from_redis(**{"redis": redis.Redis.from_url(w.url), **given}),
        needs_server=False,
    ),
    "current_hold": Row(lambda w: w.lock(redlatch.current_hold)),
    "connect": Row(lambda w: redlatch.connect, needs_server=False),
    "red_lock": Row(
        lambda w: lambda **given: _used(redlatch.red_lock(**{"urls": [w.url], "name": w.name, **given}).try_lock()),
        needs_server=False,
    ),
    "compat.redis_py.Lock.__init__": _LOCK_MAKER,
    "compat.redis_py.Lock.acquire": Row(lambda w: w.their_free.acquire, bad={"token": ["test", b"test", 5]}),
    "compat.redis_py.Lock.release": _of("release", _theirs),
    "compat.redis_py.Lock.extend": _of("extend", _theirs, additional_time=5),
    "compat.redis_py.Lock.reacquire": _of("reacquire", _theirs),
    "compat.redis_py.Lock.locked": _of("locked", _free),
    "compat.redis_py.Lock.owned": _of("owned", _theirs),
    "compat.redis_py.Lock.__enter__": _block(_free),
    "compat.redis_py.Lock.__exit__": _block(_free),
    "testing.server": Row(lambda w: lambda **given: redlatch.testing.server(**given).close(), needs_server=False),
    "testing.Server.close": Row(lambda w: redlatch.testing.server().close, needs_server=False),
    "testing.Server.__enter__": Row(lambda w: redlatch.testing.server().__enter__, needs_server=False),
    "testing.Server.__exit__": Row(
        lambda w: lambda: redlatch.testing.server().__exit__(None, None, None), needs_server=False
    ),
}
