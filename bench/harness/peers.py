"""The measured peers: the names of their launchers, and properties of some of them."""

OURS = ("rust", "rust-async", "python", "asyncio", "java", "java-virtual")
# Ours with `?turn=0`: every hand-over goes through the server.
TURNLESS = tuple(f"{peer}-turn-0" for peer in OURS)
REDISSON = ("redisson", "redisson-virtual", "redisson-fair", "redisson-spin")
PYTHON = ("redis-py", "redis-py-hiredis", "python-redis-lock", "pottery")
ASYNCIO = ("redis-asyncio", "redis-asyncio-hiredis")
GO = ("redsync", "redislock", "rueidislock")
OTHERS = ("rslock", "node-redlock")
ELSEWHERE = ("curator", "mariadb", "postgres", "etcd")
THREADS = ("rust", "python", "java", *REDISSON, *PYTHON, *GO, *OTHERS, *ELSEWHERE)

# These need another server than Redis.
ENGINES = {"curator": "zookeeper", "mariadb": "mariadb", "postgres": "postgres", "etcd": "etcd"}
JVMS = {
    "java",
    "java-virtual",
    "java-fair",
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
KNOWN |= {"redislock", "rslock", "mariadb"}
