"""Functions that return before their body has run."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Final

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

_BODIES: Final[tuple[type, ...]] = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether its calls are to be awaited."""
    import inspect

    return any(inspect.iscoroutinefunction(called) for called in (function, type(function).__call__))


def is_lazy(function: Callable[..., Any]) -> bool:
    """Whether it is a coroutine function or a generator, also one that `contextlib` has made a context manager of."""
    import inspect  # a quarter of the time that `import redlatch` takes, and few programs need it

    lazy = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    called = type(function).__call__  # what runs for an object that is no function itself
    return any(is_one(function) or is_one(called) for is_one in lazy) or _makes_manager(function)


def stopped(result: object) -> bool:
    """Whether the body of a call that returned that has yet to run, which never happens then if it has not begun."""
    body = getattr(result, "gen", result) if type(result).__module__ == "contextlib" else result
    if _is_unbegun(body):
        # Or Python would warn of it. One that has begun belongs to its caller, which goes on with it.
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
    """Whether it is the future of a task or of a thread that works on."""
    # Nothing is a future of a module that no program has imported.
    modules = sys.modules.get("concurrent.futures"), sys.modules.get("asyncio")
    futures = [future for module in modules if (future := getattr(module, "Future", None)) is not None]
    return any(isinstance(result, future) and not result.done() for future in futures)
