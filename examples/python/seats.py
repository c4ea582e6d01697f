# Sells seats of one show at several tills: a booking locks all of its seats, in one call, or none. Bookings without
# a common seat go on side by side. Needs a server at REDLATCH_URL.
import threading

import redlatch

owner_of: dict[str, str] = {}


def book(client: redlatch.Client, guest: str, seats: list[str]) -> None:
    with client.get_multi_lock("example:show", values=seats, wait=10) as hold:
        if all(seat not in owner_of for seat in seats):
            hold.ensure()  # LockLostError if it was lost meanwhile
            owner_of.update(dict.fromkeys(seats, guest))


with redlatch.connect() as client:
    wishes = {"ann": ["A1", "A2"], "ben": ["A2", "A3"], "cleo": ["B7"], "dan": ["A3", "A1"]}
    tills = [threading.Thread(target=book, args=(client, guest, seats)) for guest, seats in wishes.items()]
    for till in tills:
        till.start()
    for till in tills:
        till.join()

for guest, seats in wishes.items():
    got = [seat for seat in seats if owner_of.get(seat) == guest]
    print(f"{guest} has {', '.join(got) or 'nothing'}")
    assert got in ([], seats)
