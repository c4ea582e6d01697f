"""A server that belongs to this process."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from types import TracebackType
from typing import Final

from redlatch.errors import UnsupportedError
from redlatch.testing import programs
from redlatch.typings import Self

#: How many seconds a server may take to start on a busy machine.
_PATIENCE: Final = 30
#: How many ports are tried. Another process may take a free port first.
_PORTS: Final = 20


class Server:
    """A running server, which ends with `close`, its `with` block or this process. Make it with `testing.server()`."""

    def __init__(self, program: str | None = None) -> None:
        self.program: Final = programs.find(program)
        #: The port of 127.0.0.1 on which it listens, besides its socket.
        self.port: int
        # The path of a socket must be short.
        folder = tempfile.mkdtemp(prefix="redlatch-", dir="/tmp" if os.path.isdir("/tmp") else None)
        for _ in range(_PORTS):
            self.port = _free_port()
            process = self._started(Path(folder))
            if process is not None:
                self._stop = weakref.finalize(self, _end, process, folder, os.getpid())
                return
        raise UnsupportedError(f"`{self.program}` did not start on {_PORTS} ports; run it by hand to see why")

    @property
    def url(self) -> str:
        """The URL for `redlatch.connect`, `redis://127.0.0.1:…`."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def closed(self) -> bool:
        """Whether this process has ended it."""
        return not self._stop.alive

    def close(self) -> None:
        """Ends the server, with all its data. In a forked child it does nothing."""
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<redlatch.testing.Server {self.url}{', closed' if self.closed else ''}>"

    def _started(self, folder: Path) -> subprocess.Popen[bytes] | None:
        """Starts the server and returns it once it answers; None: it ended, mostly because its port was taken."""
        process = subprocess.Popen(
            programs.command(self.program, self.port, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + _PATIENCE
        try:
            while time.monotonic() < end:
                if process.poll() is not None:
                    return None
                # Another server might have the port, but not the socket.
                if _answers(folder / "socket"):
                    return process
                time.sleep(0.002)
            raise UnsupportedError(f"`{self.program}` did not answer within {_PATIENCE} s; run it by hand to see why")
        except BaseException:
            process.kill()
            process.wait()
            raise


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(5) == b"+PONG"
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes], folder: str, owner: int) -> None:
    if os.getpid() == owner:
        import shutil

        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
