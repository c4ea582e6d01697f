"""Locks as decorators of coroutine functions: each call runs under the lock."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from redlatch import deferred, self_waits, templates
from redlatch.aio import current
from redlatch.decorating import OnBusy, check_function, unlocked, wait_of
from redlatch.errors import NotAcquiredError, UnsupportedError

if TYPE_CHECKING:
    from redlatch.aio.locks import Lock

F = TypeVar("F", bound=Callable[..., Any])


def decorated(lock: Lock, function: F, on_busy: OnBusy = "wait") -> F:
    """Returns a function each of whose calls runs `function` under the lock; see `Lock.__call__`."""
    check_function(lock.name, function)
    if not deferred.is_coroutine_function(function):
        raise UnsupportedError(
            f"`{lock.name}` cannot decorate {function!r}, which is no coroutine function; "
            "use `async with` inside it, or for plain functions a lock of redlatch.connect",
            lock.name,
        )
    template = templates.of(function, lock._names())
    wait = wait_of(lock._wait, on_busy)
    plain = lock if wait == lock._wait else lock._renamed(str, wait)

    @functools.wraps(function)
    async def locked(*args: Any, **kwargs: Any) -> Any:
        used = plain if template is None else lock._renamed(template.rename(args, kwargs), wait)
        is_entered = False
        try:
            with self_waits.one_call(used, function):
                async with used as hold:
                    is_entered = True
                    with current.running(hold):
                        result = await function(*args, **kwargs)
                    if deferred.stop_if_deferred(result):
                        raise unlocked(used.name, function, "async with")
                    return result
        except NotAcquiredError:
            if is_entered or on_busy != "skip":
                raise
            return None

    return cast("F", locked)
