"""The commands of both Python agents: the façades' methods have the same names."""

import math
import time

from redlatch.held import Held


def three(client, name):
    return [client.get_lock(name + letter) for letter in "abc"]


# The locks of several parts. Every other lock comes from the getter that its command names.
OF_PARTS = {
    "all": lambda client, name, **how: client.get_multi_lock(*three(client, name), **how),
    "majority": lambda client, name, **how: client.get_red_lock(*three(client, name), **how),
    "multi": lambda client, name, **how: client.get_multi_lock(name, values=["one", "zwölf"], **how),
}


def lock(client, command, lease):
    how = {"owner": command["owner"], "lease": lease}
    if command["kind"] in OF_PARTS:
        return OF_PARTS[command["kind"]](client, command["name"], **how)
    getter, *parts = command["getter"].split(".")
    found = getattr(client, getter)(command["name"], **how)
    for part in parts:
        found = getattr(found, part)
    return found


def same(answer):
    return answer


def done(nothing):
    return nothing is None


def milliseconds(left):
    return left if left is None else -1 if math.isinf(left) else int(left * 1000)


# Each command: a call, and the function that makes the agent's answer of its result.
OBJECTS = {
    "try_set": (lambda it, n, wait: it.try_set_permits(n) if hasattr(it, "acquire") else it.try_set_count(n), same),
    "take": (lambda it, n, wait: it.try_acquire(n, wait=wait) if hasattr(it, "acquire") else it.wait(wait), same),
    "give": (lambda it, n, wait: it.release(n), done),
    "add": (lambda it, n, wait: it.add_permits(n), done),
    "drain": (lambda it, n, wait: it.drain_permits(), same),
    "count_down": (lambda it, n, wait: it.count_down(), done),
    "count": (lambda it, n, wait: it.available_permits() if hasattr(it, "acquire") else it.get_count(), same),
}

PERMITS = {
    "try_set": (lambda it, command, times: it.try_set_permits(command["n"]), same),
    "take": (lambda it, command, times: it.try_acquire_many(command["n"], **times), lambda ids: ",".join(ids or ())),
    "give": (lambda it, command, times: it.try_release(*command["ids"].split(",")), same),
    "extend": (lambda it, command, times: it.update_lease(command["ids"], times["lease"]), same),
    "left": (lambda it, command, times: it.lease_time(command["ids"]), milliseconds),
    "set": (lambda it, command, times: it.set_permits(command["n"]), done),
    "add": (lambda it, command, times: it.add_permits(command["n"]), done),
    "count": (lambda it, command, times: it.available_permits(), same),
    "out": (lambda it, command, times: it.acquired_permits(), same),
    "all": (lambda it, command, times: it.get_permits(), same),
}

# The renewed permits that this agent has, by name and owner.
RENEWED = {}


def renewed(client, command, wait):
    """Takes a permit for an owner, or gives back the one that it has; with the function that makes the answer of it."""
    owner = command["name"], command["owner"]
    if command["do"] == "unlock":
        return RENEWED.pop(owner).release(), done

    def keep(permit):
        if permit is not None:
            RENEWED[owner] = permit
        return permit is not None

    semaphore = client.get_permit_expirable_semaphore(command["name"])
    return semaphore.try_acquire(wait=None if command["do"] == "lock" else wait or 0, renew=True), keep


# The terms in which this agent leads, by name and owner.
TERMS = {}


def leading(client, command, wait):
    """Leads for an owner, or resigns; with the function that makes the answer of it."""
    owner = command["name"], command["owner"]
    if command["do"] == "unlock":
        return TERMS.pop(owner).release(), done

    def keep(term):
        if term is not None:
            TERMS[owner] = term
        return term is not None

    leader = client.leader(command["name"], value="python")
    return leader.try_lead(wait=None if command["do"] == "lock" else wait or 0), keep


COMMANDS = {
    "lock": (lambda lock, wait: lock.lock(wait=None), bool),
    "try_lock": (lambda lock, wait: lock.try_lock(wait=wait or 0), bool),
    "unlock": (lambda lock, wait: lock.unlock(), done),
    "force_unlock": (lambda lock, wait: lock.force_unlock(), same),
    "is_locked": (lambda lock, wait: lock.is_locked(), same),
    "is_held": (lambda lock, wait: lock.hold_count(), bool),
    "token": (lambda lock, wait: lock.get_token(), same),
    "ttl": (lambda lock, wait: lock.remain_time_to_live(), lambda left: -2 if left is None else int(left * 1000)),
}


def answer(result, then):
    """The agent's answer. With a new hold it says until when the hold is certain, in ns of the machine's clock."""
    if not isinstance(result, Held):
        return {"ok": then(result)}
    now = time.monotonic_ns()
    return {"ok": then(result), "until": now + int(result.remaining * 1e9)}


def begun(client, command):
    """Returns the result of a command's call, and the function that makes the agent's answer of it."""
    times = {key: None if command.get(key) is None else command[key] / 1000 for key in ("wait", "lease")}
    kind, name, what = command["kind"], command["name"], command["do"]
    if kind in ("semaphore", "latch"):
        it = client.get_semaphore(name) if kind == "semaphore" else client.get_count_down_latch(name)
        call, then = OBJECTS[what]
        return call(it, command.get("n", 1), times["wait"]), then
    if kind == "permit_semaphore":
        call, then = PERMITS[what]
        return call(client.get_permit_expirable_semaphore(name), command, times), then
    if kind == "permit":
        return renewed(client, command, times["wait"])
    if kind == "leader":
        return leading(client, command, times["wait"])
    call, then = COMMANDS[what]
    return call(lock(client, command, times["lease"]), times["wait"]), then
