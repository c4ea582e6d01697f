"""Locks as decorators: each call of a function runs under the lock."""

from __future__ import annotations

import functools
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Callable, Final, Literal, Protocol, TypeVar, cast, overload

from redlatch import current, deferred, self_waits
from redlatch.checks import shown
from redlatch.errors import ArgumentTypeError, ConfigError, NotAcquiredError, UnsupportedError
from redlatch.typings import P

if TYPE_CHECKING:
    from redlatch.locks import Lock

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

#: How a call meets a lock that another owner holds.
OnBusy = Literal["raise", "skip", "wait"]
#: The objects that libraries make of functions, to be run elsewhere, and the decorators that make them.
_TASKS: Final = {
    "airflow": ("a task of Airflow", "@task"),
    "celery": ("a task of Celery", "@app.task"),
    "dramatiq": ("an actor of Dramatiq", "@dramatiq.actor"),
}
_ON_BUSY: Final = ("raise", "skip", "wait")


class Decorator(Protocol):
    """A decorator that changes no type."""

    def __call__(self, function: F, /) -> F: ...


class Skipping(Protocol):
    """A decorator of functions whose calls return None where they are skipped."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> Callable[P, Coroutine[Any, Any, T | None]]: ...

    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, T | None]: ...


def nothing(error: NotAcquiredError) -> None:
    """What a call returns that is skipped."""
    del error


def decorated(
    lock: Lock, function: F, on_busy: OnBusy = "wait", skipped: Callable[[NotAcquiredError], object] = nothing
) -> F:
    """Returns a function each of whose calls runs `function` under the lock; see `Lock.__call__`.

    A call that is skipped returns what `skipped` returns, or raises its error.
    """
    check_function(lock.name, function)
    if deferred.is_coroutine_function(function):
        from redlatch.aio import decorating, twins

        return decorating.decorated(twins.twin(lock), function, on_busy)
    if deferred.is_deferred(function):
        raise unlocked(lock.name, function)
    from redlatch import templates  # imports `inspect`, which takes a quarter of the time of `import redlatch`

    template = templates.of(function, lock._names())
    wait = wait_of(lock._wait, on_busy)
    plain = lock if wait == lock._wait else lock._renamed(str, wait)

    @functools.wraps(function)
    def locked(*args: Any, **kwargs: Any) -> Any:
        used = plain if template is None else lock._renamed(template.rename(args, kwargs), wait)
        is_entered = False
        try:
            with self_waits.one_call(used, function), used as hold, current.running(hold):
                is_entered = True
                result = function(*args, **kwargs)
                if deferred.stop_if_deferred(result):
                    raise unlocked(lock.name, function)
                return result
        except NotAcquiredError as error:
            if is_entered or on_busy != "skip":
                raise
            return skipped(error)

    return cast("F", locked)


def check_function(name: str, function: Any) -> None:
    """Raises ArgumentTypeError if `function` is no function."""
    if isinstance(function, type) or not callable(function):
        raise ArgumentTypeError(f"`{name}` decorates functions, not {function!r}; put it right above a def", name)
    for base in type(function).__mro__:
        what, above = _TASKS.get(base.__module__.partition(".")[0], (None, None))
        if what is not None:
            # A worker would run the task without the lock. Celery could not send the decorated object to one, and
            # Airflow would call it where it reads the file.
            raise UnsupportedError(f"`{name}` decorates {what}; put it below `{above}`, right above the def", name)


def check_on_busy(name: str, on_busy: Any) -> None:
    """Raises ConfigError if `on_busy` is none of its words."""
    if not isinstance(on_busy, str) or on_busy not in _ON_BUSY:
        wrong = ConfigError if isinstance(on_busy, str) else ArgumentTypeError
        raise wrong(f"on_busy of `{name}` is {shown('on_busy', on_busy)}; give one of {', '.join(_ON_BUSY)}", name)


def wait_of(wait: float | None, on_busy: OnBusy) -> float | None:
    """How long a call waits: a lock without a `wait` of its own waits for ever, or tries once."""
    return 0 if wait is None and on_busy != "wait" else wait


def unlocked(name: str, function: object, block: str = "with") -> UnsupportedError:
    """The error of a function whose body would run after the release of the lock."""
    return UnsupportedError(
        f"`{name}` cannot decorate {function!r}, whose body runs after the call; use `{block}` inside it", name
    )
