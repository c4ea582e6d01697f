"""Functions that return before their body has run."""

from __future__ import annotations

from typing import Any, Callable


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether its calls are to be awaited."""
    import inspect

    return any(inspect.iscoroutinefunction(called) for called in (function, type(function).__call__))


def is_lazy(function: Callable[..., Any]) -> bool:
    """Whether it is a coroutine function or a generator."""
    import inspect  # a quarter of the time that `import redlatch` takes, and few programs need it

    lazy = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    called = type(function).__call__  # what runs for an object that is no function itself
    return any(is_one(function) or is_one(called) for is_one in lazy)
