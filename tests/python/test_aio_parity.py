"""`redlatch.aio` has the same names as `redlatch`, in the same order, with the same arguments and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

import pytest

import redlatch
from redlatch import aio

# The same objects in both modules.
ERRORS = {name for name in redlatch.__all__ if name.endswith("Error")}
SHARED = {"EACH", "UNSET", "Seconds", "Tls", "Wait", "WaitAof", "__version__", *ERRORS}
# The members that ask nothing of Redis. All other members are coroutine functions in `redlatch.aio`.
AT_ONCE = {
    "client",
    "name",
    "id",
    "closed",
    "ensure",
    "on_lost",
    "set_credentials",
    "stats",
    "__call__",
    "read_lock",
    "write_lock",
    "hold",
    "value",
    "observe",
    "decorator",
    "held",
    "cancelling",
    "current_hold",
}
#: The members that only tasks have: a thread cannot be cancelled.
OF_TASKS = {"Hold": {"cancelling"}}
WORDS = [
    (r"\b(Async|async |await )|\.aio\b", ""),
    (r"Coroutine\[Any, Any, (\w+(?:\[\w+\])?)\]", r"\1"),
    (r"\b(A|a)n?\b", r"\1"),
    (r"\bthreads?\b|\btasks?\b", "task"),
    (r"Ctrl-C|[Cc]ancelling", "cancelling"),
    (r"[\s`]+", " "),
    (r"; see", ". See"),
    (r"__a(enter|exit)__", r"__\1__"),
]


def of_aio(name: str) -> Any:
    return getattr(aio, "AsyncClient" if name == "Client" else name)


def is_ours(of: type) -> bool:
    return of.__module__.startswith("redlatch")


def members(of: type) -> dict[str, Any]:
    """The public members of a class and of its base classes, in their order, by their names without asyncio."""
    shown = ("__enter__", "__exit__", "__call__", "__aenter__", "__aexit__")
    found: dict[str, Any] = {}
    for half in of.__mro__:
        if is_ours(half):
            for name, member in vars(half).items():
                if not name.startswith("_") or name in shown:
                    found.setdefault(name.replace("__a", "__", 1), member)
    return found


def plain(text: str | None) -> str:
    text = text or ""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text.strip()


CLASSES = [name for name in redlatch.__all__ if inspect.isclass(getattr(redlatch, name)) and name not in SHARED]


def without_a(names: Iterable[str]) -> list[str]:
    return [name.replace("__a", "__", 1) for name in names]


def test_both_modules_have_the_same_names() -> None:
    assert sorted(set(aio.__all__) - {"AsyncClient"}) == sorted(set(redlatch.__all__) - {"__version__"})
    for name in SHARED - {"__version__"}:
        assert getattr(aio, name) is getattr(redlatch, name)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_the_same_methods_in_the_same_order(name: str) -> None:
    theirs, ours = members(getattr(redlatch, name)), members(of_aio(name))
    assert set(ours) - OF_TASKS.get(name, set()) == set(theirs)
    own = vars(getattr(redlatch, name)), vars(of_aio(name))
    # Some methods for threads are native, because of signals, and so not in the class itself.
    both = [[name for name in without_a(names) if name in theirs] for names in own]
    common = set(both[0]) & set(both[1])
    assert [name for name in both[0] if name in common] == [name for name in both[1] if name in common]


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_the_same_arguments_and_are_coroutine_functions_if_they_ask_redis(name: str) -> None:
    theirs, ours = members(getattr(redlatch, name)), members(of_aio(name))
    for member, function in ours.items():
        if member in OF_TASKS.get(name, ()):
            continue
        if inspect.isfunction(function := inspect.unwrap(function)):
            here, there = inspect.signature(function), inspect.signature(theirs[member])
            if theirs[member].__class__ is function.__class__:
                assert plain(str(here)) == plain(str(there)), member
            else:
                assert list(here.parameters) == list(there.parameters), member
            gives_lock = name == "Client" and (
                member.startswith("get_") or member in ("lock", "leader", "job", "locks")
            )
            assert inspect.iscoroutinefunction(function) == (member not in AT_ONCE and not gives_lock), member


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_the_same_docstrings(name: str) -> None:
    of = getattr(redlatch, name), of_aio(name)
    theirs, ours = members(of[0]), members(of[1])
    different = {
        "Client": ["close"],
        "Lock": ["__call__"],
        "Hold": ["on_lost"],
        "Job": ["run", "hold", "__call__"],
    }.get(name, [])
    for member in set(vars(of[1])) & set(theirs) - set(different):
        assert plain(ours[member].__doc__) == plain(theirs[member].__doc__), member
    if name not in ("Client", "Lock"):
        assert plain(of[1].__doc__) == plain(of[0].__doc__)


@pytest.mark.parametrize("function", ["connect", "from_redis", "red_lock", "current_hold"])
def test_functions_have_the_same_arguments_and_docstrings(function: str) -> None:
    theirs, ours = getattr(redlatch, function), getattr(aio, function)
    assert plain(str(inspect.signature(ours))) == plain(str(inspect.signature(theirs)))
    assert function in ("connect", "current_hold") or plain(ours.__doc__) == plain(theirs.__doc__)
