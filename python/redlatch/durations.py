"""Checks of times, which callers give as seconds or as `timedelta`."""

from __future__ import annotations

import enum
import reprlib
from datetime import timedelta
from typing import Final, Union

from redlatch.checks import shown
from redlatch.errors import ArgumentTypeError, ConfigError

#: A span of time: seconds as int or float, or a `timedelta`.
Seconds = Union[int, float, timedelta]

# A hundred years. Longer times overflow a clock between here and the server.
LONGEST: Final = 100 * 365 * 24 * 3600
# The spans of the options of a client.
SHORTEST_OPTIONS: Final = {"watchdog": 0.1, "response_timeout": 0.001, "connect_timeout": 0.001}
LONGEST_OPTION: Final = 365 * 24 * 3600
# Redis counts leases in milliseconds.
SHORTEST_LEASE: Final = 0.001


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.value


#: Stands for an argument that is left out: the value that `get_lock` was given counts.
UNSET: Final = Unset.UNSET


def seconds(what: str, value: Seconds, remedy: str, *, least: float = 0, most: float = LONGEST) -> float:
    """Returns `value` in seconds. Raises a ConfigError that calls it `what` and ends with `remedy`."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    # A bool is an int to Python, but no caller means a time by it.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is {shown(what, value)}; give seconds as int, float or timedelta, {remedy}")
    # A comparison with NaN is false, so this refuses NaN as well.
    if not least <= value <= most:
        span = "a year" if most == LONGEST_OPTION else "a hundred years"
        raise ConfigError(f"{what} is {reprlib.repr(value)} s, it must be from {least} to {most} ({span}); {remedy}")
    return float(value)


def optional_seconds(what: str, value: Seconds | None, remedy: str) -> float | None:
    """The same for a parameter that also takes None, which it returns."""
    return None if value is None else seconds(what, value, remedy)


def optional_option(name: str, value: Seconds | None) -> float | None:
    """The same for an option of a client, which has a span of its own."""
    if value is None:
        return None
    least = SHORTEST_OPTIONS[name]
    return seconds(name, value, "leave it out for the default", least=least, most=LONGEST_OPTION)


def needed_lease(lease: Seconds) -> float:
    """The same for a lease, which must also be long enough for Redis."""
    return seconds("lease", lease, "give for how long the hold is to last", least=SHORTEST_LEASE)


def optional_lease(lease: Seconds | None, remedy: str) -> float | None:
    """The same for a lease that may be None, which stays None."""
    return None if lease is None else seconds("lease", lease, remedy, least=SHORTEST_LEASE)
