"""The page of all errors names each error of each language, and each reason of a loss."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import redlatch
from redlatch import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text()


def rows(head: str) -> list[list[str]]:
    """The cells of each row of the table whose head begins so."""
    table = PAGE.partition(head)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def words(cells: list[str]) -> set[str]:
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


ROWS = rows("| `code` in Python |")


def source(path: str, begin: str, end: str) -> str:
    """The part of a source file from one text to the next occurrence of another."""
    text = (ROOT / path).read_text()
    assert text.count(begin) == 1
    return text.partition(begin)[2].partition(end)[0]


def test_each_error_of_python_has_a_row_with_its_code() -> None:
    named = {(row[0].strip("`"), name) for row in ROWS if row[0] != "none" for name in words([row[1]])}
    classes = [
        error for error in vars(errors).values() if inspect.isclass(error) and issubclass(error, redlatch.RedlatchError)
    ]
    assert named == {(error.code, error.__name__) for error in classes if error is not redlatch.RedlatchError}


def test_each_error_of_rust_has_a_row() -> None:
    variants = re.findall(
        r"^    ([A-Z]\w+)[ ({,]", source("core/src/request/error.rs", "pub enum Error {", "\n}\n"), re.M
    )
    assert len(variants) > 10
    assert words([row[2] for row in ROWS]) == set(variants)


def test_each_exception_of_java_has_a_row() -> None:
    failures = "java/src/main/java/org/redisson/Failures.java"
    thrown = set(re.findall(r"new (\w+Exception)\(", source(failures, "static RuntimeException of(", "default:")))
    assert len(thrown) > 5
    assert thrown <= words([row[3] for row in ROWS])


def test_each_reason_of_a_loss_has_a_remedy() -> None:
    reasons = re.findall(r'LostReason::\w+ => "([a-z ]+)"', (ROOT / "core/src/request/error.rs").read_text())
    assert len(reasons) > 5
    assert words([row[0] for row in rows("| reason | remedy |")]) == set(reasons)


def test_each_row_has_a_cause_and_a_remedy() -> None:
    assert all(len(row) == 6 and all(cell.endswith(".") for cell in row[4:]) for row in ROWS)
