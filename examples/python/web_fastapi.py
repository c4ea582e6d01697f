# A FastAPI service that locks orders, under its real server: 423 for a locked order, 503 without a lock server.
# Needs a server at REDLATCH_URL.
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

import redlatch
from redlatch import aio


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    async with aio.connect() as locks:
        with redlatch.connect() as thread_locks:
            app.state.locks = locks
            app.state.thread_locks = thread_locks
            yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(redlatch.NotAcquiredError)
async def locked(request: Request, error: redlatch.NotAcquiredError) -> JSONResponse:
    return JSONResponse({"detail": f"{error.name} is locked"}, status_code=423, headers={"Retry-After": "1"})


@app.exception_handler(redlatch.UnavailableError)
async def unavailable(request: Request, error: redlatch.UnavailableError) -> JSONResponse:
    return JSONResponse({"detail": "no lock server answers"}, status_code=503, headers={"Retry-After": "5"})


async def order_lock(order: int, request: Request) -> AsyncIterator[aio.Hold]:
    locks: aio.Client = request.app.state.locks
    async with locks.lock(f"orders:{order}", wait=0.2) as hold:
        yield hold


def thread_lock(order: int, request: Request) -> Iterator[redlatch.Hold]:
    locks: redlatch.Client = request.app.state.thread_locks
    with locks.lock(f"orders:{order}", wait=0.2) as hold:
        yield hold


@app.post("/orders/{order}/charge")
async def charge(order: int, hold: Annotated[aio.Hold, Depends(order_lock)]) -> str:
    hold.ensure()  # right before the step that must not happen twice
    return f"charged {order}"


@app.post("/orders/{order}/ship")
def ship(order: int, hold: Annotated[redlatch.Hold, Depends(thread_lock)]) -> str:
    hold.ensure()
    return f"shipped {order}"


@app.get("/orders/{order}/log")
async def log(order: int, request: Request) -> StreamingResponse:
    locks: aio.Client = request.app.state.locks
    hold = await locks.lock(f"orders:{order}", wait=0.2).lock()  # an error before the first byte is still a 423

    async def lines() -> AsyncIterator[str]:
        async with hold:  # until the last byte, or until the reader has gone
            for line in ("packed\n", "sent\n"):
                hold.ensure()
                yield line

    return StreamingResponse(lines())


def ask(port: int, path: str, method: str = "POST") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code} {error.read().decode()}"


def main() -> None:
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    listening = socket.create_server(("127.0.0.1", 0))  # requests wait here until the application is up
    port: int = listening.getsockname()[1]
    serving = threading.Thread(target=server.run, args=([listening],))
    serving.start()
    try:
        for path in ("/orders/42/charge", "/orders/42/ship"):
            print(ask(port, path))
        print(ask(port, "/orders/42/log", "GET"))
        with redlatch.connect() as client, client.lock("orders:42"):  # another process, say
            for path in ("/orders/42/charge", "/orders/42/ship", "/orders/43/charge"):
                print(ask(port, path))
            print(ask(port, "/orders/42/log", "GET"))
    finally:
        server.should_exit = True
        serving.join()
        listening.close()


if __name__ == "__main__":
    main()
