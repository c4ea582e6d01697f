"""Texts, and lists of things, as callers give them, checked."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Sized
from typing import TypeVar, Union

from redlatch.errors import ArgumentTypeError, ConfigError

T = TypeVar("T")
Path = Union[str, os.PathLike[str]]


def shown(what: str, value: object) -> str:
    """A value as an error shows it: one that may have a password in it by its type and its size alone."""
    told = reprlib.repr(value)
    if not any(word in f"{what} {told}" for word in ("password", "url", "://", "@")):
        return told
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"a {type(value).__name__}{size}"


def checked(what: str, value: str) -> str:
    """`value`, which a ConfigError calls `what` if it cannot be used."""
    if not isinstance(value, str):
        remedy = "; decode it first" if isinstance(value, bytes) else ""
        raise ArgumentTypeError(f"{what} is {shown(what, value)}, it must be a str{remedy}")
    why = _not_utf8(value)
    if why is not None:
        raise ConfigError(f"{what} is {shown(what, value)}, which has no UTF-8 form ({why}); use other characters")
    return value


def _not_utf8(text: str) -> str | None:
    """Why it is not. The error that says so has the whole text, and so must be no context of another one."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        return e.reason
    return None


def path(what: str, file: Path) -> str:
    """The path of a file."""
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"{what} is {shown(what, file)}, it must be a path; give a str or a pathlib.Path")
    return checked(what, os.fspath(file))


def each(what: str, values: Iterable[T]) -> list[T]:
    """The values, of which a text is one and not many."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{what} is {shown(what, values)}, it must be a list")
    return list(values)
