"""Checks of the texts, paths and lists that callers give, and how an error shows such a value."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Sized
from typing import TypeVar, Union

from redlatch.errors import ArgumentTypeError, ConfigError

T = TypeVar("T")
Path = Union[str, os.PathLike[str]]


def shown(what: str, value: object) -> str:
    """A value as an error shows it. Of a value that may contain a password it shows the type and the size alone."""
    told = reprlib.repr(value)
    if not any(word in f"{what} {told}" for word in ("password", "url", "://", "@")):
        return told
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"a {type(value).__name__}{size}"


def checked_text(what: str, value: str) -> str:
    """Returns the text. Raises ConfigError, which calls it `what`, if it is no text or has no UTF-8 form."""
    if not isinstance(value, str):
        remedy = "; decode it first" if isinstance(value, bytes) else ""
        raise ArgumentTypeError(f"{what} is {shown(what, value)}, it must be a str{remedy}")
    why = _not_utf8(value)
    if why is not None:
        raise ConfigError(f"{what} is {shown(what, value)}, which has no UTF-8 form ({why}); use other characters")
    return value


def _not_utf8(text: str) -> str | None:
    """Why a text has no UTF-8 form; None: it has one.

    A UnicodeEncodeError contains the whole text. So it ends here, and is no context of the ConfigError.
    """
    try:
        text.encode()
    except UnicodeEncodeError as e:
        return e.reason
    return None


def checked_path(what: str, file: Path) -> str:
    """Returns the path of a file as text. Raises ConfigError, which calls it `what`, if it is no path."""
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"{what} is {shown(what, file)}, it must be a path; give a str or a pathlib.Path")
    return checked_text(what, os.fspath(file))


def checked_list(what: str, values: Iterable[T]) -> list[T]:
    """Returns the values as a list. Raises ConfigError for a text: it would be a list of its characters."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{what} is {shown(what, values)}, it must be a list")
    return list(values)
