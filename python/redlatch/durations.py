"""Seconds as callers give them: an int, a float or a `timedelta`, checked."""

from __future__ import annotations

import enum
import reprlib
from datetime import timedelta
from typing import Final, Union

from redlatch.errors import ArgumentTypeError, ConfigError
from redlatch.texts import shown

#: A span of time: seconds as int or float, or a `timedelta`.
Seconds = Union[int, float, timedelta]

# A hundred years; longer ones overflow clocks on the way.
LONGEST: Final = 100 * 365 * 24 * 3600


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


#: An argument left out: it means what `get_lock` was given.
UNSET: Final = Unset.UNSET


def seconds(what: str, value: Seconds, remedy: str) -> float:
    """`value` in seconds; raises ConfigError that calls it `what` and ends with `remedy`."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    # A bool is an int to Python, and never what is meant here.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is {shown(what, value)}; give seconds as int, float or timedelta, {remedy}")
    # NaN compares false with everything, so it is refused as well.
    if not 0 <= value <= LONGEST:
        raise ConfigError(
            f"{what} is {reprlib.repr(value)} s, it must be from 0 to {LONGEST} (a hundred years); {remedy}"
        )
    return float(value)


def optional_seconds(what: str, value: Seconds | None, remedy: str) -> float | None:
    """The same, where None has a meaning of its own."""
    return None if value is None else seconds(what, value, remedy)
