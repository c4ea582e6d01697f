"""The errors that newcomers get for usual mistakes name the mistake and the remedy."""

from __future__ import annotations

import copy
import pickle
import threading
from functools import partial
from typing import Any, Callable, cast

import pytest

import redlatch
from forks import in_a_fork
from redlatch import Client, aio
from servers import Server
from view import View


def told(error: type[BaseException], call: Callable[[], object]) -> str:
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def test_a_path_of_a_url_with_more_than_a_database_is_refused() -> None:
    for url in (
        "redis://h/1/2",
        "redis+sentinel://h/mymaster/1/2",
        "redis+replicated://h/1/2",
        "redis+cluster://h/0/1",
    ):
        text = told(redlatch.ConfigError, partial(redlatch.connect, url))
        assert "has more behind its hosts than that takes; write redis://host:6379, " in text
    redlatch.connect("redis://h/1/")


@pytest.mark.parametrize("number", [5, 0.5, 2, -1, "no", None])
def test_an_acquire_refuses_a_number_as_blocking(client: Client, number: Any, name: str) -> None:
    text = told(TypeError, lambda: client.lock(name).acquire(number))
    assert f"blocking is {number!r}" in text
    assert "timeout=" in text


def test_an_acquire_accepts_one_and_zero_as_blocking(client: Client, name: str) -> None:
    lock: Any = client.lock(name)
    for blocking in (True, 1):
        hold = lock.acquire(blocking)
        for not_blocking in (False, 0):
            assert lock.acquire(not_blocking) is None
        hold.release()


async def test_an_acquire_of_asyncio_refuses_a_number_as_blocking(aio_client: aio.AsyncClient, name: str) -> None:
    with pytest.raises(TypeError, match="blocking is 5"):
        await aio_client.lock(name).acquire(5)  # type: ignore[arg-type]


def test_locks_in_a_list_are_no_multi_lock(client: Client, aio_client: aio.AsyncClient) -> None:
    for of in (client, aio_client):
        locks: Any = [of.lock("a"), of.lock("b")]
        text = told(TypeError, partial(of.get_multi_lock, locks))
        assert "each an argument of its own" in text
        assert len(text) < 300


def test_a_call_of_a_client_class_names_the_function_that_makes_clients() -> None:
    for call in (redlatch.Client, aio.Client):
        assert "redlatch.connect(url)" in told(TypeError, call)


def test_the_error_of_a_bad_name_names_decoding_only_for_bytes(client: Client) -> None:
    assert "decode" in told(TypeError, lambda: client.lock(b"n"))  # type: ignore[arg-type]
    for wrong in (None, 5, ["n"], print):
        text = told(TypeError, partial(cast("Any", client.lock), wrong))
        assert "must be a str" in text
        assert "decode" not in text


def test_the_error_of_a_server_that_wants_a_password_names_the_remedy(own_server: Server) -> None:
    with own_server.view() as view:
        view("CONFIG", "SET", "requirepass", "a password")
    text = told(redlatch.RefusedError, redlatch.connect(own_server.url).ping)
    assert "NOAUTH" in text
    assert text.endswith("; give the password: redis://:password@host, or redis://user:password@host")
    wrong = redlatch.connect(own_server.url, password="another one")
    text = told(redlatch.RefusedError, wrong.ping)
    assert "WRONGPASS" in text
    assert text.endswith("; check the user and the password")


def test_the_error_of_a_second_unlock_says_that_the_lock_was_released_already(client: Client, name: str) -> None:
    for lock in (client.lock(name), client.get_lock(name)):
        lock.lock()
        lock.unlock()
        assert "released" in told(redlatch.NotHeldError, lock.unlock)
        assert "already" in told(redlatch.NotHeldError, lock.unlock)


