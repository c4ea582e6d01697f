"""The native module: the core behind a few classes. Private to this package."""

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from contextvars import Context
from types import FrameType, TracebackType
from typing import Any, TypeVar, final

from typing_extensions import Self, disjoint_base

from redlatch import hold
from redlatch.owners import Caller
from redlatch.typings import Place

__all__ = [
    "Client",
    "Completions",
    "Held",
    "Hold",
    "Lock",
    "Mailbox",
    "Object",
    "Pending",
    "Permits",
    "__version__",
    "close",
    "close_at_exit",
    "connect",
    "count_held",
    "ending",
    "forget_gone",
    "forget_released",
    "group",
    "hold_meant",
    "latest_serial",
    "log_drain",
    "log_flush",
    "log_level",
    "log_stop",
    "multi_name",
    "owner_begins",
    "owner_ends",
    "owner_lives",
    "place",
    "record",
]

__version__: str

# (status, number, items, error): status 0 done, 1 not now, from 10 on an error, which is (message, reason).
_Outcome = tuple[int, int, list[int], tuple[str, str | None] | None]

# The kind and the name of an object, and the value of a candidate that wants to lead.
_What = tuple[str, str] | tuple[str, str, str]

# One message of the core: (logger, level, message, (lock, owner, reason), (file, line), seconds since 1970).
_Record = tuple[str, int, str, tuple[str | None, str | None, str | None], tuple[str, int], float]

_T = TypeVar("_T")
_H = TypeVar("_H", bound=Held)

def log_drain(at_most: int) -> list[_Record]: ...
def log_flush(at_most: float) -> None: ...
def log_level(level: int) -> None: ...
def log_stop(logs: object) -> bool: ...
def close(clients: list[Client]) -> None: ...
def close_at_exit(clients: list[Client], daemons: set[int]) -> None: ...
def group(majority: bool, locks: list[Object]) -> Client | _Outcome: ...
def owner_begins(owner: int) -> None: ...
def owner_ends(owner: int) -> None: ...
def place(frame: FrameType | None) -> Place | None: ...
def record(
    records: list[Any], taker: int, hold: Held, place: Place | None = None, frame: FrameType | None = None
) -> None: ...
def ending(
    records: list[tuple[int, _H, Place | None]], taker: int, anywhere: bool, frame: FrameType | None = None
) -> _H | None: ...
def hold_meant(records: list[Any], taker: int, anywhere: bool) -> tuple[int, int] | None: ...
def latest_serial() -> int: ...
def owner_lives(owner: int) -> bool: ...
def forget_gone(records: list[Any]) -> None: ...
def forget_released(records: list[Any]) -> None: ...
def count_held(records: list[Any]) -> int: ...
def multi_name(group: str, values: list[str]) -> str: ...
def connect(url: str | None, file: str | None, options: list[tuple[str, str]]) -> Client | _Outcome: ...

@final
class Client:
    @property
    def id(self) -> str: ...
    @property
    def server(self) -> str: ...
    @property
    def group_name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def is_idle(self) -> bool: ...
    def _stats(self) -> tuple[list[int], float, float, list[tuple[str, int]]]: ...
    def set_credentials(self, password: str, username: str | None) -> None: ...
    def ping(self) -> _Outcome: ...
    def _ask_page(self, pattern: str, next: bytes) -> tuple[_Outcome, list[bytes]]: ...
    def _submit_page(self, mailbox: Mailbox, pattern: str, next: bytes) -> _Pending[tuple[_Outcome, list[bytes]]]: ...
    def _evict(self, kind: str, name: str, holders: list[tuple[str, str, bool]]) -> _Outcome: ...
    def _submit_evict(
        self, mailbox: Mailbox, kind: str, name: str, holders: list[tuple[str, str, bool]]
    ) -> _Pending[_Outcome]: ...
    def _close(self, mailbox: Mailbox) -> _Pending[_Outcome]: ...
    def _submit(self, mailbox: Mailbox, op: int) -> _Pending[_Outcome]: ...

@final
class Completions:
    def __new__(cls) -> Completions: ...
    def drain(self, at_most: int) -> list[tuple[int, _Outcome]]: ...
    def stop(self) -> None: ...

@final
class Mailbox:
    def __new__(cls, event_loop: AbstractEventLoop) -> Mailbox: ...
    @property
    def event_loop(self) -> AbstractEventLoop: ...
    def fileno(self) -> int: ...
    def look_for_long_waits(self) -> None: ...
    def empty(self) -> None: ...

