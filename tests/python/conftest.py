"""What the tests share: one private server, a client and a lock name for each test, another thread."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from servers import Server
from view import View


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server that the test may kill."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def view(server: Server) -> Iterator[View]:
    with server.view() as view:
        yield view


@pytest.fixture
def client(server: Server) -> Iterator[redlatch.Client]:
    with redlatch.connect(server.url) as client:
        yield client


@pytest.fixture
def stranger(server: Server) -> Iterator[redlatch.Client]:
    """Another client of the same server, as another process would have."""
    with redlatch.connect(server.url) as client:
        yield client


@pytest.fixture
def name() -> str:
    """A lock name that no other test has."""
    return f"test:{uuid.uuid4()}"


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """One other thread, always the same."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
