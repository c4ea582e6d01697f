# Elects one of two machines, and another one when the first resigns. Needs a server at REDLATCH_URL.
import threading

import redlatch

NAME = "example:billing"


def machine(address: str, leads: threading.Event, may_resign: threading.Event) -> None:
    with redlatch.connect() as client, client.leader(NAME, value=address).lead() as term:
        print(f"{address} leads, at a token of its own: {term.token is not None}")
        leads.set()
        may_resign.wait()
        term.ensure()  # before the step that must not happen twice


with redlatch.connect() as observer:
    tokens: list[int] = []
    for address in ("api-1:80", "api-2:80"):
        leads, may_resign = threading.Event(), threading.Event()
        thread = threading.Thread(target=machine, args=(address, leads, may_resign))
        thread.start()
        leads.wait()
        leader = observer.leader(NAME).current()
        assert leader is not None
        assert leader.value == address
        tokens.append(leader.token or 0)
        print(f"all can see: {leader.value}")
        may_resign.set()
        thread.join()
    assert tokens[0] < tokens[1]
    assert observer.leader(NAME).current() is None
