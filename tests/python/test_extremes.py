"""The shortest and the longest times that a caller can give: a call works with them, or refuses them at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import redlatch
from eventually import until_true
from redlatch.durations import LONGEST
from servers import Server
from view import View

YEAR = 31_536_000
OPTIONS: dict[str, list[Any]] = {
    "watchdog": [0.1, YEAR, timedelta(days=365)],
    "response_timeout": [0.001, 0.009, YEAR],
    "connect_timeout": [0.001, YEAR],
    "sync": [redlatch.Wait(1, 0.001), redlatch.Wait(1, timedelta(milliseconds=1))],
}


@pytest.mark.parametrize(("option", "value"), [(name, value) for name, values in OPTIONS.items() for value in values])
def test_an_option_at_its_extremes_works_or_the_server_is_too_slow_for_it(
    server: Server, name: str, option: str, value: Any
) -> None:
    given: dict[str, Any] = {option: value}
    with redlatch.connect(server.url, **given) as client:
        lock = client.get_lock(name)
        try:
            with lock.lock(lease=20) as hold:
                assert hold.remaining > 0
            with lock.lock() as hold:
                hold.ensure()
        except (redlatch.UnavailableError, redlatch.NotSyncedError):
            assert option != "watchdog"


@pytest.mark.parametrize("option", ["watchdog", "response_timeout", "connect_timeout"])
@pytest.mark.parametrize("value", [0, YEAR + 1, LONGEST, LONGEST + 1, 1e-9])
def test_an_option_beyond_its_extremes_is_refused_by_its_name(server: Server, option: str, value: float) -> None:
    given: dict[str, Any] = {option: value}
    with pytest.raises(redlatch.ConfigError, match=option):
        redlatch.connect(server.url, **given)


@pytest.mark.parametrize("lease", [0.001, 0.0015, LONGEST, timedelta(milliseconds=1)])
@pytest.mark.parametrize("wait", [0, 1e-9, LONGEST, None])
def test_a_wait_and_a_lease_at_their_extremes_work(
    server: Server, view: View, name: str, lease: Any, wait: float | None
) -> None:
    with redlatch.connect(server.url) as client:
        lock = client.get_lock(name)
        hold = lock.lock(lease=lease) if wait is None else lock.try_lock(wait=wait, lease=lease)
        # A lease of a millisecond may be over at any moment.
        if lease == LONGEST:
            assert hold is not None
            assert hold.remaining > LONGEST * 0.98
            hold.release()
        until_true(lambda: view("EXISTS", name) == 0, "the end of the lock")
