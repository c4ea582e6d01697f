"""The public functions of the package, as a test finds them by itself."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Callable

import redlatch
import redlatch.compat.redis_py
import redlatch.testing

#: The modules that users import from.
MODULES = (redlatch, redlatch.compat.redis_py, redlatch.testing)

_SPECIAL = ("__call__", "__enter__", "__exit__")


def functions() -> dict[str, Callable[..., Any]]:
    """Every one by its name, `Class.method` or `function`; what is outside `redlatch` has its module before it."""
    return {name: function for module in MODULES for name, function in _of(module)}


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller of it may give, the object itself apart."""
    given = inspect.signature(function).parameters.values()
    return [parameter for parameter in given if parameter.name != "self"]


def _of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    before = module.__name__.removeprefix("redlatch").removeprefix(".")
    for name in module.__all__:
        thing, title = getattr(module, name), f"{before}.{name}" if before else name
        if inspect.isclass(thing):
            if not issubclass(thing, Exception):
                yield from ((f"{title}.{method}", function) for method, function in _methods(thing))
        elif inspect.isfunction(thing):
            yield title, thing


def _methods(of: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    # Most objects come from a call; the others say so by what they are.
    if hasattr(of, "_fields"):
        yield "__init__", of  # a record is made by its class
        return
    made = ("__init__",) if dataclasses.is_dataclass(of) or of.__module__.startswith("redlatch.compat") else ()
    for base in itertools.takewhile(lambda base: base is of or base not in _shown(), of.__mro__):
        if base.__module__.startswith("redlatch"):
            for name, member in vars(base).items():
                if callable(member) and (not name.startswith("_") or name in (*_SPECIAL, *made)):
                    yield name, member


def _shown() -> list[type]:
    """The classes that users see; what a class has of them is theirs."""
    return [thing for module in MODULES for name in module.__all__ if inspect.isclass(thing := getattr(module, name))]