def test_the_errors_of_a_full_server_and_of_a_replica_name_the_remedy(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as view:
        view("CONFIG", "SET", "maxmemory", "1")
        text = told(redlatch.RefusedError, client.lock(name, wait=0.05).lock)
        assert text.endswith("'maxmemory'; give the server more memory, or delete what is not needed any more")
        view("CONFIG", "SET", "maxmemory", "0")
        view("REPLICAOF", "127.0.0.1", "1")
        text = told(redlatch.RefusedError, client.lock(name, wait=0.05).lock)
        assert "; name the master, or have it found: redis+sentinel://" in text


def test_the_error_of_a_thread_that_waited_for_its_own_hold_says_so(
    client: Client, stranger: Client, name: str
) -> None:
    lock = client.lock(name, wait=0.05)
    own = "its own hold"
    with lock:
        assert own in told(redlatch.NotAcquiredError, lock.lock)
        assert own in told(redlatch.NotAcquiredError, lock.__enter__)
        assert own in told(redlatch.NotAcquiredError, lambda: lock(print)())
        assert own not in told(redlatch.NotAcquiredError, stranger.lock(name, wait=0.05).lock)
        others: list[str] = []
        thread = threading.Thread(target=lambda: others.append(told(redlatch.NotAcquiredError, lock.lock)))
        thread.start()
        thread.join(20)
        assert own not in others[0]


async def test_the_error_of_a_task_that_waited_for_its_own_hold_says_so(aio_client: aio.AsyncClient, name: str) -> None:
    lock = aio_client.lock(name, wait=0.05)
    async with lock:
        with pytest.raises(redlatch.NotAcquiredError, match="its own hold"):
            await lock.lock()
        with pytest.raises(redlatch.NotAcquiredError, match="its own hold"):
            await lock.__aenter__()


def test_a_callback_that_could_not_be_called_is_refused_at_once(client: Client, name: str) -> None:
    with client.lock(name) as hold:
        for wrong in (threading.Event().set, lambda: None, lambda hold: None, lambda a, b, c: None):
            text = told(TypeError, partial(cast("Any", hold.on_lost), wrong))
            assert f"on_lost of `{name}`" in text
            assert "lambda hold, error:" in text
        for right in (print, lambda hold, error: None, lambda *both: None, lambda a, b, c=None: None):
            hold.on_lost(right)


async def test_a_callback_of_asyncio_that_could_not_be_called_is_refused_at_once(
    aio_client: aio.AsyncClient, name: str
) -> None:
    async def of_one(hold: aio.Hold) -> None: ...

    async with aio_client.lock(name) as hold:
        for wrong in (threading.Event().set, of_one):
            with pytest.raises(TypeError, match="lambda hold, error:"):
                hold.on_lost(wrong)  # type: ignore[arg-type]


def test_a_forked_childs_copy_of_a_hold_names_the_process_that_holds_it(server: Server, name: str) -> None:
    with redlatch.connect(server.url, prefix="app:") as client, client.lock(name) as hold:
        text = in_a_fork(lambda: told(redlatch.NotHeldError, hold.release))
        assert text == f"`{name}` is held by the process that forked this one; acquire it here as well"


async def test_objects_that_are_pickled_or_copied_name_the_remedy(
    client: Client, aio_client: aio.AsyncClient, name: str
) -> None:
    async with aio_client.lock(f"{name}:aio") as theirs:
        with client.lock(name) as ours:
            for hold in (ours, theirs):
                text = told(TypeError, partial(pickle.dumps, hold))
                assert text.startswith(
                    "a Hold of redlatch cannot be pickled or copied; acquire the lock in the process "
                )
    for of in (client, aio_client):
        kinds = (of.lock, of.get_semaphore, of.get_permit_expirable_semaphore, of.get_count_down_latch, of.leader)
        made = [of, *(get(name) for get in kinds), of.get_read_write_lock(name)]
        for call in (pickle.dumps, copy.deepcopy):
            for thing in made:
                text = told(TypeError, partial(call, thing))
                assert "cannot be pickled or copied; make one in each process" in text


def test_a_count_is_one_number(client: Client, name: str) -> None:
    text = told(redlatch.ConfigError, lambda: client.get_count_down_latch(name).try_set_count(-1))
    assert text == f"the count of `{name}` must be 1 or more, not -1"
    text = told(redlatch.ConfigError, lambda: client.get_semaphore(name).acquire(0))
    assert text == f"the permits of `{name}` must be 1 or more, not 0"


def test_an_acquire_of_too_many_permits_names_the_remedy(client: Client, view: View, name: str) -> None:
    semaphore = client.get_semaphore(name, permits=1)
    text = told(redlatch.NotAcquiredError, lambda: semaphore.acquire(2, wait=0.05))
    assert text == (
        f"2 permits of `{name}` were not there within 0.05 s: they are out, or were never set; "
        "wait longer, ask for fewer, or call try_set_permits first"
    )


def test_a_client_with_tls_options_refuses_a_url_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    for connect in (redlatch.connect, aio.connect):
        for url in ("redis://h", "redis+cluster://h", "redis+sentinel://h/mymaster", "unix:///h.sock"):
            text = told(redlatch.ConfigError, partial(connect, url, tls=redlatch.Tls()))
            assert "goes without TLS" in text
            assert "write rediss://" in text
        monkeypatch.setenv("REDLATCH_URL", "redis://of.the.environment")
        assert "redis://of.the.environment:6379" in told(redlatch.ConfigError, partial(connect, tls=redlatch.Tls()))
        for url in ("rediss://h", "rediss+cluster://h", "rediss+sentinel://h/mymaster"):
            connect(url, tls=redlatch.Tls())
