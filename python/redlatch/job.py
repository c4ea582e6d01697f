"""Jobs that run once a period among all nodes, for threads."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

import redlatch
from redlatch import calls, deferred
from redlatch.checks import checked_text
from redlatch.decorating import check_function
from redlatch.durations import Seconds, seconds
from redlatch.errors import ArgumentTypeError, ConfigError, LockLostError, NotHeldError, RedlatchError, UnsupportedError
from redlatch.errors import note as add_note
from redlatch.hold import Hold
from redlatch.locks import Lock
from redlatch.owners import EACH
from redlatch.typings import P, Self

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome
    from redlatch.held import Held

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: The shortest `at_most`: a shorter one would be over before the client believed in the lock.
SHORTEST: Final = 0.1
#: The beginning of the name of each job's lock, as the Redis providers of ShedLock write it.
PREFIX: Final = "job-lock"
#: The outcome of a look at a hold of which nothing else is known.
_UNKNOWN: Final[_Outcome] = (0, 0, [], None)

#: The runs in progress in this context: each job with its hold.
_runs: ContextVar[tuple[tuple[BaseJob, Held], ...]] = ContextVar("redlatch_runs", default=())

# A signal handler may run a job while the thread that it interrupts counts.
_counting = threading.RLock()


def _start_anew() -> None:
    """Starts anew in a forked child: another thread of the parent may have counted at that moment."""
    global _counting
    _counting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class JobRun(Generic[T_co]):
    """The end of one call of `Job.run`. It is false if the run was skipped, else true."""

    __slots__ = ("_loss", "_outcome", "_value")

    def __init__(
        self,
        outcome: Literal["ran", "skipped", "lost"],
        value: T_co | None = None,
        loss: LockLostError | None = None,
    ) -> None:
        self._outcome: Final = outcome
        self._value: Final = value
        self._loss: Final = loss

    @property
    def outcome(self) -> Literal["ran", "skipped", "lost"]:
        """How it ended:

        - `ran`: the work ran, and this node had the lock until its end.
        - `skipped`: another node runs the job, or ran it less than `at_least` ago. The work was not begun.
        - `lost`: this node lost the lock in the middle. Another one may have begun the job.
        """
        return self._outcome

    @property
    def value(self) -> T_co | None:
        """What the work returned. None if it did not run to its end."""
        return self._value

    @property
    def loss(self) -> LockLostError | None:
        """The loss of the lock, None if it was not lost."""
        return self._loss

    def __bool__(self) -> bool:
        return self._outcome != "skipped"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JobRun):
            return NotImplemented
        return (self._outcome, self._value, self._loss) == (other._outcome, other._value, other._loss)

    def __hash__(self) -> int:
        return hash((self._outcome, self._value, self._loss))

    def __repr__(self) -> str:
        return f"<redlatch.JobRun {self._outcome}, value {self._value!r}, loss {self._loss!r}>"


class JobStats(NamedTuple):
    """The runs of one `Job` object so far, by their outcomes."""

    #: The runs of the work, also of work that was cancelled or has raised an error.
    ran: int
    #: The runs that another node had.
    skipped: int
    #: The runs that lost the lock.
    lost: int


class BaseJob:
    """What jobs for threads and for tasks share."""

    #: The word for the caller in errors.
    _caller: ClassVar[str]

    _name: str
    #: The name of its lock.
    _key: str
    _at_most: float
    _at_least: float
    _ran: int
    _skipped: int
    _lost: int

    def __init__(self, name: str, at_most: Seconds, at_least: Seconds, env: str) -> None:
        self._name = _checked("the name of a job", name)
        self._key = f"{PREFIX}:{_checked('env', env)}:{name}"
        remedy = "give the time for which a node that died keeps the others from the job"
        self._at_most = seconds("at_most", at_most, remedy, least=SHORTEST)
        self._at_least = seconds("at_least", at_least, "0 lets the job run again as soon as its work is over")
        if self._at_least > self._at_most:
            raise ConfigError(
                f"the job `{name}` has at_least={self._at_least:g} s and at_most={self._at_most:g} s; "
                "let at_least be no longer than at_most",
                name,
            )
        self._ran = self._skipped = self._lost = 0

    @property
    def name(self) -> str:
        """The name of the job."""
        return self._name

    def stats(self) -> JobStats:
        """Returns how many runs of this object have ended so far, as `JobStats`. No call goes to Redis."""
        with _counting:
            return JobStats(self._ran, self._skipped, self._lost)

    def _hold_here(self) -> Any:
        """The hold of the run in progress in this context. Raises NotHeldError if there is none."""
        for job, hold in reversed(_runs.get()):
            if job is self:
                return hold
        raise NotHeldError(
            f"the job `{self._name}` does not run in this {self._caller}; ask for its hold in its work", self._name
        )

    @contextmanager
    def _running(self, hold: Held) -> Iterator[None]:
        """A block whose context is that of a run."""
        token = _runs.set((*_runs.get(), (self, hold)))
        try:
            yield
        finally:
            _runs.reset(token)

    def _skip(self) -> JobRun[Any]:
        with _counting:
            self._skipped += 1
        return JobRun("skipped")

    def _count(self, loss: LockLostError | None) -> None:
        with _counting:
            if loss is None:
                self._ran += 1
            else:
                self._lost += 1

    def _count_failed(self, hold: Held, error: BaseException, failure: RedlatchError | None) -> None:
        """Counts a run whose work raised `error`, which gets the error of the run's end as a note."""
        loss = loss_of(hold, failure)
        self._count(loss)
        told = loss or failure
        # The work may have asked its hold, and have raised the loss itself.
        if told is not None and not isinstance(error, LockLostError):
            add_note(error, told)

    def _ended(self, hold: Held, value: T | None, failure: RedlatchError | None) -> JobRun[T]:
        """Counts a run whose work has ended, and returns its answer. Raises an error of its end that is no loss."""
        loss = loss_of(hold, failure)
        self._count(loss)
        if loss is not None:
            return JobRun("lost", value, loss)
        if failure is not None:
            raise failure
        return JobRun("ran", value)


