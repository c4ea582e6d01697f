"""The lock as a decorator: each call runs under the lock, whose name may have arguments of the call in it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from typing import Any, Callable

import pytest

import redlatch
from eventually import until_true
from kinds import LOCKS
from redlatch import Client
from servers import Server
from view import View


class Order:
    """A value without a text of its own."""

    def __init__(self, id: int) -> None:
        self.id = id


def test_a_decorated_function_runs_under_the_lock_and_stays_itself(client: Client, name: str) -> None:
    lock = client.get_lock(name)

    @lock
    def count(extra: int, *, more: int = 0) -> int:
        """Counts."""
        return lock.hold_count() + extra + more

    assert count(10, more=100) == 111
    assert not lock.is_locked()
    assert (count.__name__, count.__doc__) == ("count", "Counts.")
    assert list(inspect.signature(count).parameters) == ["extra", "more"]


def test_a_decorated_function_may_call_itself(client: Client, name: str) -> None:
    lock = client.get_lock(name)

    @lock
    def depth(more: int) -> int:
        return depth(more - 1) if more else lock.hold_count()

    assert depth(3) == 4


def test_decorated_calls_of_several_threads_wait_for_each_other(client: Client, name: str) -> None:
    inside: list[str] = []
    most: list[int] = []

    @client.get_lock(name)
    def work() -> None:
        inside.append("a caller")
        most.append(len(inside))
        inside.pop()

    with ThreadPoolExecutor(4) as pool:
        for call in [pool.submit(work) for _ in range(100)]:
            call.result()
    assert most == [1] * 100


def test_a_call_raises_the_error_of_its_function_and_releases_the_lock(client: Client, view: View, name: str) -> None:
    @client.get_lock(name)
    def fails() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails()
    assert view("EXISTS", name) == 0


def test_a_decorated_call_waits_for_the_locks_own_wait(client: Client, stranger: Client, name: str) -> None:
    calls: list[int] = []
    decorated = client.get_lock(name, wait=0)(calls.append)
    with stranger.get_lock(name), pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`"):
        decorated(1)
    decorated(2)
    assert calls == [2]


def held(view: View, name: str) -> list[str]:
    """The held locks of a test, without the test's lock name."""
    keys = view("KEYS", f"{name}*")
    assert isinstance(keys, list)
    return sorted(str(key).removeprefix(name) for key in keys)


@pytest.mark.parametrize(
    ("template", "args", "kwargs", "filled"),
    [
        (":{id}", (7,), {}, ":7"),
        (":{id}", (), {"id": "seven"}, ":seven"),
        (":{id}:{day:%Y-%m}", (7,), {}, ":7:2026-11"),
        (":{id:>{width}}", (7,), {"width": 3}, ":  7"),
        (":{id.id}", (Order(9),), {}, ":9"),
        (":{id[1]}", (["a", "b"],), {}, ":b"),
        (":{id!r}", ("x",), {}, ":'x'"),
        (":{id}", ("{day}",), {}, ":{day}"),
        (":{shop}", (1,), {"shop": "north"}, ":north"),
        (":{rest[shop]}", (1,), {"shop": "north"}, ":north"),
        (":{{id}}", (1,), {}, ":{id}"),
        (":{more[0]}", (1, date(2026, 11, 21), 3, "fourth"), {}, ":fourth"),
    ],
)
def test_a_name_is_filled_with_the_arguments_of_the_call(
    client: Client, view: View, name: str, template: str, args: Any, kwargs: Any, filled: str
) -> None:
    @client.get_lock(name + template)
    def work(id: Any, day: date = date(2026, 11, 21), width: int = 0, *more: Any, **rest: Any) -> list[str]:
        return held(view, name)

    assert work(*args, **kwargs) == [filled]
    assert held(view, name) == []


