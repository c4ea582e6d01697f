"""A public function answers a bad argument, a closed client or another process with an error of one sentence.

No lock stays held. Every public function has a row in `public_rows`, and every parameter has bad values in
`bad_values`. A function or a parameter without them fails a test here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import redlatch
from bad_values import BAD, TAKES_ALL, shown
from forks import in_a_fork
from public import functions, parameters
from public_rows import ROWS, Row, World
from servers import Server
from view import View

FUNCTIONS = functions()


@pytest.fixture
def world(server: Server, name: str) -> Iterator[World]:
    world = World(server.url, name)
    yield world
    world.client.close()


def test_every_public_function_has_a_row_and_every_row_a_function() -> None:
    assert sorted(FUNCTIONS) == sorted(ROWS)


def bad_values(function: str, parameter: str) -> list[Any]:
    row = ROWS[function]
    assert parameter in TAKES_ALL or parameter in {**BAD, **row.bad}, f"what does `{parameter}` of {function} not take?"
    own = row.bad if parameter in row.bad else BAD
    return [] if parameter in TAKES_ALL else own[parameter]


def contents(view: View, name: str) -> dict[str, object]:
    """The keys of a test on the server with their values, without their times."""
    keys = view("KEYS", f"{name}*")
    assert isinstance(keys, list)
    return {key: view("DUMP", key) for key in map(str, keys)}


def check(error: BaseException, row: Row) -> None:
    """Fails unless the error is one of redlatch's, or one of the row's, with a text of one sentence."""
    assert isinstance(error, (redlatch.RedlatchError, *row.raises)), repr(error)
    text = str(error)
    assert 10 < len(text) < 400, text[:1000]
    assert "\n" not in text
    assert not text.endswith(".")


@pytest.mark.parametrize("function", ROWS)
def test_bad_values_are_refused_and_change_nothing(world: World, view: View, function: str) -> None:
    row = ROWS[function]
    call = row.call(world)
    before = contents(view, world.name)
    for parameter in parameters(FUNCTIONS[function]):
        for value in bad_values(function, parameter.name):
            try:
                if parameter.name == row.many:
                    call(value)
                else:
                    call(**{**row.good, parameter.name: value})
            except Exception as error:
                check(error, row)
            else:
                pytest.fail(f"{function} takes {parameter.name}={shown(value)}")
    assert contents(view, world.name) == before


@pytest.mark.parametrize("function", ROWS)
def test_a_closed_client_refuses_or_needs_no_server(world: World, view: View, function: str) -> None:
    row = ROWS[function]
    call = row.call(world)
    world.client.close()
    if row.needs_server:
        with pytest.raises(redlatch.RedlatchError) as refused:
            call(**row.good)
        check(refused.value, row)
        assert isinstance(
            refused.value, (redlatch.ClosedError, redlatch.NotHeldError, redlatch.compat.redis_py.LockError)
        )
    else:
        call(**row.good)
    held = contents(view, world.name).keys() - {world.name + part for part in (":semaphore", ":permits", ":latch")}
    assert held == {f"{{{world.name}:permits}}:timeout"} & held, f"{function} left something"


@pytest.mark.parametrize("function", ROWS)
def test_a_client_of_another_process_works_or_refuses_and_leaves_the_parents_holds(
    world: World, view: View, function: str
) -> None:
    row = ROWS[function]
    parents = view("HGETALL", f"{world.name}:held"), view("GET", f"{world.name}:theirs")

    def child() -> str:
        try:
            row.call(world)(**row.good)
        except redlatch.RedlatchError as error:
            check(error, row)
            return type(error).__name__
        return "works"

    assert in_a_fork(child) in ("works", "NotHeldError", "LockNotOwnedError", "NotAcquiredError")
    assert (view("HGETALL", f"{world.name}:held"), view("GET", f"{world.name}:theirs")) == parents
    world.hold.ensure()
