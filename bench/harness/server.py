"""A Redis server of the bench's own, on a free port, with nothing on disk; and what it counts."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

# INFO counts the commands inside scripts too; these are what clients send.
SENT = {"auth", "client", "eval", "evalsha", "hello", "ping", "script", "select", "subscribe", "unsubscribe", "wait"}


class Server:
    def __init__(self, log: Path) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise SystemExit("neither redis-server nor valkey-server is in PATH; install one")
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}"
        words = f"--port {port} --bind 127.0.0.1 --appendonly no --dir {log.parent} --save".split()
        with log.open("ab") as out:
            self.process = subprocess.Popen([program, *words, ""], stdout=out, stderr=out)
        for _ in range(1000):
            try:
                self._stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb")
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        else:
            raise SystemExit(f"{program} does not listen on {port}; see {log}")

    @property
    def pid(self) -> int:
        return self.process.pid

    def ask(self, command: str) -> str:
        """One command whose answer is a text or a number."""
        self._stream.write(f"{command}\r\n".encode())
        self._stream.flush()
        first = self._stream.readline().decode().strip()
        return self._stream.read(int(first[1:]) + 2).decode() if first[0] == "$" else first[1:]

    def commands(self) -> Counter[str]:
        """How often each command ran so far."""
        lines = (line[8:].split(":calls=") for line in self.ask("INFO commandstats").splitlines() if ":calls=" in line)
        return Counter({name: int(rest.split(",")[0]) for name, rest in lines})

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def sent(commands: Counter[str]) -> int:
    """How many of these commands clients sent themselves."""
    return sum(count for name, count in commands.items() if name.split("|")[0] in SENT)


def free_port() -> int:
    for port in range(20000, 30000):
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port from 20000 to 29999 is free")
