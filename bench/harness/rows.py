"""The rows. Aims are for our own peers; a column without an aim is for information."""

from __future__ import annotations

from functools import partial

from harness import rates, upkeep
from harness.beside import beside
from harness.handover import handover
from harness.listing import listing
from harness.peers import (
    ASYNCIO,
    AT_MARIADB,
    AT_OTHERS,
    AT_ZOOKEEPER,
    ELSEWHERE,
    GO,
    OTHERS,
    OURS,
    PYTHON,
    REDISSON,
    THREADS,
    TURNLESS,
    WITHOUT_TURNS,
)
from harness.row import Aim, Column, Row, at_least, at_most, each
from harness.window import FAR, ONE_CPU, TWO_CPUS

P50, P99 = Column("p50 µs", "p50", 1), Column("p99 µs", "p99", 1)
CPU, SERVER_CPU = Column("client CPU µs", "cpu", 1), Column("server CPU µs", "server_cpu", 1)
SCRIPTS, COMMANDS = Column("script calls", "scripts", 2), Column("commands", "commands", 2)
PAIRS, RATE = Column("pairs/s", "rate"), Column("acquisitions/s", "rate")
SHARE, LONGEST = Column("min/max share", "share", 2), Column("longest wait ms", "longest", 1)
CHANGES = Column("changes of owner/s", "changes")
WAIT, WAIT99 = Column("median wait ms", "wait", 2), Column("p99 wait ms", "wait_p99", 2)
BOTH_CPU = Column("CPU µs of both", "both_cpu", 1)
CPU_RATIO = Column("CPU / Redisson", "cpu", 3, "redisson")
ALL_PEERS = (*OURS, *REDISSON, *PYTHON, *ASYNCIO, *GO, *OTHERS, *ELSEWHERE)
# Peers whose callers are tasks, and no threads of the system.
LIGHT = ("rust-async", "asyncio", "java-virtual", "redisson-virtual", *ASYNCIO, *GO, *OTHERS)
ABROAD = ("rust", "python", "java", "redisson", "redis-py", "redsync", "rueidislock", "rslock")


def commands_at_most(bound: float) -> Column:
    return Column("commands", "commands", 2, None, at_most(rust=bound, java=bound))


def share_at_least(bound: float) -> Column:
    return Column("min/max share", "share", 2, None, at_least(rust=bound, java=bound))


def contended(times: float, share: float, commands: float, *more: Column) -> tuple[Column, ...]:
    ratio = Column("/ Redisson", "rate", 1, "redisson", at_least(rust=times, java=times))
    return (RATE, ratio, *more, SERVER_CPU, CPU, SCRIPTS, commands_at_most(commands), share_at_least(share))


def turnless(title: str, figure: str, aims: dict[str, Aim] | None = None) -> Column:
    """Beside the same client without turns."""
    return Column(f"{title} / turn=0", figure, 1, WITHOUT_TURNS, aims or {})


def owners(workers: int, hold: int) -> Row:
    """How often the lock changes its owner: no worker that takes it again and again is fast here."""
    block, is_first = f"a block of {hold} ms" if hold else "an empty block", (workers, hold) == (16, 0)
    return Row(
        f"owners-{workers}{'-held' if hold else ''}",
        f"one lock, {workers} workers in one process, {block}: changes of owner",
        (*OURS, *TURNLESS),
        partial(rates.crowd, workers=workers, hold=hold),
        (
            *(CHANGES, turnless("changes", "changes", each(OURS, "≥", 1)), RATE),
            *(WAIT, turnless("median", "wait", each(OURS, "≤", 1))),
            *(LONGEST, turnless("longest", "longest", each(OURS, "≤", 1))),
            *(BOTH_CPU, COMMANDS, SHARE),
        ),
        seconds=1 if hold else 0.5,
        warmed_by=None if is_first else "owners-16",
        quick=is_first,
    )


def shared(peer: str, aims: dict[str, Aim] | None = None) -> tuple[Column, ...]:
    """The shares of many workers in one thing, beside a peer of the same kind."""
    return (RATE, Column("/ Redisson", "rate", 1, peer, aims or {}), LONGEST, SERVER_CPU, CPU, SCRIPTS, SHARE)


def beside_redis(title: str, figure: str, sign: str = "", bound: float = 0) -> Column:
    """Ours at another system beside the same program at Redis."""
    aims = each(tuple(AT_OTHERS), sign, bound) if sign else {}
    return Column(f"{title} / at Redis", figure, 2, AT_OTHERS, aims)


AMONG_WORKERS = (SERVER_CPU, CPU, COMMANDS, SHARE, LONGEST)


