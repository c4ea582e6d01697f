"""An argument that cannot be used raises a ConfigError that names the value and the remedy, and leaves no lock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable

import pytest

import bad_values
import loops
import redlatch
from redlatch import Client, aio
from servers import Server
from view import View

BAD_NAMES: list[Any] = [None, 5, b"bytes", ["list"], "lone \udc80 surrogate"]


def short(value: object) -> str:
    return repr(value)[:20]


@pytest.mark.parametrize("seconds", bad_values.SECONDS, ids=short)
def test_bad_times_are_refused(client: Client, view: View, name: str, seconds: Any) -> None:
    lock = client.get_lock(name)
    calls: list[Callable[[], object]] = [
        lambda: client.get_lock(name, wait=seconds),
        lambda: client.get_lock(name, lease=seconds),
        lambda: lock.lock(wait=seconds),
        lambda: lock.lock(lease=seconds),
        lambda: lock.try_lock(wait=seconds),
        lambda: lock.try_lock(lease=seconds),
        lambda: redlatch.connect(watchdog=seconds),
        lambda: redlatch.connect(response_timeout=seconds),
        lambda: redlatch.connect(connect_timeout=seconds),
    ]
    for call in calls:
        with pytest.raises(redlatch.ConfigError, match=r"^(wait|lease|watchdog|\w+_timeout) is ") as refused:
            call()
        assert isinstance(refused.value, ValueError)
        assert refused.value.code == "config"
    assert view("EXISTS", name) == 0


def test_a_user_without_a_password_is_refused_and_not_shown() -> None:
    client = redlatch.connect("redis://hunter2@localhost", password="some")
    calls: list[Callable[[], object]] = [
        lambda: redlatch.connect("redis://hunter2@localhost"),
        lambda: redlatch.connect(username="hunter2"),
        lambda: client.set_credentials("", "hunter2"),
    ]
    for call in calls:
        with pytest.raises(redlatch.ConfigError, match="the user has no password") as refused:
            call()
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("lease", [-1, 0, 1e-9, timedelta(0)], ids=short)
def test_every_lease_below_a_millisecond_is_refused_with_one_text(
    client: Client, aio_client: aio.AsyncClient, view: View, name: str, lease: Any
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: client.get_lock(name, lease=lease),
        lambda: client.get_lock(name).lock(lease=lease),
        lambda: client.get_permit_expirable_semaphore(name).acquire(lease=lease),
        lambda: client.get_permit_expirable_semaphore(name).update_lease("0" * 32, lease),
        lambda: aio_client.get_lock(name, lease=lease),
        lambda: loops.run(aio_client.get_permit_expirable_semaphore(name).acquire(lease=lease)),
        lambda: loops.run(aio_client.get_permit_expirable_semaphore(name).update_lease("0" * 32, lease)),
    ]
    for call in calls:
        with pytest.raises(
            redlatch.ConfigError, match=r"^lease is .* s, it must be from 0\.001 to 3153600000 \(a hund"
        ):
            call()
    assert view("EXISTS", name) == 0


def test_a_hundred_years_are_a_good_wait_and_lease(client: Client, view: View, name: str) -> None:
    century = 100 * 365 * 24 * 3600
    with client.get_lock(name, wait=century, lease=century) as hold:
        assert hold.remaining > century * 0.9
    assert view("EXISTS", name) == 0


@pytest.mark.parametrize("bad", BAD_NAMES, ids=short)
def test_a_name_that_is_no_text_is_refused(client: Client, bad: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match="the name of a lock is"):
        client.get_lock(bad)


@pytest.mark.parametrize("bad", ["", "x" * 10_000_000, "ä" * 40_000], ids=["empty", "10 MB", "80 kB"])
def test_names_of_no_or_enormous_length_are_refused_by_every_method(client: Client, bad: str) -> None:
    lock = client.get_lock(bad)
    for call in (lock.lock, lock.try_lock, lock.unlock, lock.force_unlock, lock.is_locked, lock.hold_count):
        with pytest.raises(redlatch.ConfigError, match="name") as refused:
            call()
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize("fine", ["with spaces and\nlines", "{brace}d", "ünïcode ✓", "nul\0", "x" * 60_000], ids=short)
def test_any_other_text_is_a_good_name(client: Client, view: View, fine: str) -> None:
    with client.get_lock(fine):
        assert view("EXISTS", fine) == 1
    assert view("EXISTS", fine) == 0


@pytest.mark.parametrize("bad", bad_values.OWNERS, ids=short)
def test_owners_out_of_range_are_refused(client: Client, name: str, bad: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match=r"owner is .* 2\*\*40"):
        client.get_lock(name, owner=bad)


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "http://localhost", "redis://", "redis://localhost:0", "redis://localhost:99999", "unix://"],
)
def test_urls_that_name_no_server_are_refused(url: str) -> None:
    with pytest.raises(redlatch.ConfigError, match=r"URL|port|scheme"):
        redlatch.connect(url)


def test_a_bad_url_is_named_without_its_password() -> None:
    with pytest.raises(redlatch.ConfigError) as refused:
        redlatch.connect("http://user:secret@localhost")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("url", b"redis://localhost"),
        ("url", 6379),
        ("watchdog", 0),
        ("watchdog", 40_000_000),
        ("response_timeout", 0),
        ("prefix", b"shop:"),
        ("client_name", "two words"),
        ("client_name", 5),
        ("username", 5),
        ("password", b"secret"),
        ("sync", "wait"),
        ("sync", redlatch.Wait(replicas=0)),
        ("sync", redlatch.Wait(replicas=-1)),
        ("sync", redlatch.Wait(replicas=True)),
        ("sync", redlatch.WaitAof(replicas=0, local=False)),
    ],
)
def test_options_that_cannot_be_used_are_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match=option):
        redlatch.connect(**{option: value})


@pytest.mark.parametrize("within", [*bad_values.SECONDS, 0, 30], ids=short)
def test_a_confirmation_time_out_of_range_is_refused(within: Any) -> None:
    for policy in (redlatch.Wait(within=within), redlatch.WaitAof(within=within)):
        with pytest.raises(redlatch.ConfigError, match=r"within|takes as long as a lease"):
            redlatch.connect(sync=policy)


def test_options_in_the_url_are_checked_as_well() -> None:
    with pytest.raises(redlatch.ConfigError, match="watchdog"):
        redlatch.connect("redis://localhost?watchdog=soon")
    with pytest.raises(redlatch.ConfigError, match="`wachtdog` does not exist"):
        redlatch.connect("redis://localhost?wachtdog=5")


def test_a_given_option_goes_before_the_one_in_the_url(server: Server, name: str) -> None:
    url = f"{server.url}?watchdog=7"
    with redlatch.connect(url) as a, a.get_lock(name) as hold:
        assert hold.remaining <= 7
    with redlatch.connect(url, watchdog=timedelta(seconds=20)) as b, b.get_lock(name) as hold:
        assert 10 < hold.remaining <= 20


def test_a_closed_client_refuses_everything_but_closing(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    assert not client.closed
    client.close()
    client.close()
    assert client.closed
    calls = [client.ping, lock.lock, lock.try_lock, lock.unlock, lock.force_unlock, lock.is_locked, lock.hold_count]
    for call in calls:
        with pytest.raises(redlatch.ClosedError, match="closed") as refused:
            call()
        assert refused.value.code == "closed"
