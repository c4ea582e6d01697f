"""The methods of a client that give locks, by name, and the ones that the tests of every kind take."""

from __future__ import annotations

from redlatch import Client

#: The methods that give one lock of one name. Two locks in one, and locks of several locks, have tests of their own.
LOCKS = [
    name
    for name in dir(Client)
    if name.startswith("get_")
    and name.endswith("_lock")
    and name not in ("get_read_write_lock", "get_multi_lock", "get_red_lock")
]

#: Those whose owner may not acquire them twice.
NON_REENTRANT = ["get_non_reentrant_lock", "get_non_reentrant_fair_lock", "get_token_lock"]

#: Those whose holds have tokens.
FENCED = ["get_fenced_lock"]
