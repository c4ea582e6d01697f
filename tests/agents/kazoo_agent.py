"""The agent of kazoo: its locks on ZooKeeper, by the commands of the other agents."""

import sys
import threading
from urllib.parse import urlsplit

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from threads import serve

#: How long a session lives without a sign of life, in seconds.
SESSION = 3.0
#: What the names of Curator's nodes have before their number. Locks of kazoo wait for such nodes if they are told to.
CURATOR = ["lock-"]

KINDS = {
    "plain": lambda client, path, command: client.Lock(path, "kazoo", extra_lock_patterns=EXTRA),
    "read": lambda client, path, command: client.ReadLock(path, "kazoo", extra_lock_patterns=EXTRA),
    "write": lambda client, path, command: client.WriteLock(path, "kazoo", extra_lock_patterns=EXTRA),
    # An election is a lock, which its candidates take for as long as their work lasts.
    "leader": lambda client, path, command: client.Election(path, "kazoo").lock,
    "permit": lambda client, path, command: client.Semaphore(path, "kazoo", max_leases=command["permits"]),
}
EXTRA = CURATOR if "--beside-curator" in sys.argv else []


def acquire(lock, wait):
    """Waits for so many seconds, or without limit, and tells whether it has the lock."""
    if wait == 0:
        return lock.acquire(blocking=False)
    try:
        return lock.acquire(timeout=wait)
    except LockTimeout:
        return False


def main():
    client = KazooClient(hosts=urlsplit(sys.argv[-1]).netloc, timeout=SESSION)
    client.start()
    locks = {}
    choosing = threading.Lock()

    def run(command):
        what = command["do"]
        if what == "id":
            return {"ok": f"{client.client_id[0]:#x}"}
        key = command["kind"], command["name"], command["owner"]
        with choosing:
            if key not in locks:
                locks[key] = KINDS[command["kind"]](client, "/" + command["name"].lstrip("/"), command)
        lock = locks[key]
        if what == "lock":
            return {"ok": acquire(lock, None)}
        if what == "try_lock":
            return {"ok": acquire(lock, (command.get("wait") or 0) / 1000)}
        if what == "unlock":
            return {"ok": lock.release()}
        raise ValueError(f"no command `{what}`")

    serve(run)


if __name__ == "__main__":
    main()
