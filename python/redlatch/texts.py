"""Texts as callers give them, checked."""

from __future__ import annotations

import reprlib

from redlatch.errors import ConfigError


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
