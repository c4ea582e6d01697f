"""Programs can read the type hints of all public objects at run time, as frameworks for dependency injection do."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterator

import pytest

import redlatch
from redlatch import aio, celery, otel, prometheus, testing
from redlatch.compat import python_redis_lock, redis_asyncio, redis_py

pytestmark = pytest.mark.skipif(sys.version_info < (3, 10), reason="`int | None` has no value before Python 3.10")


def hinted() -> Iterator[tuple[str, object]]:
    """Every public class and function, and every member of a class that a program can see."""
    for module in (redlatch, aio, celery, otel, prometheus, testing, python_redis_lock, redis_asyncio, redis_py):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                yield f"{module.__name__}.{name}", thing
                yield from members(f"{module.__name__}.{name}", thing)
            elif inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing


def members(name: str, of: type) -> Iterator[tuple[str, object]]:
    for base in of.__mro__:
        if base.__module__.startswith("redlatch"):
            for member, value in vars(base).items():
                function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                is_private = member.startswith("_") and not member.endswith("__")
                # A NamedTuple's `__new__` is Python's own, and knows the types' names only after its class was asked.
                is_own = (getattr(function, "__module__", None) or "").startswith("redlatch")
                if inspect.isfunction(function) and is_own and not is_private:
                    yield f"{name}.{member}", function


@pytest.mark.parametrize("name", dict(hinted()))
def test_a_program_can_read_the_type_hints_of_all_that_it_sees(name: str) -> None:
    typing.get_type_hints(dict(hinted())[name])
