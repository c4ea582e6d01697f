"""Programs that a test ends: the first argument is the server's URL, and the second one the name of a lock."""

from __future__ import annotations

#: Programs that take the lock, and behind a line of input end as the line at their end says.
HOLDING = {
    "threads": """
import os, signal, sys, redlatch
client = redlatch.connect(sys.argv[1])
hold = client.lock(sys.argv[2]).lock()
print("held", flush=True)
sys.stdin.readline()
{end}
""",
    "asyncio": """
import asyncio, os, signal, sys
from redlatch import aio
client = aio.connect(sys.argv[1])
async def main():
    hold = await client.lock(sys.argv[2]).lock()
    print("held", flush=True)
    sys.stdin.readline()
    {end}
asyncio.run(main())
""",
}

#: A program that waits for the lock until Ctrl-C, and takes it behind a line of input.
WAITING = """
import signal, sys, redlatch
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background of a script
client = redlatch.connect(sys.argv[1])
lock = client.lock(sys.argv[2])
try:
    lock.lock()
except KeyboardInterrupt:
    print("interrupted", lock.try_lock(), flush=True)
sys.stdin.readline()
with lock:
    print("held", flush=True)
"""
