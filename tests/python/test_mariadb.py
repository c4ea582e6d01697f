"""The locks of MariaDB, with threads and with tasks: its own promises. The others are in test_session_locks.py."""

from __future__ import annotations

import re

import pytest

import redlatch
from eventually import until_true
from faces import Face
from mariadb import Site


@pytest.fixture
def system(site: Site) -> Site:
    return site


def test_a_fenced_lock_without_its_table_gives_the_statement_that_makes_it(face: Face, site: Site, name: str) -> None:
    site.sql("DROP TABLE IF EXISTS bare.redlatch_fence")
    client = face.client(site.server.url_of(schema="bare"))
    caller, lock = face.caller(), client.get_fenced_lock(name)
    for call in (lock.lock, lock.try_lock, lock.get_token):
        with pytest.raises(redlatch.UnsupportedError, match=f"`{name}`.*make it once") as told:
            caller(call)
        site.check_empty()
    with caller.inside(client.get_lock(name)):
        assert site.sql.held() == [name]
    found = re.search("CREATE TABLE .*", str(told.value))
    assert found
    site.sql(found[0].replace("redlatch_fence", "bare.redlatch_fence"))
    with caller.inside(lock) as hold:
        assert hold.token == 1
        assert site.sql("SELECT token FROM bare.redlatch_fence WHERE name = %s", name) == 1


def test_a_fenced_lock_of_a_url_without_a_schema_says_what_the_url_lacks(face: Face, site: Site, name: str) -> None:
    lock = face.client(site.server.url_of(schema="")).get_fenced_lock(name)
    with pytest.raises(redlatch.UnsupportedError, match=r"names no schema; write mysql://.*CREATE TABLE"):
        face.caller()(lock.lock)


def test_new_credentials_count_for_the_next_session(face: Face, site: Site, name: str) -> None:
    client, caller = face.client(site.url), face.caller()
    caller(client.ping)
    client.set_credentials("wrong", "app")
    caller(client.ping)
    (session,) = site.sql.sessions()
    site.sql.kill(session)
    until_true(lambda: not site.sql.sessions(), "the end of the session")
    with pytest.raises(redlatch.RefusedError, match="check the user, the password"):
        caller(client.get_lock(name).lock)
    client.set_credentials("secret", "app")
    with caller.inside(client.get_lock(name)):
        assert site.sql.held() == [name]