class JobLock(Lock):
    """The lock of a job. Each acquire is a run of its own."""

    _kind: ClassVar[str] = "token"

    def __new__(cls, client: redlatch.Client, key: str, at_most: float) -> Self:
        return super().__new__(cls, client, key, 0, at_most, EACH)


class Job(BaseJob):
    """Work that a timer starts on every node, and that one of them does. Make it with `Client.job`.

    `run` runs the work if no other node does, and never waits for another node. The lock is renewed while the work
    runs, so the work may take longer than `at_most`; that is the time for which a node that died keeps the others from
    the job. The lock stays until `at_least` has passed since the run began, even if the work ends before, or fails.

    The lock is the token lock `job-lock:<env>:<name>`, as the Redis providers of ShedLock write it: the two exclude
    each other. Any thread may run the job, and several objects may stand for the same one. A job whose work runs the
    same job again is skipped inside.

    Times are seconds or `timedelta`. A run may raise UnavailableError, RefusedError, ClosedError, and ConfigError for
    a name or time that cannot be used. The server need not hear of the end of a run: a warning is logged then, and the
    client goes on to free the lock. MySQL, MariaDB and ZooKeeper raise UnsupportedError. Ctrl-C leaves no lock behind.
    """

    _caller: ClassVar[str] = "thread"

    _client: redlatch.Client

    def __init__(self, client: redlatch.Client, name: str, at_most: Seconds, at_least: Seconds, env: str) -> None:
        super().__init__(name, at_most, at_least, env)
        self._client = client

    @property
    def hold(self) -> Hold:
        """The hold of the run in progress, for its work: `job.hold.ensure()`, `job.hold.on_lost(…)`.

        Raises NotHeldError where the job does not run. A thread that the work starts has no run of its own.
        """
        hold: Hold = self._hold_here()
        return hold

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> JobRun[T]:
        """Calls `work(*args, **kwargs)` if no other node runs the job, and returns the answer as `JobRun`.

        Work that loses the lock runs to its end, unless it asks its `hold`. Its value is in the answer `lost`. An error
        of the work is raised here, after the end of the run.

        Raises UnsupportedError for coroutine functions and generators, whose bodies would run after the call.
        """
        self._check_work(work)
        taken: list[Hold] = []
        is_begun = False
        try:
            JobLock(self._client, self._key, self._at_most)._take(0, self._at_most, taken)
            if not taken:
                return self._skip()
            hold = taken[0]
            calls.answer(hold._renew(self._at_most), self._key)
            is_begun = True
            with self._running(hold):
                value = work(*args, **kwargs)
                if deferred.stop_if_deferred(value):
                    raise unfit(self._name, work)
            failure = let_go(hold, self._at_least)
        except BaseException as error:
            # Ctrl-C may have interrupted any line of this function. A hold that was let go stays as it is.
            if taken:
                failure = let_go(taken[0], self._at_least if is_begun else None)
                if is_begun:
                    self._count_failed(taken[0], error, failure)
                elif isinstance(error, LockLostError):
                    # It was lost before the work began.
                    return self._ended(taken[0], None, error)
            raise
        return self._ended(hold, value, failure)

    def __call__(self, function: Callable[P, T]) -> Callable[P, JobRun[T]]:
        """Decorates a function: each call is a run of the job, and returns its answer as `JobRun`.

        Raises UnsupportedError for coroutine functions and generators, whose bodies would run after the call.
        """
        check_function(self._name, function)
        self._check_work(function)

        @functools.wraps(function)
        def running(*args: P.args, **kwargs: P.kwargs) -> JobRun[T]:
            return self.run(function, *args, **kwargs)

        return running

    def _check_work(self, work: Callable[..., object]) -> None:
        check_callable(self._name, work)
        if deferred.is_deferred(work):
            raise unfit(self._name, work)

    def __repr__(self) -> str:
        return f"<redlatch.Job {self.name!r} of {self._client!r}>"


def _checked(what: str, value: str) -> str:
    if not checked_text(what, value):
        raise ConfigError(f"{what} is empty; give it a text")
    return value


def check_callable(name: str, work: Any) -> None:
    """Raises ArgumentTypeError if `work` cannot be called."""
    if not callable(work):
        raise ArgumentTypeError(f"the work of the job `{name}` is {work!r}; give a function, and its arguments", name)


def unfit(name: str, work: object) -> UnsupportedError:
    """The error of work whose body would run after the call."""
    return UnsupportedError(
        f"the job `{name}` cannot run {work!r}, whose body runs after the call; give a plain function, and a job of "
        "redlatch.aio a coroutine function",
        name,
    )


def let_go(hold: Hold, at_least: float | None) -> RedlatchError | None:
    """Ends the hold of a run, and returns the error of that."""
    try:
        hold._let_go(at_least)
    except RedlatchError as failure:
        return failure
    return None


def loss_of(hold: Held, failure: RedlatchError | None) -> LockLostError | None:
    """The loss of a hold whose end raised `failure`; None: it was not lost."""
    return failure if isinstance(failure, LockLostError) else hold._loss(_UNKNOWN)
