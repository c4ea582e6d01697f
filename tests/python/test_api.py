"""The public API of the package is under review as text: every change of it shows in `tests/api/python.txt`."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import os
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import redlatch
from redlatch import aio, celery, otel, prometheus, rows, testing
from redlatch.compat import python_redis_lock, redis_asyncio, redis_py

TEXT = Path(__file__).parents[1] / "api" / "python.txt"
RENEW = "REDLATCH_RENEW_API=1 target/venv/bin/pytest tests/python/test_api.py"


def signature(function: object) -> str:
    assert callable(function)
    # The text as it is written: Pythons differ in how they show a type.
    return str(inspect.signature(function)).replace("'", "").replace('"', "")


# The modules that `redlatch` does not import itself.
OTHERS = (aio, celery, otel, prometheus, python_redis_lock, redis_asyncio, redis_py, rows, testing)
PUBLIC = [getattr(package, name) for package in (redlatch, *OTHERS) for name in package.__all__]


def is_hidden(of: type) -> bool:
    return of not in PUBLIC and of.__module__.startswith("redlatch.")


def hidden(of: type) -> Iterator[type]:
    for base in of.__bases__:
        if is_hidden(base):
            yield from hidden(base)
            yield base


def members(of: type) -> Iterator[str]:
    # A program makes only records by their class. It gets clients, locks and holds from a call.
    shown = ["__enter__", "__exit__", "__aenter__", "__aexit__", "__call__", "__bool__"]
    shown += (
        ["__init__"]
        if dataclasses.is_dataclass(of) or of in (python_redis_lock.Lock, redis_asyncio.Lock, redis_py.Lock)
        else []
    )
    shown += ["__new__"] if issubclass(of, tuple) else []
    # The members of a base class that is not public itself are as public as the others.
    all_members = {name: member for half in (*hidden(of), of) for name, member in vars(half).items()}
    for name, member in sorted(all_members.items()):
        if name.startswith("_") and name not in shown:
            continue
        if inspect.isgetsetdescriptor(member):
            yield f"    {name}  # property"
        elif isinstance(member, property):
            assert member.fget is not None
            yield f"    {name}{signature(member.fget).removeprefix('(self)')}  # property"
        elif isinstance(member, (classmethod, staticmethod)):
            yield f"    {name}{signature(member.__func__)}  # {type(member).__name__}"
        elif callable(member):
            yield f"    {'async ' if inspect.iscoroutinefunction(member) else ''}def {name}{signature(member)}"
        else:
            yield f"    {name}"


def api(package: ModuleType) -> Iterator[str]:
    for name in sorted(package.__all__):
        value = getattr(package, name)
        if package is not redlatch and value is getattr(redlatch, name, None):
            yield f"{name} = redlatch.{name}"
            continue
        if inspect.isclass(value) and value.__name__ != name:
            yield f"{name} = {value.__name__}"
        elif inspect.isclass(value):
            bases = [base.__name__ for base in value.__bases__ if not is_hidden(base)]
            yield f"class {name}({', '.join(bases) or 'object'})"
            yield from members(value)
        elif typing.get_args(value):
            yield f"{name} = {' | '.join(sorted(part.__name__ for part in typing.get_args(value)))}"
        elif name == "__version__":
            yield f"{name}: {type(value).__name__}"
        elif callable(value):
            yield f"def {name}{signature(value)}"
        else:
            yield f"{name} = {value!r}"


def test_the_public_api_is_the_one_under_review() -> None:
    others = [line for package in OTHERS for line in ("", f"# {package.__name__}", *api(package))]
    now = "\n".join([*api(redlatch), *others]) + "\n"
    if os.environ.get("REDLATCH_RENEW_API"):
        TEXT.write_text(now)
    reviewed = TEXT.read_text()
    differs = "".join(
        difflib.unified_diff(reviewed.splitlines(True), now.splitlines(True), str(TEXT), "the package", n=0)
    )
    assert now == reviewed, f"{differs}if that is meant, renew the text:\n    {RENEW}"
