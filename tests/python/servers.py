"""Real servers for the tests, on free ports and without files on disk."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eventually import until
from view import View

_ports = itertools.cycle(range(20000, 30000))
for _ in range(os.getpid() * 61 % 10000):  # so that two test runs at the same time rarely try the same ports
    next(_ports)


def free_port() -> int:
    """A port on which no process listens now. Another process may take it first."""
    for port in itertools.islice(_ports, 10000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port from 20000 to 29999 is free")


class Private:
    """A server of the test's own: one process, on a free port, with a folder."""

    port: int

    def __init__(self, what: str, within: float = 15) -> None:
        """Starts it. `what` names it in failures, and it answers `within` so many seconds."""
        self._what = what
        self._within = within
        self._folder = tempfile.TemporaryDirectory(prefix=f"redlatch-python-{what}-")
        self.home = Path(self._folder.name)
        for _ in range(20):
            self.port = free_port()
            if self._launch():
                return
        raise RuntimeError(f"no {what} started on 20 ports:\n{self.log()}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> str:
        """What it has written since its start."""
        return (self.home / "log").read_text()

    def pause(self) -> None:
        """Freezes the server: connections stay open, and it answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends the server, as a loss of power does."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Starts it again after `kill`, on the same port."""
        assert self._launch(), f"no {self._what} started again on port {self.port}"

    def close(self) -> None:
        self.kill()
        self._folder.cleanup()

    def _launch(self) -> bool:
        with (self.home / "log").open("w") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log)
        is_ours = until(self._is_ours, f"a {self._what} that answers", within=self._within)
        if not is_ours:
            # Another server has the port. This process may still be about to find that out.
            self.kill()
        return is_ours

    def _is_ours(self) -> bool | None:
        """Whether this server has the port; None: not known yet."""
        return False if self._process.poll() is not None else self._answers()

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool | None:
        """Whether the server that answers on the port is this one; None: none does yet."""
        raise NotImplementedError


class Server(Private):
    """A running `redis-server` from `PATH`, or the program that `REDLATCH_TEST_SERVER` names."""

    def __init__(
        self, password: str | None = None, tls: tuple[Path, Path] | None = None, more: Sequence[str] = ()
    ) -> None:
        """`tls` are the files of a certificate and its key: with them it also speaks TLS, on `tls_port`.

        `more` are further words of the command line.
        """
        self.password = password
        self._more = more
        self._tls = tls
        super().__init__("redis")

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def view(self) -> View:
        """A connection that looks at keys."""
        return View(self.port, self.password)

    def _command(self) -> list[str]:
        # Not every build of a server knows TLS, but that of Debian does. The tests are about the client's TLS.
        program = "redis-server" if self._tls else os.environ.get("REDLATCH_TEST_SERVER", "redis-server")
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self._folder.name]
        options += self._more
        if self.password is not None:
            options += ["--requirepass", self.password]
        if self._tls is not None:
            self.tls_port = free_port()
            cert, key = map(str, self._tls)
            options += ["--tls-port", str(self.tls_port), "--tls-cert-file", cert, "--tls-key-file", key]
            options += ["--tls-auth-clients", "no"]
        return [program, *options]

    def _answers(self) -> bool | None:
        try:
            with self.view() as view:
                return f"process_id:{self._process.pid}\r" in str(view("INFO", "server"))
        except (OSError, RuntimeError):
            return None
