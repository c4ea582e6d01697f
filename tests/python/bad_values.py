"""Bad values for the parameters of the public functions, by the name of the parameter."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import redlatch

SECONDS: list[Any] = [
    -1,
    -0.001,
    float("nan"),
    float("inf"),
    float("-inf"),
    1e300,
    10**400,
    True,
    False,
    "5",
    b"5",
    [5],
    5j,
    object(),
    timedelta(seconds=-1),
    timedelta.max,
]
TEXTS: list[Any] = [5, 5.0, b"bytes", ["list"], object(), "lone \udc80 surrogate"]
NAMES: list[Any] = [None, *TEXTS, "", "x" * 10_000_000, "ä" * 40_000]
NUMBERS: list[Any] = [None, 1.0, float("nan"), float("inf"), "1", b"1", True, [1], 2**70, -(2**70), object()]
# How many permits to take, give or set. A negative count is bad except for `add_permits`.
COUNTS: list[Any] = [*NUMBERS, -1, 2**62]
OWNERS: list[Any] = [-1, 2**40, 2**70, 1.0, float("nan"), True, "me", b"me"]
IDS: list[Any] = [None, 5, b"0" * 32, "", "0" * 31, "0" * 33, "z" * 32, "x" * 10_000_000, object()]


async def _coroutine() -> None: ...


def _generator() -> Iterator[None]:
    yield


FUNCTIONS: list[Any] = [None, 5, "name", b"name", _coroutine, _generator, object()]
PATHS: list[Any] = [5, 5.0, b"/bytes", "/no/such/file.pem", "nul\0", "x" * 10_000_000, object()]

#: The bad values by parameter. A row of `public_rows` replaces them if its function means something else by the name.
BAD: dict[str, list[Any]] = {
    "additional_time": SECONDS,
    "backoff": [5, "soon", b"soon", object(), *([value] for value in SECONDS)],
    "blocking_timeout": SECONDS,
    "callback": FUNCTIONS,
    "client_name": [*TEXTS, "two words", "x" * 10_000_000],
    "config": PATHS,
    "connect_timeout": [*SECONDS, 0],
    "count": COUNTS,
    "function": [*(value for value in FUNCTIONS if value is not _coroutine), int],
    "lease": [*SECONDS, 0, 1e-9],
    "locks": [None, 5, "name", b"name", object()],
    "name": NAMES,
    "on_busy": [None, 5, "", "skipp", b"skip", ["skip"], object()],
    "owner": OWNERS,
    "password": [*TEXTS, "x" * 10_000_000],
    "pattern": NAMES,
    "permit": IDS,
    "permits": COUNTS,
    "prefix": [*TEXTS, "x" * 10_000_000],
    "program": [5, b"bytes", "/no/such/program", object()],
    "redis": [None, 5, "redis://localhost", object()],
    "response_timeout": [*SECONDS, 0],
    "sleep": SECONDS,
    "quarantine": [5, 0.5, "true", object(), bool],
    "sync": [5, "wait", {"replicas": 1}, object(), redlatch.Wait, redlatch.Wait(within=31)],
    "timeout": SECONDS,
    "tls": [5, "ca.pem", {"ca": "ca.pem"}, object()],
    "ttl": SECONDS,
    "url": [*TEXTS, "", "localhost", "http://localhost", "redis://", "x" * 10_000_000],
    "values": [5, "name", object(), [], [5], [None], [b"x"], ["a\0b"]],
    "urls": [None, 5, object(), [], [5], [None], [b"redis://localhost"], "redis://localhost", ["nowhere"]],
    "username": TEXTS,
    "wait": SECONDS,
    "watchdog": [*SECONDS, 0, 0.01],
}
#: Parameters that take every value: as true or false, or as Python's arguments at the end of a block.
TAKES_ALL = {
    "at",
    "blocking",
    "error",
    "kind",
    "local",
    "raise_on_release_error",
    "renew",
    "replace_ttl",
    "thread_local",
}


def shown(value: object) -> str:
    """The value as a test shows it."""
    text = repr(value)
    return text.split(" at 0x")[0] if len(text) < 60 else f"{text[:20]}…"
