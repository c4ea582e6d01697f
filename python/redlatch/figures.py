"""The figures of a client as metrics, under the names that Prometheus and OpenTelemetry share."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Callable, Final, Literal, NamedTuple, Optional

from redlatch.base_client import BaseClient
from redlatch.checks import checked_text, shown
from redlatch.errors import ArgumentTypeError
from redlatch.stats import Stats

#: Gives the figures of a client; None: the client is gone.
Source = Callable[[], Optional[Stats]]


class Figure(NamedTuple):
    """One metric."""

    #: Its name behind `redlatch.client.`, in the way of OpenTelemetry.
    name: str
    kind: Literal["gauge", "counter"]
    #: The unit in the way of OpenTelemetry: seconds, or a number of something.
    unit: str
    text: str
    #: The name of the label that tells its values apart; None: it has one value.
    label: str | None
    #: Its values by that label; one without a label is under the empty text.
    values: Callable[[Stats], Mapping[str, float]]


FIGURES: Final = (
    Figure("holds", "gauge", "{hold}", "The holds that the client has now.", None, lambda now: {"": now.held}),
    Figure("waiters", "gauge", "{acquire}", "The acquires that wait now.", None, lambda now: {"": now.waiting}),
    Figure(
        "acquires",
        "counter",
        "{acquire}",
        "The acquires that have ended.",
        "outcome",
        lambda now: {
            "acquired": now.acquired,
            "not acquired": now.not_acquired,
            "failed": now.failed,
            "cancelled": now.cancelled,
        },
    ),
    Figure("releases", "counter", "{hold}", "The holds that were released.", None, lambda now: {"": now.released}),
    Figure("losses", "counter", "{hold}", "The holds that were lost.", "reason", lambda now: now.lost),
    Figure(
        "renewals.failed",
        "counter",
        "{renewal}",
        "The renewals without an answer in time.",
        None,
        lambda now: {"": now.renewals_failed},
    ),
    Figure("wait", "counter", "s", "The seconds that acquires took.", None, lambda now: {"": now.waited}),
    Figure("hold", "counter", "s", "The seconds for which locks were held.", None, lambda now: {"": now.held_for}),
)


def source(client: Any, name: str) -> Source:
    """Gives the figures of a client, and does not keep it alive. Raises ConfigError for what is no client or name."""
    if not isinstance(client, BaseClient):
        raise ArgumentTypeError(f"there are no figures of {shown('client', client)}; give a client of redlatch")
    checked_text("the name of a client in metrics", name)
    known: weakref.ref[BaseClient[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]] = weakref.ref(client)

    def now() -> Stats | None:
        one = known()
        return None if one is None else one.stats()

    return now
