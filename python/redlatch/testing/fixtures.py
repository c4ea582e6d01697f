"""Fixtures of a private server, by `pytest_plugins = ["redlatch.testing.fixtures"]` in `conftest.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from redlatch import Client, aio, connect, testing


@pytest.fixture(scope="session")
def redlatch_server() -> Iterator[testing.Server]:
    """A server for all tests of this run. Each process of pytest-xdist has its own."""
    with testing.server() as server:
        yield server


@pytest.fixture
def redlatch_client(redlatch_server: testing.Server) -> Iterator[Client]:
    """A client of that server for one test. The end of the test releases the locks that it still holds."""
    with connect(redlatch_server.url) as client:
        yield client


@pytest.fixture
def redlatch_aio_client(redlatch_server: testing.Server) -> Iterator[aio.Client]:
    """A client for asyncio of that server, for one test. The end of the test releases the locks that it still holds.

    It needs no plugin: the test may run its coroutines by pytest-asyncio, by anyio's plugin, or by `asyncio.run`.
    """
    client = aio.connect(redlatch_server.url)
    yield client
    # The loop of the test may be closed by now, and must not be replaced if it is not.
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(client.close())
    finally:
        loop.close()
