"""Texts, and lists of things, as callers give them, checked."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable
from typing import TypeVar, Union

from redlatch.errors import ConfigError

T = TypeVar("T")
Path = Union[str, "os.PathLike[str]"]


def checked(what: str, value: str) -> str:
    """`value`, which a ConfigError calls `what` if it cannot be used."""
    if not isinstance(value, str):
        raise ConfigError(f"{what} is {reprlib.repr(value)}, it must be a str; decode bytes first")
    try:
        value.encode()
    except UnicodeEncodeError as e:
        raise ConfigError(
            f"{what} is {reprlib.repr(value)}, which has no UTF-8 form ({e.reason}); use other characters"
        ) from None
    return value


def path(what: str, file: Path) -> str:
    """The path of a file."""
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError(f"{what} is {reprlib.repr(file)}, it must be a path; give a str or a pathlib.Path")
    return checked(what, os.fspath(file))


def each(what: str, values: Iterable[T]) -> list[T]:
    """The values, of which a text is one and not many."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ConfigError(f"{what} is {reprlib.repr(values)}, it must be a list")
    return list(values)
