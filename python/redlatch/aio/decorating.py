"""Locks as decorators of coroutine functions: each call runs under the lock."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from redlatch import deferred, self_waits, templates
from redlatch.decorating import check_function, unlocked
from redlatch.errors import UnsupportedError

if TYPE_CHECKING:
    from redlatch.aio.locks import Lock

F = TypeVar("F", bound=Callable[..., Any])


def decorated(lock: Lock, function: F) -> F:
    """Returns a function each of whose calls runs `function` under the lock; see `Lock.__call__`."""
    check_function(lock.name, function)
    if not deferred.is_coroutine_function(function):
        raise UnsupportedError(
            f"`{lock.name}` cannot decorate {function!r}, which is no coroutine function; "
            "use `async with` inside it, or for plain functions a lock of redlatch.connect",
            lock.name,
        )
    template = templates.of(function, lock._names())

    @functools.wraps(function)
    async def locked(*args: Any, **kwargs: Any) -> Any:
        used = lock if template is None else lock._renamed(template.rename(args, kwargs))
        with self_waits.one_call(used, function):
            async with used:
                result = await function(*args, **kwargs)
                if deferred.stop_if_deferred(result):
                    raise unlocked(used.name, function, "async with")
                return result

    return cast("F", locked)
