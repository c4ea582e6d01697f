"""The measured peers: the names of their launchers, and properties of some of them."""

OURS = ("rust", "rust-async", "python", "asyncio", "java", "java-virtual")
# Ours with `?turn=0`: every hand-over goes through the server.
WITHOUT_TURNS = {peer: f"{peer}-turn-0" for peer in OURS}
TURNLESS = tuple(WITHOUT_TURNS.values())
REDISSON = ("redisson", "redisson-virtual", "redisson-fair", "redisson-spin")
PYTHON = ("redis-py", "redis-py-hiredis", "python-redis-lock", "pottery")
ASYNCIO = ("redis-asyncio", "redis-asyncio-hiredis")
GO = ("redsync", "redislock", "rueidislock")
OTHERS = ("rslock", "node-redlock")
ELSEWHERE = ("curator", "mariadb", "postgres", "etcd")
# Ours at other systems, each with its twin at Redis.
AT_MARIADB, AT_ZOOKEEPER = (
    {f"{peer}-{system}": peer for peer in ("rust", "rust-async", "python", "asyncio", "java")}
    for system in ("mariadb", "zookeeper")
)
AT_OTHERS = AT_MARIADB | AT_ZOOKEEPER
ALL_OURS = (*OURS, *TURNLESS, *AT_OTHERS)
THREADS = ("rust", "python", "java", *REDISSON, *PYTHON, *GO, *OTHERS, *ELSEWHERE)

# These need another server than Redis.
ENGINES = {"curator": "zookeeper", "mariadb": "mariadb", "postgres": "postgres", "etcd": "etcd"}
ENGINES |= dict.fromkeys(("mysql-async", *AT_MARIADB), "mariadb")
ENGINES |= dict.fromkeys(("zookeeper-client", *AT_ZOOKEEPER), "zookeeper")
JVMS = {
    "java",
    "java-virtual",
    "java-fair",
    "java-mariadb",
    "java-zookeeper",
    "java-turn-0",
    "java-virtual-turn-0",
    *REDISSON,
    "curator",
    "mariadb",
    "postgres",
}
# The yardsticks; no two programs could use them as a lock.
FLOORS = {"floor", "ceiling", "bare", "asyncio-lock"}
# The peers of a first look.
KNOWN = {*FLOORS, *OURS, *TURNLESS, "java-fair", "redisson", "redisson-fair", "redis-py", "redis-asyncio"}
KNOWN |= {"redislock", "rslock", "mariadb", "mysql-async", "zookeeper-client", *AT_OTHERS}
