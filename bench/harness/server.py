"""Servers of the bench's own, on free ports, with nothing that lasts: Redis with its counters, and other engines."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import BinaryIO, cast

from harness.program import LAUNCHERS, LOG, Broken

ports = iter(range(20000, 30000))  # each is tried once: several servers start at a time

# INFO counts the commands inside scripts too; clients send these.
SENT = {
    "auth",
    "client",
    "del",
    "eval",
    "evalsha",
    "hello",
    "ping",
    "script",
    "select",
    "set",
    "packet",  # of ZooKeeper
    "statement",  # of MariaDB
    "subscribe",
    "unsubscribe",
    "wait",
}


class Server:
    """A server on a port; `program` is started with it."""

    def __init__(self, scheme: str, program: list[str], port: int) -> None:
        self.url = f"{scheme}://127.0.0.1:{port}"
        with LOG.open("ab") as out:
            self.process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.stream = connection(port, self.process)
        if self.stream is None:
            self.close()
            raise Broken(f"{program[0]} does not listen on {port}; see {LOG}")

    @property
    def pid(self) -> int:
        return self.process.pid

    def commands(self) -> Counter[str]:
        """How often each command ran so far; empty if the server does not count."""
        return Counter()

    def connections(self) -> int:
        return 0

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Redis(Server):
    def __init__(self) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise SystemExit("neither redis-server nor valkey-server is in PATH; install one")
        port = free_port()
        words = f"--port {port} --bind 127.0.0.1 --appendonly no --maxclients 40000 --dir {LAUNCHERS} --save".split()
        super().__init__("redis", [program, *words, ""], port)

    def ask(self, command: str) -> str:
        """One command whose answer is a text or a number."""
        assert self.stream is not None
        self.stream.write(f"{command}\r\n".encode())
        self.stream.flush()
        first = self.stream.readline().decode().strip()
        return self.stream.read(int(first[1:]) + 2).decode() if first[0] == "$" else first[1:]

    def commands(self) -> Counter[str]:
        lines = (line[8:].split(":calls=") for line in self.ask("INFO commandstats").splitlines() if ":calls=" in line)
        return Counter({name: int(rest.split(",")[0]) for name, rest in lines})

    def connections(self) -> int:
        """The connections of other processes."""
        (count,) = (
            line.split(":")[1] for line in self.ask("INFO clients").splitlines() if line.startswith("connected_clients")
        )
        return int(count) - 1


class Engine(Server):
    """ZooKeeper, MariaDB …: `target/bench/server-<engine>` starts it; it ends with this object, and so do its files."""

    def __init__(self, engine: str) -> None:
        self._files = tempfile.TemporaryDirectory(prefix="redlatch-bench-", ignore_cleanup_errors=True)
        # Some of them refuse to run as root.
        Path(self._files.name).chmod(0o777)
        self.port = free_port()
        super().__init__(engine, [str(LAUNCHERS / f"server-{engine}"), str(self.port), self._files.name], self.port)

    def close(self) -> None:
        super().close()
        self._files.cleanup()


class Mariadb(Engine):
    """Counts statements. Its own wire tells more than a question in SQL would, which is a statement itself."""

    def __init__(self) -> None:
        super().__init__("mariadb")
        self.url = self.url.replace("mariadb://", "mysql://root@")
        self._receive()  # its greeting
        # The protocol of MySQL 4.1 or later, no other feature, and an empty password.
        self._send(1, struct.pack("<IIB23x", 0x8200, 1 << 24, 33) + b"root\0" + b"\0")
        self._receive()

    def commands(self) -> Counter[str]:
        self._send(0, b"\x09")  # COM_STATISTICS, which counts as no statement
        words = self._receive().decode().split()
        return Counter(statement=int(words[words.index("Questions:") + 1]))

    def _send(self, number: int, content: bytes) -> None:
        assert self.stream is not None
        self.stream.write(len(content).to_bytes(3, "little") + bytes([number]) + content)
        self.stream.flush()

    def _receive(self) -> bytes:
        assert self.stream is not None
        content = self.stream.read(int.from_bytes(self.stream.read(4)[:3], "little"))
        if content[:1] == b"\xff":
            raise Broken(f"MariaDB says {content[3:].decode(errors='replace')}")
        return content


class Zookeeper(Engine):
    """Counts packets, signs of life among them."""

    def __init__(self) -> None:
        super().__init__("zookeeper")
        # It listens some time before it serves.
        while not self._word():
            time.sleep(0.01)

    def commands(self) -> Counter[str]:
        (line,) = (line for line in self._word() if line.startswith(b"Received:"))
        return Counter(packet=int(line.split()[1]))

    def _word(self) -> list[bytes]:
        """The lines about the server, which it tells on a connection of their own."""
        with socket.create_connection(("127.0.0.1", self.port), 1) as asking, asking.makefile("rb") as answer:
            asking.sendall(b"srvr")
            try:
                lines = answer.readlines()
            except TimeoutError:
                # A question that came before the server was ready has no answer.
                return []
        return lines if any(line.startswith(b"Received:") for line in lines) else []


def engine(name: str) -> Engine:
    return {"mariadb": Mariadb, "zookeeper": Zookeeper}.get(name, lambda: Engine(name))()


def sent(commands: Counter[str]) -> int:
    """How many of these commands clients sent themselves."""
    return sum(count for name, count in commands.items() if name.split("|")[0] in SENT)


def connection(port: int, process: subprocess.Popen[bytes]) -> BinaryIO | None:
    """A stream to the port of a process, once it listens; nothing if it ends, or takes very long."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            return cast(BinaryIO, socket.create_connection(("127.0.0.1", port)).makefile("rwb"))
        except ConnectionRefusedError:
            time.sleep(0.01)
    return None


def free_port() -> int:
    for port in ports:
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port from 20000 to 29999 is free")
