"""Locks in web frameworks under their real servers.

A framework runs one request in many threads, and many requests in one thread. A lock has one holder nevertheless, and
the end of a request releases its locks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import sites
from servers import Server

UVICORN = ("uvicorn", "site_:app", "--port", "{port}", "--log-level", "warning", "--lifespan", "off")

FASTAPI = """
from fastapi import Depends, FastAPI
from starlette.responses import StreamingResponse

app = FastAPI()

@app.get("/ready")
async def ready():
    return "ready"

def of_its_own(number: int):
    with lock(f"dep:{number}"):
        yield

@app.get("/dependency/{number}")
def dependency(number: int, _: None = Depends(of_its_own)):
    time.sleep(0.05)

def of_all():
    with lock("shared"), Inside():
        yield

@app.get("/shared")
def shared(_: None = Depends(of_all)):
    time.sleep(0.005)

READERS = client.get_read_write_lock(f"{NAME}:readers", wait=PATIENCE, owner=redlatch.EACH).read_lock

def of_many():
    with READERS as hold:
        yield hold

@app.get("/read")
def read(hold = Depends(of_many)):
    time.sleep(0.005)
    hold.ensure()

def numbers(number):
    with lock(f"stream:{number}"):
        for _ in range(10):
            time.sleep(0.005)
            yield "."

@app.get("/stream/{number}")
def stream(number: int):
    return StreamingResponse(numbers(number))

@app.get("/block")
async def block():
    with lock("block"), Inside():
        await asyncio.sleep(0.3)

@app.get("/aio")
async def asynchronous():
    async with aio_client.lock(f"{NAME}:aio", wait=PATIENCE):
        with Inside():
            await asyncio.sleep(0.01)

@app.get("/threads")
async def threads():
    one = lock("threads")
    holds = await asyncio.gather(*(asyncio.to_thread(one.try_lock) for _ in range(4)))
    taken = [hold for hold in holds if hold]
    for hold in taken:
        hold.release()
    return len(taken)
"""

DJANGO = """
import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpResponse
from django.urls import path

settings.configure(ROOT_URLCONF="site_", SECRET_KEY="of a test", ALLOWED_HOSTS=["*"])
django.setup()

async def ready(request):
    return HttpResponse("ready")

async def block(request):
    with lock("block"), Inside():
        await asyncio.sleep(0.3)
    return HttpResponse("done")

async def sensitive(request):
    one = lock("sensitive")
    holds = [await sync_to_async(one.try_lock)() for _ in range(4)]
    taken = [hold for hold in holds if hold]
    for hold in taken:
        await sync_to_async(hold.release)()
    return HttpResponse(str(len(taken)))

async def insensitive(request):
    one = lock("insensitive")
    await sync_to_async(one.acquire, thread_sensitive=False)()
    with Inside():
        await asyncio.sleep(0.01)
    await sync_to_async(one.release, thread_sensitive=False)()
    return HttpResponse("done")

def plain(request):
    with lock("plain"), Inside():
        time.sleep(0.01)
    return HttpResponse("done")

