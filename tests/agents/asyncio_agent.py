"""The agent of redlatch.aio: runs lock commands that arrive as JSON lines, each as a task of its own."""

import asyncio
import json
import sys

from commands import answer, begun

from redlatch import aio


async def run(client, command):
    if command["do"] == "id":
        return {"ok": client.id}
    given, then = begun(client, command)
    return answer(await given, then)


async def take(client, command):
    try:
        said = await run(client, command)
    except Exception as e:
        said = {"error": type(e).__name__, "message": str(e)}
    print(json.dumps({"id": command["id"], **said}), flush=True)


async def main():
    loop, client = asyncio.get_running_loop(), aio.connect(sys.argv[1])
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running = set()
    while line := await lines.readline():
        task = loop.create_task(take(client, json.loads(line)))
        # A loop has only weak references to its tasks.
        running.add(task)
        task.add_done_callback(running.discard)


if __name__ == "__main__":
    asyncio.run(main())
