# Pays out only under a lock that a replica has, too, so that a failover to that replica keeps it. Needs a server at
# REDLATCH_URL, and a replica of it to pay anything.
import redlatch

client = redlatch.connect(sync=redlatch.Wait(replicas=1, within=0.2))


def pay_out(account: str) -> bool:
    try:
        # Waits up to 5 s for the lock, and 0.2 s more for a replica.
        with client.lock(f"example:payouts:{account}", wait=5) as hold:
            hold.ensure()
            print(f"paid out {account}")
            return True
    except redlatch.NotSyncedError as error:
        print(f"not paid out: {error}")  # the lock is free again
        return False


with client:
    paid = pay_out("A1")
    assert not client.lock("example:payouts:A1").is_locked()

print("a replica confirmed it" if paid else "nothing is paid out that a failover might pay out twice")
