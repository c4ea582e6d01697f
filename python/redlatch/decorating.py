"""Locks as decorators: each call of a function runs under the lock."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from redlatch import deferred, self_waits
from redlatch.errors import ArgumentTypeError, UnsupportedError

if TYPE_CHECKING:
    from redlatch.locks import Lock

F = TypeVar("F", bound=Callable[..., Any])


def decorated(lock: Lock, function: F) -> F:
    """Returns a function each of whose calls runs `function` under the lock; see `Lock.__call__`."""
    check_function(lock.name, function)
    if deferred.is_coroutine_function(function):
        from redlatch.aio import twins

        return twins.twin(lock)(function)
    if deferred.is_deferred(function):
        raise unlocked(lock.name, function)
    from redlatch import templates  # imports `inspect`, which takes a quarter of the time of `import redlatch`

    template = templates.of(function, lock._names())

    @functools.wraps(function)
    def locked(*args: Any, **kwargs: Any) -> Any:
        used = lock if template is None else lock._renamed(template.rename(args, kwargs))
        with self_waits.one_call(used, function), used:
            result = function(*args, **kwargs)
            if deferred.stop_if_deferred(result):
                raise unlocked(lock.name, function)
            return result

    return cast("F", locked)


def check_function(name: str, function: Any) -> None:
    """Raises ArgumentTypeError if `function` is no function."""
    if isinstance(function, type) or not callable(function):
        raise ArgumentTypeError(f"`{name}` decorates functions, not {function!r}; put it right above a def", name)


def unlocked(name: str, function: object, block: str = "with") -> UnsupportedError:
    """The error of a function whose body would run after the release of the lock."""
    return UnsupportedError(
        f"`{name}` cannot decorate {function!r}, whose body runs after the call; use `{block}` inside it", name
    )
