"""The native module: the core behind one class. Private to this package."""

from typing import final

__all__ = ["Client", "connect"]

__all__ = ["Client", "connect"]

# (status, number, items, error): status 0 done, 1 not now, from 10 on an error, which is (message, reason).
_Outcome = tuple[int, int, list[int], tuple[str, str | None] | None]

def connect(url: str | None, options: list[tuple[str, str]]) -> Client | _Outcome: ...

@final
class Client:
    @property
    def id(self) -> str: ...
    @property
    def server(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def run(
        self, op: int, kind: str, name: str, owner: int, wait: float | None, lease: float | None, hold: int
    ) -> _Outcome: ...
    def look(self, hold: int) -> _Outcome: ...
    def close(self) -> None: ...
