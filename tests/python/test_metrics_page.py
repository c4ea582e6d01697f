"""The page of all metrics names each figure of a client, each meter and event of Java, each metric of the command."""

from __future__ import annotations

import re
from pathlib import Path

import redlatch

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text()
JAVA = ROOT / "java" / "src" / "main" / "java" / "io" / "redlatch"


def rows() -> list[list[str]]:
    table = PAGE.partition("\n## Of a client\n\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def test_each_figure_of_a_client_has_a_row_with_its_name_in_java() -> None:
    assert [row[0].strip("`") for row in rows()] == list(redlatch.Stats._fields)
    stats = (JAVA / "Stats.java").read_text()
    missing = [java for _, java, _ in rows() if f" {java.strip('`')} {{" not in stats]
    assert missing == []


def test_each_meter_of_micrometer_is_on_the_page() -> None:
    meters = set(re.findall(r'registry, "(redlatch\.[a-z.]+)"', (JAVA / "LockMetrics.java").read_text()))
    assert len(meters) > 5
    assert {name for row in rows() for name in re.findall(r"`(redlatch\.[a-z.]+)`", row[2])} == meters


def test_each_metric_of_the_command_is_on_the_page() -> None:
    source = (ROOT / "cli" / "src" / "serve" / "metrics.rs").read_text()
    registered = set(re.findall(r'registry\.register\(\s*"(\w+)"', source))
    assert len(registered) > 5
    named = set(re.findall(r"`redlatch_(\w+)`", PAGE.partition("\n## Of a server\n")[2]))
    assert {name.removesuffix("_total") for name in named} == registered


def test_each_event_of_flight_recorder_is_on_the_page() -> None:
    events = re.findall(r'@Name\("(io\.redlatch\.\w+)"\)', (JAVA / "internal" / "FlightEvents.java").read_text())
    assert events
    assert re.findall(r"`(io\.redlatch\.\w+)`", PAGE) == events
