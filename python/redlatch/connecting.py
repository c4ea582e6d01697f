"""Makes clients, and red locks with their clients."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from redlatch import _redlatch, calls
from redlatch.checks import Path, checked_list, checked_path, checked_text, shown
from redlatch.client import Client
from redlatch.durations import Seconds, optional_option
from redlatch.errors import ArgumentTypeError, ConfigError
from redlatch.groups import RedLock
from redlatch.owners import Owner
from redlatch.redis_settings import client_with_settings_of
from redlatch.sync_policy import Sync, option
from redlatch.tls import Tls
from redlatch.tls import options as tls_options

C = TypeVar("C")

#: The schemes with TLS, by those without it. Those of several servers begin with them.
SECURED: Final = {"redis": "rediss", "mysql": "mysqls", "mariadb": "mariadbs", "zookeeper": "zookeepers"}

#: The clients of the red locks in use, by URL and watchdog. Red locks of one name share them: so a thread that holds
#: one of these locks is its owner in the others, too.
_clients: WeakValueDictionary[tuple[str, float | None], Client] = WeakValueDictionary()
#: The clients that were used last. They stay connected for the next red lock.
_latest: deque[Client] = deque(maxlen=30)


def connect(
    url: str | None = None,
    *,
    config: Path | None = None,
    watchdog: Seconds | None = None,
    prefix: str | None = None,
    client_name: str | None = None,
    response_timeout: Seconds | None = None,
    connect_timeout: Seconds | None = None,
    sync: Sync | None = None,
    quarantine: bool | None = None,
    username: str | None = None,
    password: str | None = None,
    tls: Tls | None = None,
) -> Client:
    """Returns a client of Redis, Valkey, MySQL, MariaDB or ZooKeeper. It connects at its first call.

    `url` is `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS or `unix:///path/to/socket`, or
    names several servers: `redis+cluster://host1,host2`, `redis+sentinel://host1,host2/mymaster`, and for a master and
    its replicas `redis+replicated://host1,host2`. For the locks of a MySQL or MariaDB (`GET_LOCK`) it is
    `mysql://user[:password]@host[:port][/schema]` or `mariadb://…`, with TLS `mysqls://…` or `mariadbs://…`. For those
    of ZooKeeper it is `zookeeper://[user:password@]host1,host2[/chroot]`, with TLS `zookeepers://…`. Without it the
    client takes the environment's `REDLATCH_URL`, then `REDIS_URL`, then `redis://localhost:6379`. `config` is the path
    of a configuration file of Redisson, YAML or JSON, which names the servers instead. An option that is left out comes
    from that file or from the URL's query (`?watchdog=10`), else it has the default in brackets. Times are seconds or
    `timedelta`:

    - `watchdog` (30): the lease of holds without one of their own. The watchdog renews them every third of it.
    - `prefix` (none): text before the name of every lock.
    - `client_name` (`redlatch@<host>:<process>:<client.id>`): the name of the connections in Redis's `CLIENT LIST`.
    - `response_timeout` (3): how long one call may stay unanswered.
    - `connect_timeout` (10): how long connecting may take.
    - `sync` (none): the replicas that must confirm a lock before an acquire returns, as `redlatch.Wait`, or their
      files, as `redlatch.WaitAof`.
    - `quarantine` (False): a server that has just started, or has taken over from another one, may have lost locks.
      With True it grants no lock until every old lease has ended. The client waits for the longest lease that it has
      asked for, at least the watchdog's. All clients that share a lock must have the same setting.
    - `username`, `password` (none): a username needs a password.
    - `tls` (the authorities that the system trusts): the certificates of a connection with TLS, see `redlatch.Tls`.

    MySQL, MariaDB and ZooKeeper take no `client_name`, `sync` and `quarantine`. They have plain, non-reentrant and
    fenced locks, and multi and red locks of these; ZooKeeper also has fair and read-write locks, and renewed permits. A
    call for another kind raises UnsupportedError. The lease of a session, and so of all its locks, is `watchdog`: in
    whole seconds, and on ZooKeeper no longer than its server allows.

    Raises ConfigError for a URL, an option or a file that cannot be used.
    """
    return Client(
        connected(
            url,
            config,
            watchdog=watchdog,
            prefix=prefix,
            client_name=client_name,
            response_timeout=response_timeout,
            connect_timeout=connect_timeout,
            sync=sync,
            quarantine=quarantine,
            username=username,
            password=password,
            tls=tls,
        )
    )


def from_redis(
    redis: object,
    *,
    watchdog: Seconds | None = None,
    prefix: str | None = None,
    sync: Sync | None = None,
    quarantine: bool | None = None,
) -> Client:
    """Returns a client with the servers, database, login, TLS, name and timeouts of a client of redis-py.

    `redis` is one for threads or for asyncio: a `Redis`, the `master_for` of a `Sentinel`, or a `RedisCluster`. The two
    share no connection, and each may be closed without the other. The other arguments are those of `connect`.

    Raises UnsupportedError for a setting that redlatch lacks (`credential_provider`, a connection class of the
    program's own, some of TLS), ConfigError for one that cannot be used.
    """
    return Client(
        client_with_settings_of(redis, connected, watchdog=watchdog, prefix=prefix, sync=sync, quarantine=quarantine)
    )


def red_lock(
    urls: Iterable[str],
    name: str,
    *,
    wait: Seconds | None = None,
    lease: Seconds | None = None,
    owner: Owner = None,
    watchdog: Seconds | None = None,
) -> RedLock:
    """Returns the lock called `name` of a majority of independent servers, of which a minority may fail.

    `urls` are the servers, three or five, without replication between them. Each gets a client that all red locks
    of this URL and watchdog share. An acquire asks all servers at once; each has a hundredth of the lease (50 to
    500 ms) to answer. The other arguments are those of `Client.get_lock` and `connect`.

    A red lock does not stop a holder that was paused for longer than its lease. The guarded resource should compare
    fencing tokens.

    Raises ConfigError for arguments that cannot be used.
    """
    clients = some([_shared(url, watchdog) for url in checked_list("urls", urls)])
    return RedLock(clients[0], [client.get_lock(name) for client in clients], wait, lease, owner)


def _shared(url: str, watchdog: Seconds | None) -> Client:
    key = (checked_text("url", url), optional_option("watchdog", watchdog))
    client = _clients.get(key)
    if client is None or client.closed:
        client = _clients[key] = connect(url, watchdog=watchdog)  # starts nothing yet
    _latest.append(client)
    return client


def connected(
    url: str | None,
    config: Path | None,
    *,
    watchdog: Seconds | None,
    prefix: str | None,
    client_name: str | None,
    response_timeout: Seconds | None,
    connect_timeout: Seconds | None,
    sync: Sync | None,
    quarantine: bool | None,
    username: str | None,
    password: str | None,
    tls: Tls | None,
) -> _redlatch.Client:
    """Makes the core's client with these options, after their checks; None leaves an option out."""
    if url is not None and config is not None:
        raise ConfigError("url and config both name servers; leave one of them out")
    times = {"watchdog": watchdog, "response_timeout": response_timeout, "connect_timeout": connect_timeout}
    texts = {
        "prefix": prefix,
        "client_name": client_name,
        "username": username,
        "password": password,
        "sync": option(sync),
        "quarantine": switch("quarantine", quarantine),
        **tls_options(tls),
    }
    options = [(name, str(optional_option(name, time))) for name, time in times.items() if time is not None]
    options += [(name, checked_text(name, text)) for name, text in texts.items() if text is not None]
    named = None if url is None else checked_text("url", url)
    native = calls.client(_redlatch.connect(named, None if config is None else checked_path("config", config), options))
    # The core sees only options that differ from their defaults, so it cannot check this.
    if tls is not None and not native.server.startswith(tuple(SECURED.values())):
        secured = SECURED.get(native.server.partition("://")[0], "rediss")
        raise ConfigError(f"{native.server} goes without TLS, so no redlatch.Tls applies; write {secured}://")
    return native


def switch(name: str, on: bool | None) -> str | None:
    """A yes or no option as the core takes it, as text; None leaves it out."""
    if on is None or isinstance(on, bool):
        return None if on is None else str(on).lower()
    raise ArgumentTypeError(f"{name} is {shown(name, on)}; give True or False, or leave it out")


def some(clients: list[C]) -> list[C]:
    """Returns the clients. Raises ConfigError for an empty list."""
    if not clients:
        raise ConfigError("there is no server to lock on; give the URLs of three or five")
    return clients