def elsewhere(
    key: str, system: str, ours: dict[str, str], *, plain: str, library: str, freed: float
) -> tuple[Row, ...]:
    """The rows of a system with sessions. `plain`: a program of one thread without a lock library; `library`: the
    best-known one; `freed`: the ms after which the lock of a killed holder is to be free."""
    rust, rust_async, python, asyncio, java = ours
    # A task at most the first, a blocking caller, that sleeps and wakes, at most the second.
    solo_aims = {**each((rust_async,), "≤", 1.5), **each((rust, python, java), "≤", 2.5)}
    return (
        Row(
            f"{key}-solo",
            f"{system}: lock + unlock, without contention",
            (plain, *ours, library),
            rates.solo,
            (P50, P99, Column(f"p50 / {plain}", "p50", 2, plain, solo_aims), CPU, SERVER_CPU, COMMANDS),
            (ONE_CPU, TWO_CPUS),
            seconds=0.3,
            warmed_by="own",
        ),
        Row(
            f"{key}-crowd",
            f"{system}: one lock, 16 workers in one process",
            (*ours.values(), *ours, library),
            rates.crowd,
            (RATE, beside_redis("rate", "rate", "≥", 0.8), *AMONG_WORKERS, CHANGES),
            warmed_by="crowd",
            seconds=0.5,
        ),
        Row(
            f"{key}-processes",
            f"{system}: one lock, 4 processes with 4 workers each",
            ("rust", "python", rust, python, library),
            partial(rates.crowd, processes=4, workers=4),
            (RATE, beside_redis("rate", "rate"), *AMONG_WORKERS),
            warm=1 / 3,
            warmed_by="processes",
            seconds=1.2,
            quick=False,
        ),
        Row(
            f"{key}-handover",
            f"{system}: hand-over from one process to another that waits",
            ("rust", "python", plain, rust, python, library),
            handover,
            (
                P50,
                P99,
                Column(f"p50 / {plain}", "p50", 2, plain),
                beside_redis("p50", "p50"),
                CPU,
                SERVER_CPU,
                COMMANDS,
            ),
            warmed_by="handover",
            seconds=0.5,
            quick=False,
        ),
        Row(
            f"{key}-killed",
            f"{system}: from a holder's kill -9 until another process has had its lock",
            (*ours, library),
            upkeep.killed,
            (
                Column("median ms", "ms", 2, None, each(tuple(ours), "≤", freed)),
                Column("longest ms", "longest", 2),
            ),
            warm=0,
            rounds=1,
            quick=False,
        ),
        Row(
            f"{key}-held",
            f"{system}: 10,000 held locks, lease 9 s",
            (rust, python, asyncio),
            upkeep.held,
            (
                Column("requests/s", "requests", 2),
                Column("client CPU % of a core", "cpu_percent", 2),
                Column("server CPU %", "server_percent", 2),
                Column("RSS MiB", "rss", 1),
                Column("KiB a hold", "memory", 2),
                Column("threads", "threads"),
                Column("new threads", "new_threads"),
                Column("lost", "lost", 0, None, each(tuple(ours), "≤", 0)),
            ),
            seconds=9,
            warm=0,
            rounds=1,
            together=True,
            quick=False,
        ),
    )


SOLO_AIMS = at_most(rust=1.1, python=1.25, java=1.25, rust_async=1.6, asyncio=2.5, java_virtual=2)
OWN_AIMS = at_least(rust=1.5, java=1.2, python=0.5, asyncio=0.8)

