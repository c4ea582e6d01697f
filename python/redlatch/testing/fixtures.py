"""Fixtures of a private server, by `pytest_plugins = ["redlatch.testing.fixtures"]` in `conftest.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from redlatch import Client, connect, testing


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
