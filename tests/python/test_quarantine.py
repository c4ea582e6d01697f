"""The option `quarantine` of Python's clients. The core's tests are about its meaning."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

import redlatch
from redlatch import aio
from servers import Server


def test_a_server_that_has_only_just_started_grants_nothing_to_a_thread(own_server: Server) -> None:
    with redlatch.connect(own_server.url, quarantine=True) as client:
        assert client.get_lock("n").try_lock() is None
        assert client.get_lock("n").try_lock(wait=0.05) is None
    with redlatch.connect(own_server.url, quarantine=False) as client:
        client.get_lock("n").lock().release()


def test_a_server_that_has_only_just_started_grants_nothing_to_a_task(own_server: Server) -> None:
    async def ask() -> None:
        async with aio.connect(own_server.url, quarantine=True) as client:
            tried = await asyncio.gather(*(client.get_lock(f"n{n}").try_lock() for n in range(40)))
            assert tried == [None] * 40

    asyncio.run(ask())


def test_a_server_grants_locks_when_it_has_run_for_a_lease(own_server: Server) -> None:
    with redlatch.connect(own_server.url, watchdog=2, quarantine=True) as client, own_server.view() as view:
        client.get_lock("n").lock(wait=20).release()
        uptime = re.search(r"uptime_in_seconds:(\d+)", str(view("INFO", "server")))
        assert uptime
        assert int(uptime[1]) >= 1, "it counts the seconds that are over"


@pytest.mark.parametrize("connect", [redlatch.connect, aio.connect])
@pytest.mark.parametrize("wrong", [1, "true", 2.5, []])
def test_a_quarantine_that_is_no_bool_is_refused(connect: Any, wrong: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match=r"quarantine is .*True or False"):
        connect("redis://127.0.0.1:1", quarantine=wrong)
