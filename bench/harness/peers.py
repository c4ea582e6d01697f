"""The measured peers: the names of their launchers, and properties of some of them."""

OURS = ("rust", "rust-async", "python", "asyncio", "java", "java-virtual")
REDISSON = ("redisson", "redisson-virtual", "redisson-fair", "redisson-spin")
PYTHON = ("redis-py", "redis-py-hiredis", "python-redis-lock", "pottery")
ASYNCIO = ("redis-asyncio", "redis-asyncio-hiredis")
GO = ("redsync", "redislock", "rueidislock")
OTHERS = ("rslock", "node-redlock")
ELSEWHERE = ("curator", "mariadb", "postgres", "etcd")
THREADS = ("rust", "python", "java", *REDISSON, *PYTHON, *GO, *OTHERS, *ELSEWHERE)

# These need another server than Redis.
ENGINES = {"curator": "zookeeper", "mariadb": "mariadb", "postgres": "postgres", "etcd": "etcd"}
JVMS = {"java", "java-virtual", "java-fair", *REDISSON, "curator", "mariadb", "postgres"}
# The yardsticks; no program could use them as a lock.
FLOORS = {"floor", "ceiling", "bare"}
# The peers of a first look.
KNOWN = {*FLOORS, *OURS, "java-fair", "redisson", "redisson-fair", "redis-py", "redis-asyncio"}
KNOWN |= {"redislock", "rslock", "mariadb"}