urlpatterns = [path(view.__name__, view) for view in (ready, block, sensitive, insensitive, plain)]
app = get_asgi_application()
"""


def test_readers_of_one_object_in_a_dependency_of_fastapi_end_their_own_holds(
    tmp_path: Path, server: Server, name: str
) -> None:
    with sites.running(tmp_path, server, name, "lock", FASTAPI, *UVICORN) as site:
        assert {status for status, _ in site.get_all(["/read"] * 60)} == {200}
        assert site.keys_left() == 0


@pytest.mark.parametrize("lock", ["lock", "get_lock"])
def test_a_dependency_of_fastapi_releases_its_lock_on_any_thread(
    tmp_path: Path, server: Server, name: str, lock: str
) -> None:
    with sites.running(tmp_path, server, name, lock, FASTAPI, *UVICORN) as site:
        answers = site.get_all(f"/dependency/{number}" for number in range(30))
        assert (site.keys_left(), {status for status, _ in answers}) == (0, {200})


def test_dependencies_of_fastapi_exclude_each_other(tmp_path: Path, server: Server, name: str) -> None:
    with sites.running(tmp_path, server, name, "lock", FASTAPI, *UVICORN) as site:
        answers = site.get_all(["/shared"] * 30)
        assert (site.keys_left(), site.most_inside(), {status for status, _ in answers}) == (0, 1, {200})


@pytest.mark.parametrize("lock", ["lock", "get_lock"])
def test_a_streaming_response_of_starlette_gives_its_lock_back(
    tmp_path: Path, server: Server, name: str, lock: str
) -> None:
    with sites.running(tmp_path, server, name, lock, FASTAPI, *UVICORN) as site:
        answers = site.get_all(f"/stream/{number}" for number in range(10))
        assert (site.keys_left(), set(answers)) == (0, {(200, "." * 10)})


@pytest.mark.parametrize(("lock", "inside"), [("lock", 1), ("get_lock", 0)])
@pytest.mark.parametrize("framework", [FASTAPI, DJANGO], ids=["fastapi", "django"])
def test_a_block_of_an_async_view_is_alone_or_refused(
    tmp_path: Path, server: Server, name: str, framework: str, lock: str, inside: int
) -> None:
    with sites.running(tmp_path, server, name, lock, framework, *UVICORN) as site:
        answers = site.get_all(["/block"] * 3)
        # The other requests would have to wait in the thread of the loop. They get an error.
        told = sorted(status for status, _ in answers)
        assert (site.keys_left(), site.most_inside(), told) == (0, inside, [200] * inside + [500] * (3 - inside))


def test_async_views_of_fastapi_take_turns(tmp_path: Path, server: Server, name: str) -> None:
    with sites.running(tmp_path, server, name, "lock", FASTAPI, *UVICORN) as site:
        answers = site.get_all(["/aio"] * 20)
        assert (site.keys_left(), site.most_inside(), {status for status, _ in answers}) == (0, 1, {200})


def test_one_of_many_threads_of_a_request_gets_the_lock(tmp_path: Path, server: Server, name: str) -> None:
    with sites.running(tmp_path, server, name, "lock", FASTAPI, *UVICORN) as site:
        assert (site.get("/threads"), site.keys_left()) == ((200, "1"), 0)


def test_one_of_many_calls_of_sync_to_async_gets_the_lock(tmp_path: Path, server: Server, name: str) -> None:
    with sites.running(tmp_path, server, name, "lock", DJANGO, *UVICORN) as site:
        assert (site.get("/sensitive"), site.keys_left()) == ((200, "1"), 0)


def test_a_lock_is_released_by_another_thread_of_sync_to_async(tmp_path: Path, server: Server, name: str) -> None:
    with sites.running(tmp_path, server, name, "lock", DJANGO, *UVICORN) as site:
        # There are fewer requests than threads, because each waiter occupies a thread.
        answers = site.get_all(["/insensitive"] * 4)
        assert (site.keys_left(), site.most_inside(), {status for status, _ in answers}) == (0, 1, {200})


@pytest.mark.parametrize("lock", ["lock", "get_lock"])
def test_plain_views_of_django_exclude_each_other(tmp_path: Path, server: Server, name: str, lock: str) -> None:
    with sites.running(tmp_path, server, name, lock, DJANGO, *UVICORN) as site:
        answers = site.get_all(["/plain"] * 20)
        assert (site.keys_left(), site.most_inside(), {status for status, _ in answers}) == (0, 1, {200})


@pytest.mark.parametrize("worker", ["gthread", "asgi", "uvicorn.workers.UvicornWorker"])
def test_two_workers_of_gunicorn_exclude_each_other(tmp_path: Path, server: Server, name: str, worker: str) -> None:
    wsgi = DJANGO.replace("get_asgi", "get_wsgi").replace("core.asgi", "core.wsgi")
    is_wsgi = worker == "gthread"
    text = wsgi if is_wsgi else FASTAPI
    path = "/plain" if is_wsgi else "/shared"
    threads = ["--threads", "8"] if is_wsgi else []
    command = ("gunicorn", "--workers", "2", "-k", worker, *threads, "--bind", "127.0.0.1:{port}", "site_:app")
    with sites.running(tmp_path, server, name, "lock", text, *command) as site:
        answers = site.get_all([path] * 30)
        assert (site.keys_left(), site.most_inside(), {status for status, _ in answers}) == (0, 1, {200})