@final
class Pending:
    def __await__(self) -> Pending: ...
    def __iter__(self) -> Pending: ...
    def __next__(self) -> Pending: ...
    def claim(self) -> Any: ...
    def throw(self, kind: Any, value: Any = ..., at: Any = ...) -> None: ...
    def close(self) -> None: ...
    _asyncio_future_blocking: bool
    def get_loop(self) -> AbstractEventLoop: ...
    def add_done_callback(self, function: Callable[[Any], object], /, *, context: Context | None = ...) -> None: ...
    def remove_done_callback(self, function: Callable[[Any], object]) -> int: ...
    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def result(self) -> None: ...
    def cancel(self, msg: object = ...) -> bool: ...

# A `Pending` whose result is a `_T`.
class _Pending(Future[_T]):
    def claim(self) -> _T: ...

@disjoint_base
class Object:
    def __new__(cls, client: Client, what: _What, numbers: list[int] = ...) -> Self: ...
    @property
    def name(self) -> str:
        """The name, without the client's prefix."""

    def _held_back(self) -> bool: ...
    def _owners(self) -> list[int]: ...
    def _run(
        self, op: int, owner: int, times: tuple[float | None, float | None], numbers: list[int], done: list[_Outcome]
    ) -> None: ...
    def _submit(
        self, mailbox: Mailbox, op: int, owner: int, times: tuple[float | None, float | None], numbers: list[int]
    ) -> _Pending[_Outcome]: ...
    def _ask_leader(self, owner: int, seen: bytes | None) -> tuple[_Outcome, list[bytes]]: ...
    def _submit_leader(
        self, mailbox: Mailbox, owner: int, seen: bytes | None
    ) -> _Pending[tuple[_Outcome, list[bytes]]]: ...
    def _begin(
        self, mailbox: Mailbox, hold: type[_T], caller: Caller, owner: int, wait: float | None, lease: float | None
    ) -> _Pending[_T | None]: ...
    def _begin_own(self, hold: type[_T], wait: float | None, lease: float | None) -> _Pending[_T | None]: ...
    def _end(self, owner: int | None) -> _Pending[None] | None: ...

@disjoint_base
class Lock(Object):
    def __new__(
        cls,
        client: Client,
        what: _What,
        times: tuple[float | None, float | None],
        owner: int | None,
        numbers: list[int],
        ends_anywhere: bool | None,
    ) -> Self: ...
    def unlock(self) -> None:
        """Releases the owner's latest hold. Raises NotHeldError if the owner has none, LockLostError if it was lost.

        If each acquire is an owner, it ends a hold that was taken through this object, and not by a block. That is the
        caller's own latest hold; else one that was lost, for which it raises LockLostError and releases nothing; else
        the only one that is open, unless that is a reader's.
        """

    def release(self) -> None:
        """The same as `unlock`, under its name in `threading.RLock`. NotHeldError is a RuntimeError."""

    def __enter__(self) -> hold.Hold:
        """Acquires as `lock()` does. The block is never entered without the lock."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None, /
    ) -> None:
        """Releases the hold that this block began with, on any thread.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """

    def _take(self, wait: float | None, lease: float | None, taken: list[hold.Hold]) -> None: ...
    def _run_at_once(self, op: int) -> _Outcome: ...

@disjoint_base
class Permits(Object):
    def __new__(cls, client: Client, what: _What) -> Self: ...
    def __enter__(self) -> Self:
        """Takes one permit. Raises NotAcquiredError when the `wait` of `get_semaphore` ends."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None, /
    ) -> None:
        """Gives the permit back.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """

@disjoint_base
class Held:
    def __new__(
        cls, object: Object, owner: int, number: int, token: int | None, process: int | None = None
    ) -> Self: ...
    @property
    def name(self) -> str:
        """The lock's name."""

    @property
    def owner(self) -> int:
        """The owner's number: that of the thread, task or acquire, or the one that `get_lock` was given."""

    @property
    def token(self) -> int | None:
        """The fencing token, greater than the token of every earlier hold of this lock; None: the lock gives none."""

    @property
    def wanted(self) -> bool:
        """Whether another client has asked for its release, without a call to the server.

        It is a request and no more: the hold stays. On ZooKeeper Curator's `Revoker` asks so; clients of other systems
        cannot.
        """

    def _refuse_in_a_fork(self) -> None: ...
    def _look(self) -> _Outcome: ...
    def _watch(self, completions: Completions, key: int) -> None: ...
    def _submit(self, mailbox: Mailbox, op: int) -> _Pending[_Outcome]: ...
    def _release_soon(self) -> None: ...
    def _end(self) -> _Pending[None] | None: ...

class Hold(Held):
    def __new__(
        cls, object: Object, owner: int, number: int, token: int | None, process: int | None = None
    ) -> Self: ...
    def release(self) -> None:
        """Releases this one hold. Any thread may do so, and the owner's other holds stay.

        Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
        answer. In the last case it is not renewed any more and ends with its lease.
        """

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None, /
    ) -> None:
        """Releases the hold.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """

    def _wait(self, wait: float | None) -> _Outcome: ...
    def _extend(self, lease: float) -> _Outcome: ...
