"""The systems other than Redis whose servers have sessions, for tests of what they all promise."""

from __future__ import annotations

from typing import Any

import pytest

from faces import Caller, Face
from mariadb import Site
from system import System
from zookeeper import Tree

#: By the fixture that gives the server.
SYSTEMS: dict[str, type[System]] = {"site": Site, "tree": Tree}


def locks(which: str) -> pytest.MarkDecorator:
    """Runs a test for each lock of each system in the list of that name."""
    pairs = [(fixture, get) for fixture, system in SYSTEMS.items() for get in getattr(system, which)]
    return pytest.mark.parametrize(("system", "get"), pairs, indirect=["system"])


every_system = pytest.mark.parametrize("system", list(SYSTEMS), indirect=True)
every_lock = locks("LOCKS")
every_reentrant_lock = locks("REENTRANT")
every_non_reentrant_lock = locks("NON_REENTRANT")


def lock_of(client: object, get: str, name: str) -> Any:
    """The lock that a method of a client gives; after a dot, a part of it."""
    getter, *parts = get.split(".")
    found = getattr(client, getter)(name)
    for part in parts:
        found = getattr(found, part)
    return found


class Row:
    """One lock of three owners: two of one client, and one of another client."""

    def __init__(self, face: Face, url: str, get: str, name: str) -> None:
        self.clients = [face.client(url), face.client(url)]
        self.own, self.other = (lock_of(client, get, name) for client in self.clients)
        self.holder = face.caller()
        #: Each with its lock object: another owner of the same client, and one of the other client.
        self.rivals: list[tuple[Caller, Any]] = [(face.caller(), self.own), (face.caller(), self.other)]
