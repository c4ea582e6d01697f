"""Servers that are wrong, silent or dead: a call raises a typed error in time, and works again with a good server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until, until_true
from redlatch import Client
from servers import Server, free_port
from view import View

QUICK = "?response_timeout=0.3&connect_timeout=0.5&retry_for=0.5"


@pytest.fixture
def quick(own_server: Server) -> Iterator[Client]:
    """A client of a server that may die, with short time-outs."""
    with redlatch.connect(own_server.url + QUICK) as client:
        yield client


@pytest.fixture
def impostor() -> Iterator[tuple[socket.socket, str]]:
    """A listening socket without a Redis server behind it, and its URL."""
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        yield listener, f"redis://127.0.0.1:{listener.getsockname()[1]}{QUICK}"


def test_connecting_asks_nothing_of_the_server() -> None:
    redlatch.connect("redis://127.0.0.1:1").get_lock("unreached")


def test_a_port_without_a_listener_is_unavailable(name: str) -> None:
    with redlatch.connect(f"redis://127.0.0.1:{free_port()}{QUICK}") as client:
        for call in (client.ping, client.get_lock(name).lock, client.get_lock(name).is_locked):
            with pytest.raises(redlatch.UnavailableError, match=r"127\.0\.0\.1") as refused:
                call()
            assert isinstance(refused.value, ConnectionError)
            assert (refused.value.code, refused.value.reason) == ("unavailable", "unreachable")


@pytest.mark.parametrize("place", ["a port", "a socket file"])
def test_a_call_to_a_port_without_a_listener_names_the_address_and_the_remedy_at_once(name: str, place: str) -> None:
    port = free_port()
    url, words = {
        "a port": (f"redis://127.0.0.1:{port}", f"nothing listens on 127.0.0.1:{port}"),
        "a socket file": ("unix:///no/such/socket", "there is no socket file /no/such/socket"),
    }[place]
    told = f"{words}; check that it runs and that the address is right"
    began = time.monotonic()
    with redlatch.connect(f"{url}?response_timeout=60&retry_for=60") as client:
        lock = client.get_lock(name)
        for call in (client.ping, lock.try_lock, lambda: lock.lock(wait=0), lock.lock, lock.is_locked):
            with pytest.raises(redlatch.UnavailableError, match=told):
                call()
    assert time.monotonic() - began < 30


def test_a_host_that_does_not_exist_is_unavailable() -> None:
    with redlatch.connect(f"redis://no-such-host.invalid{QUICK}") as client, pytest.raises(redlatch.UnavailableError):
        client.ping()


def test_a_socket_that_does_not_exist_is_unavailable() -> None:
    with redlatch.connect(f"unix:///no/such/socket{QUICK}") as client, pytest.raises(redlatch.UnavailableError):
        client.ping()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\0\0\0"], ids=str)
def test_a_server_that_is_no_redis_is_a_typed_error(impostor: tuple[socket.socket, str], answer: bytes) -> None:
    listener, url = impostor

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(1)
                peer.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    with redlatch.connect(url) as client, pytest.raises((redlatch.UnavailableError, redlatch.RefusedError)):
        client.ping()
    listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_a_server_that_never_answers_is_a_time_out(impostor: tuple[socket.socket, str]) -> None:
    _, url = impostor
    with redlatch.connect(url) as client, pytest.raises(redlatch.UnavailableError):
        client.ping()


def test_a_wrong_password_is_refused_and_the_right_one_works(name: str) -> None:
    server = Server(password="right")
    try:
        for word in (None, "wrong"):
            with redlatch.connect(server.url, password=word) as client:
                with pytest.raises(redlatch.RefusedError) as refused:
                    client.get_lock(name).lock()
                assert refused.value.code == "refused"
                assert refused.value.reason in ("NOAUTH", "WRONGPASS")
        with redlatch.connect(server.url, password="right") as client, client.get_lock(name):
            client.ping()
    finally:
        server.close()


def test_a_key_of_another_type_is_refused_and_stays(client: Client, view: View, name: str) -> None:
    view("SET", name, "a cat")
    lock = client.get_lock(name)
    for call in (lock.lock, lock.try_lock):
        with pytest.raises(redlatch.RefusedError, match=f"`{name}`|WRONGTYPE") as refused:
            call()
        assert (refused.value.reason, refused.value.name) == ("WRONGTYPE", name)
    assert view("GET", name) == "a cat"
    view("DEL", name)


def test_a_frozen_server_is_a_time_out_and_works_again_when_it_thaws(
    own_server: Server, quick: Client, name: str
) -> None:
    quick.ping()
    own_server.pause()
    try:
        with pytest.raises(redlatch.UnavailableError) as late:
            quick.ping()
        assert late.value.reason == "timeout"
    finally:
        own_server.resume()
    with quick.get_lock(name):
        pass


def test_a_server_that_dies_is_unavailable_and_works_again_when_it_is_back(
    own_server: Server, quick: Client, name: str
) -> None:
    lock = quick.get_lock(name)
    hold = lock.lock()
    own_server.kill()
    for call in (quick.ping, quick.get_lock(f"{name}:2").lock, hold.release):
        with pytest.raises(redlatch.UnavailableError):
            call()
    own_server.restart()

    def works() -> bool | None:
        try:
            with lock:
                return True
        except redlatch.UnavailableError:
            return None

    assert until(works, "a client that works again")


def test_a_waiter_outlives_its_server(own_server: Server, thread: ThreadPoolExecutor, name: str) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as before:
        holder = client.get_lock(name, owner=1).lock()
        waiting = thread.submit(client.get_lock(name).try_lock, wait=30)
        until_true(lambda: before.listeners(name) == 1, "a thread that listens")
        own_server.kill()
        own_server.restart()
        hold = waiting.result(timeout=30)
        assert hold is not None
        hold.release()
        with pytest.raises(redlatch.NotHeldError):
            holder.release()
