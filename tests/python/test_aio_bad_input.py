"""The functions of `redlatch.aio` refuse the same bad values as those of `test_public_bad_input`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

import loops
import redlatch
from bad_values import BAD, shown
from blocking import Blocking, Loop
from public import functions, parameters
from public_rows import ROWS, World
from redlatch import aio
from servers import Server
from test_public_bad_input import bad_values, check, contents
from view import View

FUNCTIONS = functions()
# Functions outside of a class have a test below. These take other callables in asyncio.
OTHER_CALLABLES = ["Lock.__call__", "Hold.on_lost", "Job.run", "Job.__call__"]
METHODS = [name for name in ROWS if name.count(".") == 1 and name not in ("Tls.__init__", *OTHER_CALLABLES)]


async def work() -> int:
    return 1


class AioWorld(World):
    """The same objects of `redlatch.aio`, with methods that block."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name
        self.loop = Loop()
        self.client = client = Blocking(self.loop, aio.connect(url))  # type: ignore[assignment]
        self.lock = client.get_lock(name)
        self.fenced = client.get_fenced_lock(name)
        self.leader = client.leader(f"{name}:leader")
        self.job = client.job(f"{name}:job", at_most=60)
        self.work = work
        self.held = client.get_lock(f"{name}:held", lease=60)
        self.hold = self.held.lock()
        self.semaphore = client.get_semaphore(f"{name}:semaphore")
        self.semaphore.try_set_permits(3)
        self.permits = client.get_permit_expirable_semaphore(f"{name}:permits")
        self.permits.try_set_permits(3)
        self.permit = Blocking(self.loop, self.permits.acquire())  # type: ignore[assignment]
        self.latch = client.get_count_down_latch(f"{name}:latch")
        self.latch.try_set_count(1)


@pytest.fixture
def world(server: Server, name: str) -> Iterator[AioWorld]:
    world = AioWorld(server.url, name)
    yield world
    world.client.close()
    world.loop.close()


@pytest.mark.parametrize("function", METHODS)
def test_bad_values_are_refused_and_change_nothing(world: AioWorld, view: View, function: str) -> None:
    row = ROWS[function]
    call = row.call(world)
    before = contents(view, world.name)
    for parameter in parameters(FUNCTIONS[function]):
        for value in bad_values(function, parameter.name):
            with pytest.raises(Exception) as refused:  # noqa: PT011
                call(value) if parameter.name == row.many else call(**{**row.good, parameter.name: value})
            check(refused.value, row)
    assert contents(view, world.name) == before


@pytest.mark.parametrize("function", [name for name in METHODS if ROWS[name].needs_server])
def test_a_closed_client_refuses(world: AioWorld, function: str) -> None:
    row = ROWS[function]
    call = row.call(world)
    world.client.close()
    with pytest.raises((redlatch.ClosedError, redlatch.NotHeldError)) as refused:
        call(**row.good)
    check(refused.value, row)


@pytest.mark.parametrize("parameter", inspect.signature(aio.connect).parameters)
def test_bad_options_are_refused(parameter: str) -> None:
    for value in BAD[parameter]:
        try:
            client = aio.connect(**{parameter: value})
        except redlatch.RedlatchError as error:
            check(error, ROWS["connect"])
        else:
            loops.run(client.close())
            pytest.fail(f"connect takes {parameter}={shown(value)}")
