"""Functions whose calls return before their body has run: coroutine functions, generators, context managers."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Final

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_BODIES: Final[tuple[type, ...]] = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether a program awaits its calls."""
    import inspect

    return any(inspect.iscoroutinefunction(called) for called in (function, type(function).__call__))


def is_deferred(function: Callable[..., Any]) -> bool:
    """Whether it is a coroutine function, a generator, or a generator that `contextlib` made a context manager."""
    import inspect  # takes a quarter of the time of `import redlatch`, and few programs need it

    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    called = type(function).__call__  # the body of an object that is no function itself
    return any(is_kind(function) or is_kind(called) for is_kind in kinds) or _makes_manager(function)


def stop_if_deferred(result: object) -> bool:
    """Whether the body of the call that returned `result` has yet to run. A body that has not begun never will."""
    body = getattr(result, "gen", result) if type(result).__module__ == "contextlib" else result
    if _is_unbegun(body):
        # Python warns of a coroutine that is dropped without a close. A body that has begun belongs to the caller of
        # the function, which goes on with it.
        body.close()
    return isinstance(body, _BODIES) or _runs_elsewhere(result)


def _is_unbegun(body: object) -> TypeGuard[types.CoroutineType[Any, Any, Any] | types.GeneratorType[Any, Any, Any]]:
    import inspect

    if isinstance(body, types.CoroutineType):
        return inspect.getcoroutinestate(body) == inspect.CORO_CREATED
    return isinstance(body, types.GeneratorType) and inspect.getgeneratorstate(body) == inspect.GEN_CREATED


def _makes_manager(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename == contextlib.contextmanager.__code__.co_filename


def _runs_elsewhere(result: object) -> bool:
    """Whether `result` is the future of a task or thread that still works."""
    # Before a program imports a module, no object is a future of that module.
    modules = sys.modules.get("concurrent.futures"), sys.modules.get("asyncio")
    futures = [future for module in modules if (future := getattr(module, "Future", None)) is not None]
    return any(isinstance(result, future) and not result.done() for future in futures)