def test_calls_with_other_arguments_do_not_wait_for_each_other(client: Client, stranger: Client, name: str) -> None:
    @client.get_lock(name + ":{id}", wait=0)
    def work(id: int) -> int:
        return id

    with stranger.get_lock(f"{name}:1"):
        assert work(2) == 2
        with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}:1`"):
            work(1)


def test_methods_are_decorated_and_know_their_object(client: Client, view: View, name: str) -> None:
    class Stock:
        def __init__(self, site: str) -> None:
            self.site = site

        @client.get_lock(name + ":{self.site}:{item}")
        def take(self, item: str) -> list[str]:
            return held(view, name)

        @classmethod
        @client.get_lock(name + ":{cls.__name__}")
        def all(cls) -> list[str]:
            return held(view, name)

        @staticmethod
        @client.get_lock(name + ":{item}")
        def find(item: str) -> list[str]:
            return held(view, name)

    assert Stock("north").take("nails") == [":north:nails"]
    assert Stock.all() == [":Stock"]
    assert Stock.find(item="nails") == [":nails"]


def _getting(get: str) -> Callable[[Client, str], redlatch.Lock]:
    how = {"backoff": [0.01]} if get == "get_spin_lock" else {}
    return lambda client, name: getattr(client, get)(name, **how)


KINDS: dict[str, Callable[[Client, str], redlatch.Lock]] = {
    **{get: _getting(get) for get in LOCKS},
    "read": lambda client, name: client.get_read_write_lock(name).read_lock,
    "write": lambda client, name: client.get_read_write_lock(name).write_lock,
    "multi": lambda client, name: client.get_multi_lock(client.get_lock(name), client.get_fair_lock(name + "b")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_decorates_under_the_name_of_each_call(client: Client, view: View, name: str, kind: str) -> None:
    lock = KINDS[kind](client, name + ":{id}")

    @lock
    def work(id: int) -> bool:
        return KINDS[kind](client, f"{name}:{id}").is_held_by_current_thread() and not lock.is_locked()

    assert work(5)
    assert view("EXISTS", f"{name}:5", f"{name}:5b") == 0


def test_a_red_lock_decorates_under_the_name_of_each_call(server: Server, own_server: Server, name: str) -> None:
    urls = [server.url, own_server.url]

    @redlatch.red_lock(urls, name + ":{id}", wait=5)
    def work(id: int) -> list[list[str]]:
        with server.view() as one, own_server.view() as other:
            return [held(one, name), held(other, name)]

    assert work(5) == [[":5"], [":5"]]


def test_the_owner_and_the_times_of_the_lock_go_for_every_call(client: Client, view: View, name: str) -> None:
    @client.get_lock(name + ":{id}", owner=42, lease=7)
    def work(id: int) -> tuple[object, bool]:
        return view("HGETALL", f"{name}:{id}"), 0 < int(str(view("PTTL", f"{name}:{id}"))) <= 7000

    assert work(1) == ([f"{client.id}:42", "1"], True)


@pytest.mark.parametrize(
    ("template", "match"),
    [
        ("{orderid}", "`orderid`, which .*work.. does not take"),
        ("{}", "an argument ``"),
        ("{0}", "an argument `0`"),
        ("{id:{wide}}", "an argument `wide`"),
        ("{id", "cannot be filled .* braces"),
        ("id}", "cannot be filled .* braces"),
    ],
)
def test_a_name_that_no_call_can_fill_is_refused_by_the_decorator(
    client: Client, name: str, template: str, match: str
) -> None:
    def work(id: int) -> None: ...

    with pytest.raises(redlatch.ConfigError, match=match) as refused:
        client.get_lock(name + template)(work)
    assert refused.value.name == name + template


@pytest.mark.parametrize(
    ("template", "call", "match"),
    [
        ("{shop}", lambda work: work(1), "the argument 'shop', which this call does not have"),
        ("{id.id}", lambda work: work(1), "'int' object has no attribute 'id'"),
        ("{id[5]}", lambda work: work([1]), "index out of range"),
        ("{id:%Y}", lambda work: work("x"), "Invalid format specifier"),
        ("{id}", lambda work: work(Order(1)), "a Order has no text of its own; name one of its attributes"),
        ("{id}", lambda work: work(b"7"), "b'7' is no text; decode it first"),
        ("{id}", lambda work: work("lone \udc80 surrogate"), "no UTF-8 form"),
    ],
)
def test_a_call_whose_arguments_make_no_name_is_refused_and_nothing_is_held(
    client: Client, view: View, name: str, template: str, call: Callable[[Callable[..., None]], None], match: str
) -> None:
    @client.get_lock(name + template)
    def work(id: object, **rest: object) -> None:
        raise AssertionError("the function ran without its lock")

    with pytest.raises(redlatch.ConfigError, match=match):
        call(work)
    assert held(view, name) == []


def test_a_call_that_does_not_fit_the_function_is_a_type_error_that_names_the_argument(
    client: Client, view: View, name: str
) -> None:
    @client.get_lock(name + "{id}")
    def work(id: int) -> None: ...

    with pytest.raises(TypeError, match=r"work\(\) missing a required argument: '?id"):
        work()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'ID'"):
        work(1, ID=2)  # type: ignore[call-arg]
    assert held(view, name) == []


def test_braces_are_part_of_a_name_that_decorates_nothing(client: Client, view: View, name: str) -> None:
    with client.get_lock(name + ":{id}"):
        assert held(view, name) == [":{id}"]


def test_a_function_that_would_run_after_the_release_is_not_decorated(client: Client, name: str) -> None:
    def generator() -> Iterator[None]:
        yield

    async def async_generator() -> AsyncIterator[None]:
        yield

    for deferred in (generator, async_generator, functools.partial(generator)):
        with pytest.raises(redlatch.UnsupportedError, match=f"`{name}`"):
            client.get_lock(name)(deferred)


@pytest.mark.parametrize("manager", [contextmanager, asynccontextmanager], ids=lambda manager: manager.__name__)
def test_a_context_manager_is_not_decorated(client: Client, name: str, manager: Callable[..., Any]) -> None:
    def section() -> Iterator[None]:
        yield

    async def async_section() -> AsyncIterator[None]:
        yield

    made = manager(section if manager is contextmanager else async_section)
    with pytest.raises(redlatch.UnsupportedError, match=f"`{name}` cannot decorate .* runs after the call"):
        client.lock(name)(made)


def test_a_function_that_uses_up_a_generator_is_decorated(client: Client, name: str) -> None:
    def numbers() -> Iterator[bool]:
        yield client.lock(name).is_locked()

    @client.lock(name)
    @functools.wraps(numbers)
    def listed() -> list[bool]:
        return list(numbers())

    assert listed() == [True]


async def coroutine() -> int:
    raise AssertionError("the body of the coroutine ran")


def generator() -> Iterator[int]:
    yield asyncio.run(coroutine())


async def async_generator() -> AsyncIterator[int]:
    yield await coroutine()


LATER: dict[str, Callable[[], Any]] = {
    "a coroutine": coroutine,
    "a generator": generator,
    "an asynchronous generator": async_generator,
    "a context manager": contextmanager(generator),
    "an asynchronous context manager": asynccontextmanager(async_generator),
    "a future of a thread": concurrent.futures.Future,
    "a future of a loop": lambda: asyncio.get_running_loop().create_future(),
    "a task": lambda: asyncio.create_task(asyncio.sleep(0)),
}


@pytest.mark.parametrize("later", LATER)
def test_a_function_that_returns_a_body_for_later_does_not_run_it_unlocked(
    client: Client, view: View, name: str, later: str
) -> None:
    @client.lock(name)
    def disguised() -> Any:
        return LATER[later]()

    @client.lock(name)
    async def disguised_coroutine() -> Any:
        return LATER[later]()

    async def main() -> None:
        for function in (disguised, disguised_coroutine):
            with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
                result = function()
                if inspect.iscoroutine(result):
                    await result
        await asyncio.sleep(0)

    asyncio.run(main())
    until_true(lambda: view("EXISTS", name) == 0, "a lock that is given back")


def test_a_generator_that_its_caller_has_begun_goes_on_after_a_function_returned_it(client: Client, name: str) -> None:
    @client.lock(name)
    def first(source: Iterator[int]) -> Iterator[int]:
        next(source)
        return source

    @client.lock(name)
    def running() -> object:
        return generator

    def calls() -> Iterator[object]:
        with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
            running()
        yield "went on"

    source = (number for number in range(5))
    with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
        first(source)
    assert list(source) == [1, 2, 3, 4]
    generator = calls()
    assert next(generator) == "went on"


def test_a_coroutine_that_its_caller_has_begun_goes_on_after_a_function_returned_it(client: Client, name: str) -> None:
    @client.lock(name)
    def handed_out() -> object:
        return coroutine

    async def work() -> str:
        with pytest.raises(redlatch.UnsupportedError, match="runs after the call"):
            handed_out()
        await asyncio.sleep(0)
        return "went on"

    coroutine = work()
    assert asyncio.run(coroutine) == "went on"


def test_a_function_that_returns_a_done_future_is_decorated(client: Client, name: str) -> None:
    done: concurrent.futures.Future[int] = concurrent.futures.Future()
    done.set_result(5)

    @client.lock(name)
    def counted() -> concurrent.futures.Future[int]:
        return done

    assert counted().result() == 5


@pytest.mark.parametrize(
    "thing", [5, None, Order, classmethod(lambda cls: cls)], ids=lambda thing: type(thing).__name__
)
def test_a_value_that_is_no_function_is_not_decorated(client: Client, name: str, thing: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match=f"`{name}` decorates functions"):
        client.get_lock(name)(thing)
