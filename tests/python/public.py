"""Finds the public functions of the package."""

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

#: The modules that users import.
MODULES = (redlatch, redlatch.compat.redis_py, redlatch.testing)

_SPECIAL = ("__call__", "__enter__", "__exit__")


def functions() -> dict[str, Callable[..., Any]]:
    """All of them by name, `Class.method` or `function`, behind the name of the module if that is not `redlatch`."""
    return {name: function for module in MODULES for name, function in _of(module)}


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function without `self`."""
    given = inspect.signature(function).parameters.values()
    return [parameter for parameter in given if parameter.name != "self"]


def _of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    before = module.__name__.removeprefix("redlatch").removeprefix(".")
    for name in module.__all__:
        thing = getattr(module, name)
        title = f"{before}.{name}" if before else name
        if inspect.isclass(thing):
            if not issubclass(thing, Exception):
                yield from ((f"{title}.{method}", function) for method, function in _methods(thing))
        elif inspect.isfunction(thing):
            yield title, thing


def _methods(of: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    # A program gets most objects from a call. It makes records and the locks of `compat` by their class.
    if hasattr(of, "_fields"):
        yield "__init__", of
        return
    made = ("__init__",) if dataclasses.is_dataclass(of) or of.__module__.startswith("redlatch.compat") else ()
    for base in itertools.takewhile(lambda base: base is of or base not in _shown(), of.__mro__):
        if base.__module__.startswith("redlatch"):
            for name, member in vars(base).items():
                if callable(member) and (not name.startswith("_") or name in (*_SPECIAL, *made)):
                    yield name, member


def _shown() -> list[type]:
    """The classes that users see. A method that a class inherits from one of them belongs to that one."""
    return [thing for module in MODULES for name in module.__all__ if inspect.isclass(thing := getattr(module, name))]
