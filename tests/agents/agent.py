"""The Python agent: runs lock commands that come as JSON lines, each on its own thread: waiting ones block no other."""

import json
import math
import sys
import threading

import redlatch


def three(client, name):
    return [client.get_lock(name + letter) for letter in "abc"]


KINDS = {
    "plain": redlatch.Client.get_lock,
    "spin": redlatch.Client.get_spin_lock,
    "non_reentrant": redlatch.Client.get_non_reentrant_lock,
    "fair": redlatch.Client.get_fair_lock,
    "non_reentrant_fair": redlatch.Client.get_non_reentrant_fair_lock,
    "read": lambda client, name, **how: client.get_read_write_lock(name, **how).read_lock,
    "write": lambda client, name, **how: client.get_read_write_lock(name, **how).write_lock,
    "token": redlatch.Client.get_token_lock,
    "all": lambda client, name, **how: client.get_multi_lock(*three(client, name), **how),
    "majority": lambda client, name, **how: client.get_red_lock(*three(client, name), **how),
    "multi": lambda client, name, **how: client.get_multi_lock(name, values=["one", "zwölf"], **how),
    "fenced": redlatch.Client.get_fenced_lock,
}

OBJECTS = {
    "try_set": lambda it, n, wait: it.try_set_permits(n) if hasattr(it, "acquire") else it.try_set_count(n),
    "take": lambda it, n, wait: it.try_acquire(n, wait=wait) if hasattr(it, "acquire") else it.wait(wait),
    "give": lambda it, n, wait: it.release(n) is None,
    "add": lambda it, n, wait: it.add_permits(n) is None,
    "drain": lambda it, n, wait: it.drain_permits(),
    "count_down": lambda it, n, wait: it.count_down() is None,
    "count": lambda it, n, wait: it.available_permits() if hasattr(it, "acquire") else it.get_count(),
}

PERMITS = {
    "try_set": lambda it, command, wait, lease: it.try_set_permits(command["n"]),
    "take": lambda it, command, wait, lease: ",".join(it.try_acquire_many(command["n"], wait=wait, lease=lease) or ()),
    "give": lambda it, command, wait, lease: it.try_release(*command["ids"].split(",")),
    "extend": lambda it, command, wait, lease: it.update_lease(command["ids"], lease),
    "left": lambda it, command, wait, lease: milliseconds(it.lease_time(command["ids"])),
    "set": lambda it, command, wait, lease: it.set_permits(command["n"]) is None,
    "add": lambda it, command, wait, lease: it.add_permits(command["n"]) is None,
    "count": lambda it, command, wait, lease: it.available_permits(),
    "out": lambda it, command, wait, lease: it.acquired_permits(),
    "all": lambda it, command, wait, lease: it.get_permits(),
}

COMMANDS = {
    "lock": lambda lock, wait: bool(lock.lock(wait=None)),
    "try_lock": lambda lock, wait: bool(lock.try_lock(wait=wait or 0)),
    "unlock": lambda lock, wait: lock.unlock() is None,
    "force_unlock": lambda lock, wait: lock.force_unlock(),
    "is_locked": lambda lock, wait: lock.is_locked(),
    "is_held": lambda lock, wait: lock.hold_count() > 0,
    "token": lambda lock, wait: lock.get_token(),
    "ttl": lambda lock, wait: -2 if (left := lock.remain_time_to_live()) is None else int(left * 1000),
}

answering = threading.Lock()


def milliseconds(left):
    return left if left is None else -1 if math.isinf(left) else int(left * 1000)


def run(client, command):
    if command["do"] == "id":
        return client.id
    wait, lease = (None if command.get(key) is None else command[key] / 1000 for key in ("wait", "lease"))
    if command["kind"] in ("semaphore", "latch"):
        get = client.get_semaphore if command["kind"] == "semaphore" else client.get_count_down_latch
        return OBJECTS[command["do"]](get(command["name"]), command.get("n", 1), wait)
    if command["kind"] == "permit_semaphore":
        it = client.get_permit_expirable_semaphore(command["name"])
        return PERMITS[command["do"]](it, command, wait, lease)
    lock = KINDS[command["kind"]](client, command["name"], owner=command["owner"], lease=lease)
    return COMMANDS[command["do"]](lock, wait)


def take(client, command):
    try:
        answer = {"ok": run(client, command)}
    except Exception as e:
        answer = {"error": type(e).__name__, "message": str(e)}
    with answering:
        print(json.dumps({"id": command["id"], **answer}), flush=True)


def main():
    client = redlatch.connect(sys.argv[1])
    for line in sys.stdin:
        threading.Thread(target=take, args=(client, json.loads(line)), daemon=True).start()


if __name__ == "__main__":
    main()