ROWS = (
    Row(
        "solo",
        "lock + unlock, without contention",
        ("floor", *ALL_PEERS),
        rates.solo,
        (P50, P99, Column("p50 / floor", "p50", 2, "floor", SOLO_AIMS), CPU, SCRIPTS),
        (ONE_CPU, TWO_CPUS),
        seconds=0.3,
        plot="p50",
        warmed_by="own",
    ),
    Row(
        "own",
        "64 callers in one process, a lock for each",
        ("floor", "ceiling", *ALL_PEERS),
        rates.own,
        (PAIRS, Column("/ floor", "rate", 2, "floor", OWN_AIMS), P50, P99, SERVER_CPU, CPU, SCRIPTS),
        once=(ONE_CPU,),
        plot="rate",
        seconds=0.5,
    ),
    Row(
        "tasks",
        "100 tasks of asyncio in one process, a lock for each",
        ("asyncio", *ASYNCIO),
        partial(rates.own, callers=100),
        (
            PAIRS,
            Column("/ redis-asyncio", "rate", 1, "redis-asyncio", at_least(asyncio=8)),
            *(P50, P99, SERVER_CPU, CPU, SCRIPTS),
        ),
        seconds=1,
    ),
    Row(
        "thousand",
        "1,000 callers in one process, a lock for each",
        ("rust", "java", "redisson", *LIGHT),
        partial(rates.own, callers=1000),
        (PAIRS, Column("/ Redisson", "rate", 1, "redisson"), P50, P99, SERVER_CPU, CPU, SCRIPTS),
        plot="rate",
        seconds=0.5,
    ),
    Row(
        "crowd",
        "one lock, 16 workers in one process",
        (*THREADS, "rust-async", "asyncio", "java-virtual", *ASYNCIO),
        rates.crowd,
        contended(
            *(10, 0.9, 0.1),
            Column("/ MariaDB", "rate", 1, "mariadb", at_least(rust=3, java=3)),
            *(CHANGES, LONGEST, Column("CPU µs of both", "both_cpu", 1, None, at_most(rust=15, java=15)), CPU_RATIO),
        ),
        once=(ONE_CPU,),
        plot="rate",
        seconds=0.5,
    ),
    Row(
        "processes",
        "one lock, 4 processes with 4 workers each",
        (
            *("rust", "python", "java", "rust-turn-0", "python-turn-0", "java-turn-0"),
            *("redisson", "redis-py", "python-redis-lock", *GO, "rslock", "mariadb"),
        ),
        partial(rates.crowd, processes=4, workers=4),
        contended(
            *(75, 0.9, 1.5),
            turnless("rate", "rate", at_least(rust=3, java=3)),
            *(Column("longest wait ms", "longest", 1, None, at_most(rust=33)), CPU_RATIO),
        ),
        seconds=1.2,
        warm=1 / 3,
        plot="rate",
    ),
    *(owners(workers, hold) for workers in (16, 64) for hold in (0, 1)),
    Row(
        "tasks-crowd",
        "one lock, 100 tasks of asyncio in one process",
        ("asyncio-lock", "asyncio", "asyncio-turn-0", *ASYNCIO),
        partial(rates.crowd, workers=100),
        (
            *(RATE, Column("/ asyncio.Lock", "rate", 2, "asyncio-lock", at_least(asyncio=0.4))),
            *(turnless("rate", "rate"), CHANGES, WAIT, LONGEST, CPU, COMMANDS, SHARE),
        ),
    ),
    Row(
        "beside",
        "one lock, 16 workers of a peer beside 4 of Redisson: how long Redisson's wait",
        ("rust", "rust-turn-0", "java", "java-turn-0", "redisson"),
        beside,
        (
            *(WAIT, turnless("median", "wait", at_most(rust=1, java=1))),
            *(WAIT99, turnless("p99", "wait_p99", at_most(rust=1, java=1)), LONGEST),
            *(Column("Redisson's acquisitions/s", "rate", 1), Column("the peer's", "other_rate")),
        ),
        seconds=2,
    ),
    Row(
        "fair",
        "one fair lock, 16 workers in one process",
        ("java-fair", "redisson-fair"),
        rates.crowd,
        shared("redisson-fair", at_least(java_fair=4)),
        seconds=0.6,
    ),
    Row(
        "fair-processes",
        "one fair lock, 4 processes with 4 workers each",
        ("java-fair", "redisson-fair"),
        partial(rates.crowd, processes=4, workers=4),
        shared("redisson-fair", at_least(java_fair=4)),
        seconds=1.2,
        warm=1 / 3,
    ),
    Row(
        "handover",
        "hand-over from one process to another that waits",
        (
            "floor",
            "bare",
            *(peer for peer in THREADS if peer not in ("redisson-virtual", "redis-py-hiredis", "pottery")),
        ),
        handover,
        (
            *(P50, P99),
            Column("p50 / floor", "p50", 2, "floor", at_most(rust=1.6, java=1.6)),
            Column("p99 / floor", "p99", 2, "floor", at_most(rust=3, java=3)),
            *(Column("p50 / bare", "p50", 2, "bare"), CPU, COMMANDS),
        ),
        (TWO_CPUS,),
        once=(ONE_CPU,),
        seconds=0.5,
        plot="p50",
    ),
    Row(
        "readers",
        "one read-write lock, 16 workers in one process, one turn of twenty writes",
        ("rust", "python", "java", "redisson", "curator", "postgres"),
        rates.readers,
        shared("redisson"),
        seconds=0.6,
    ),
    Row(
        "permits",
        "a semaphore of 10, 100 workers in one process",
        ("rust", "python", "java", "redisson", "curator"),
        rates.permits,
        shared("redisson"),
        seconds=0.6,
    ),
    Row(
        "far-solo",
        "the server 0.5 ms away each way: lock + unlock, without contention",
        ABROAD,
        rates.solo,
        (P50, P99, SCRIPTS),
        (FAR,),
        rounds=1,
        seconds=0.5,
        warmed_by="far-own",
    ),
    Row(
        "far-own",
        "the server 0.5 ms away: 64 callers in one process, a lock for each",
        (*ABROAD, "asyncio", "redis-asyncio"),
        rates.own,
        (PAIRS, Column("/ Redisson", "rate", 1, "redisson"), P50, P99, CPU),
        (FAR,),
        rounds=1,
        seconds=0.5,
    ),
    Row(
        "far-crowd",
        "the server 0.5 ms away: one lock, 16 workers in one process",
        (*ABROAD, "rust-turn-0"),
        rates.crowd,
        (
            *(RATE, Column("/ Redisson", "rate", 1, "redisson", at_least(rust=20, java=20))),
            *(turnless("rate", "rate"), CHANGES, LONGEST, COMMANDS, SHARE),
        ),
        (FAR,),
        rounds=1,
        plot="rate",
        seconds=0.6,
    ),
    Row(
        "far-handover",
        "the server 0.5 ms away: hand-over from one process to another that waits",
        ABROAD,
        handover,
        (P50, P99, COMMANDS),
        (FAR,),
        rounds=1,
        seconds=0.6,
    ),
    *elsewhere("mariadb", "MariaDB", AT_MARIADB, plain="mysql-async", library="mariadb", freed=10),
    *elsewhere(
        "zookeeper",
        "ZooKeeper",
        AT_ZOOKEEPER,
        plain="zookeeper-client",
        library="curator",
        freed=upkeep.LEASE * 1000 + 1000,
    ),
    Row(
        "start",
        "from the start of a process to its first lock and unlock",
        ("floor", *ALL_PEERS),
        upkeep.start,
        (
            Column("ms", "ms", 1, None, at_most(python=40, java=150)),
            Column("CPU ms", "cpu_ms", 1),
            Column("RSS MiB", "rss", 1),
            Column("threads", "threads"),
            Column("connections", "connections", 0, None, at_most(rust=2, python=2, java=2)),
        ),
        warm=0,
        rounds=1,
        plot="ms",
    ),
    Row(
        "listing",
        "64 callers in one process, a lock for each, beside `redlatch ls` at a server with 1,000,000 other keys",
        ("rust",),
        listing,
        (
            *(PAIRS, P50, P99),
            Column("pairs/s / alone", "rate_ratio", 3),
            Column("p50 / alone", "p50_ratio", 3),
            Column("p99 / alone", "p99_ratio", 3, None, at_most(rust=1.05)),
        ),
        seconds=0.5,
        warm=0,
        rounds=1,
        quick=False,
    ),
    Row(
        "waiting",
        "10,000 waiters for one lock that is released at last; each has it once",
        ("rust", "rust-async", "python", "asyncio", "java-virtual", "redisson-virtual"),
        upkeep.waiting,
        (
            Column("all done after ms", "ms"),
            Column("µs a waiter", "each", 1),
            Column("KiB a waiter", "memory", 2),
            Column("CPU % while all wait", "asleep", 1),
            *(CPU, SERVER_CPU, COMMANDS),
        ),
        warm=0,
        rounds=1,
        quick=False,
    ),
    *(
        Row(
            f"renewal-{locks}",
            f"{locks:,} renewed locks, lease 9 s, for two leases",
            peers,
            partial(upkeep.renewal, locks=locks),
            (
                Column("client CPU % of a core", "cpu_percent", 2, None, at_most(rust=bound) if bound else {}),
                Column("/ Redisson", "cpu_percent", 2, "redisson"),
                Column("server CPU %", "server_percent", 2),
                Column("RSS MiB", "rss", 1, None, at_most(rust=20) if locks == 10_000 else {}),
                Column("KiB a hold", "memory", 2),
                Column("threads", "threads"),
                Column("new threads", "new_threads", 0, None, at_most(rust=0)),
                Column("names/s", "names"),
                Column("most names in 100 ms", "burst"),
                Column("lost", "lost", 0, None, at_most(rust=0, java=0, python=0)),
            ),
            seconds=18,
            warm=0,
            rounds=1,
            together=True,
            quick=locks == 10_000,
        )
        for locks, bound, peers in (
            (1_000, None, ("rust", "python", "java", "redisson", "rueidislock", "python-redis-lock")),
            (10_000, 0.3, ("rust", "python", "java", "redisson", "rueidislock")),
            (100_000, 3, ("rust", "java", "redisson")),
        )
    ),
)
