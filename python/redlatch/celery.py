"""Tasks of Celery that run under a lock. It needs Celery, and `redlatch` does not import it.

@app.task
@exclusive(client.lock("report:{day}"), on_busy="retry", countdown=30)
def report(day: str) -> None: ...
"""

from __future__ import annotations

from typing import Callable, Final, Literal, NoReturn, TypeVar

from celery import current_task

from redlatch import decorating, deferred
from redlatch.checks import shown
from redlatch.durations import Seconds, optional_seconds
from redlatch.errors import ArgumentTypeError, ConfigError, NotAcquiredError, UnsupportedError
from redlatch.locks import Lock
from redlatch.typings import P

__all__ = ["exclusive"]

T = TypeVar("T")

_ON_BUSY: Final = ("raise", "retry", "skip", "wait")


def exclusive(
    lock: Lock,
    *,
    on_busy: Literal["raise", "retry", "skip", "wait"] = "retry",
    countdown: Seconds | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T | None]]:
    """Returns a decorator for the function of a task, below `@app.task`: each run of the task has the lock.

    The lock's name may have arguments of the function in it: `client.lock("report:{day}")`. A run that meets a lock
    that another owner holds

    - `retry`: goes back to the broker, and another run begins after `countdown` (seconds or `timedelta`; None: the
      task's `default_retry_delay`). After the task's `max_retries` it fails with NotAcquiredError, as does a call
      outside of a worker.
    - `skip`: succeeds with None, and the function does not run.
    - `raise`: fails with NotAcquiredError.
    - `wait`: waits for the lock's `wait` and keeps its worker busy meanwhile, then fails with NotAcquiredError.

    If the lock has a `wait` of its own, the first three wait as long. Raises ConfigError for an argument that cannot be
    used, UnsupportedError for coroutine functions and generators, and for a task in place of its function.
    """
    if not isinstance(lock, Lock):
        raise ArgumentTypeError(
            f"the lock of a task is {shown('lock', lock)}; give one of a client of redlatch.connect"
        )
    if not isinstance(on_busy, str) or on_busy not in _ON_BUSY:
        wrong = ConfigError if isinstance(on_busy, str) else ArgumentTypeError
        raise wrong(
            f"on_busy of `{lock.name}` is {shown('on_busy', on_busy)}; give one of {', '.join(_ON_BUSY)}", lock.name
        )
    pause = optional_seconds("countdown", countdown, "None is the task's default_retry_delay")

    def retry(error: NotAcquiredError) -> NoReturn:
        if not current_task:
            raise error
        raise current_task.retry(exc=error, countdown=pause)

    def decorate(function: Callable[P, T]) -> Callable[P, T | None]:
        decorating.check_function(lock.name, function)
        if deferred.is_coroutine_function(function):
            raise UnsupportedError(
                f"`{lock.name}` cannot decorate {function!r}: a task of Celery is a plain function", lock.name
            )
        if on_busy == "retry":
            return decorating.decorated(lock, function, "skip", retry)
        return decorating.decorated(lock, function, on_busy)

    return decorate
