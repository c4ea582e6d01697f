"""No error, repr or log contains a password, at any place in the input and with any other mistake beside it."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import redlatch
from redlatch import aio

SECRET = "hunter2"
WRITTEN = [SECRET, f"12/{SECRET}", f"12?{SECRET}", f"12#{SECRET}", f"12@{SECRET}", f"12://{SECRET}", f"12 {SECRET}"]
BEFORE = [
    "redis://",
    "redis:/",
    "",
    "//",
    "http://",
    "redis+cluster://",
    "redis+sentinel://",
    "redis+what://",
    "unix://",
    "mysql://",
    "mariadbs://",
    "mysql+cluster://",
]
BEHIND = ["h", "h:x", "", "h/x", "h?watchdog=x", f"h?password={SECRET}&watchdog=x", f"h:x?sentinel_password={SECRET}"]
URLS = [
    f"{before}{user}{written}@{behind}"
    for before in BEFORE
    for user in ("u:", "")
    for written in WRITTEN
    for behind in BEHIND
]
# Values of a wrong type that are a URL or contain one.
MISTAKEN: list[Any] = [
    f"redis://:{SECRET}@h".encode(),
    bytearray(f"redis://:{SECRET}@h".encode()),
    [f"redis://:{SECRET}@h"],
    {"url": f"redis://:{SECRET}@h"},
    f"redis://:{SECRET}@h\udc80",
]


def said(error: BaseException | None) -> str:
    """All that a program may print of an error: the error, its causes, and their reprs and attributes."""
    text = ""
    while error is not None:
        text += f"{error} {error!r} {vars(error)} "
        error = error.__cause__ or error.__context__
    return text


def refused(**given: Any) -> str:
    try:
        return repr(redlatch.connect(**given))
    except redlatch.RedlatchError as error:
        return said(error)


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def test_no_error_or_log_shows_the_password_of_a_url(log: pytest.LogCaptureFixture) -> None:
    for url in URLS:
        assert SECRET not in refused(url=url), url
    assert SECRET not in log.text


@pytest.mark.parametrize(
    "option", ["url", "config", "username", "client_name", "prefix", "tls", "sync", "quarantine", "watchdog"]
)
@pytest.mark.parametrize("value", MISTAKEN, ids=lambda value: type(value).__name__)
def test_an_option_of_a_wrong_type_is_not_shown_if_it_contains_a_password(option: str, value: Any) -> None:
    assert SECRET not in refused(**{option: value})


@pytest.mark.parametrize(
    "password",
    [SECRET.encode(), [SECRET], {"a": SECRET}, f"{SECRET}\udc80", f"{SECRET * 20_000}"],
    ids=lambda value: type(value).__name__,
)
def test_no_error_shows_a_bad_password(password: Any) -> None:
    assert SECRET not in refused(password=password)
    client = redlatch.connect("redis://h")
    with pytest.raises(redlatch.ConfigError) as error:
        client.set_credentials(password)
    assert SECRET not in said(error.value)


@pytest.mark.parametrize(
    "urls",
    [*MISTAKEN, f"redis://:{SECRET}@h", [f":{SECRET}@h"], [f"redis://:{SECRET}@h".encode()]],
    ids=lambda value: type(value).__name__,
)
def test_no_error_of_a_red_lock_shows_its_urls(urls: Any) -> None:
    for red_lock in (redlatch.red_lock, aio.red_lock):
        try:
            shown = repr(red_lock(urls, "n"))
        except redlatch.RedlatchError as error:
            shown = said(error)
        assert SECRET not in shown


def test_no_error_or_log_shows_the_password_of_a_file(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    for number, url in enumerate(URLS):
        file = tmp_path / f"{number}.yaml"
        url = url.replace("'", "''")
        file.write_text(
            f"singleServerConfig: {{address: '{url}', password: [{SECRET}]}}\nsslKeystorePassword: {{a: {SECRET}}}\n"
        )
        assert SECRET not in refused(config=file), url
    assert SECRET not in refused(config=f"redis://:{SECRET}@h")
    assert SECRET not in log.text


def test_no_error_shows_a_redis_py_client_that_cannot_be_used() -> None:
    redis = pytest.importorskip("redis")
    from redlatch.compat.redis_py import Lock

    class Own(redis.connection.Connection):  # type: ignore[misc, name-defined]
        pass

    pool = redis.ConnectionPool(connection_class=Own, password=SECRET)
    for given in (
        redis.Redis(connection_pool=pool),
        pool,
        redis.asyncio.Redis(password=SECRET),
        f"redis://:{SECRET}@h",
    ):
        with pytest.raises(redlatch.UnsupportedError) as error:
            Lock(given, "n")  # type: ignore[arg-type]
        assert SECRET not in said(error.value)


def test_the_traceback_of_an_uncaught_error_has_no_password() -> None:
    program = "import os, redlatch\nredlatch.connect(os.environ['IT'].encode())"
    ended = subprocess.run(
        [sys.executable, "-c", program], env={"IT": f"redis://:{SECRET}@h"}, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "ArgumentTypeError" in ended.stderr
    assert SECRET not in ended.stderr
