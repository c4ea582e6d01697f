"""Fixtures of all tests: private servers, a client and a lock name for each test, another thread."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

import loops
import redlatch
from faces import FACES, Face
from loops import LOOPS, Loop
from mariadb import Mariadb, Site
from redlatch import aio
from servers import Server
from system import System
from view import View
from zookeeper import Tree, Zookeeper


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine function, in the loop of the fixture `every_loop` if the test has that."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    loop = cast("Loop", pyfuncitem.funcargs.get("every_loop", LOOPS["asyncio"]))
    loops.run(pyfuncitem.obj(**given), loop)
    return True


@pytest.fixture(params=list(LOOPS))
def every_loop(request: pytest.FixtureRequest) -> Loop:
    """Runs the test twice: in a loop of asyncio and in one of uvloop."""
    return LOOPS[request.param]


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


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Mariadb]:
    """It starts when a test first asks for it."""
    server = Mariadb()
    yield server
    server.close()


@pytest.fixture
def site(mariadb: Mariadb) -> Iterator[Site]:
    """The server of MariaDB. When the test has closed its clients, none of their locks and sessions may be left."""
    with mariadb.sql() as sql:
        site = Site(mariadb, sql)
        yield site
        site.check_left()


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[Zookeeper]:
    """It starts when a test first asks for it."""
    server = Zookeeper()
    yield server
    server.close()


@pytest.fixture
def tree(zookeeper: Zookeeper) -> Iterator[Tree]:
    """The server of ZooKeeper. When the test has closed its clients, none of their nodes and sessions may be left."""
    with zookeeper.kazoo() as kazoo:
        tree = Tree(zookeeper, kazoo)
        yield tree
        tree.check_left()


@pytest.fixture
def system(request: pytest.FixtureRequest) -> System:
    """The server of one system: that of its fixture, which the test gives as a parameter."""
    system: System = request.getfixturevalue(request.param)
    return system


@pytest.fixture(params=list(FACES))
def face(request: pytest.FixtureRequest, system: System) -> Iterator[Face]:
    """Runs the test with each façade. At the end its clients, which are still open, have and want no lock."""
    with FACES[request.param]() as face:
        yield face
        system.check_empty()


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
    """Another client of the same server, like the client of another process."""
    with redlatch.connect(server.url) as client:
        yield client


@pytest.fixture
def aio_client(server: Server) -> Iterator[aio.AsyncClient]:
    """A client for asyncio. It is a third client of the same server."""
    client = aio.connect(server.url)
    yield client
    loops.run(client.close())


@pytest.fixture
def name() -> str:
    """A lock name of this test alone."""
    return f"test:{uuid.uuid4()}"


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """One other thread, always the same."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
