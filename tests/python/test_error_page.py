"""The page of all errors names each error of each language, and each reason of a loss."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import NamedTuple

import redlatch
from redlatch import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text()


class Entry(NamedTuple):
    """What the page tells of one error."""

    code: str
    python: str
    rust: str
    java: str
    cause: str
    remedy: str


def entries() -> list[Entry]:
    part = PAGE.partition("\n## By code\n")[2].partition("\n## ")[0]
    lines = r"- Python: (.+)\n- Rust: (.+)\n- Java: (.+)\n- \*\*Cause:\*\* (.+)\n- \*\*Remedy:\*\* (.+)\n"
    found = [Entry(*entry) for entry in re.findall(rf"### (.+)\n{lines}", part)]
    assert len(found) == part.count("### ")
    return found


ENTRIES = entries()


def words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"`([^`]+)`", text)}


def source(path: str, begin: str, end: str) -> str:
    """The part of a source file from one text to the next occurrence of another."""
    text = (ROOT / path).read_text()
    assert text.count(begin) == 1
    return text.partition(begin)[2].partition(end)[0]


def test_each_error_of_python_is_there_under_its_code() -> None:
    named = {(entry.code, name) for entry in ENTRIES for name in words([entry.python])}
    classes = [error for error in vars(errors).values() if inspect.isclass(error)]
    ours = [
        error for error in classes if issubclass(error, redlatch.RedlatchError) and error is not redlatch.RedlatchError
    ]
    assert {(error.code, error.__name__) for error in ours} == {pair for pair in named if pair[0] != "Given up"}


def test_each_error_of_rust_is_there() -> None:
    enum = source("core/src/request/error.rs", "pub enum Error {", "\n}\n")
    variants = re.findall(r"^    ([A-Z]\w+)[ ({,]", enum, re.MULTILINE)
    assert len(variants) > 10
    assert words([entry.rust for entry in ENTRIES]) == set(variants)


def test_each_exception_of_java_is_there() -> None:
    failures = "java/src/main/java/org/redisson/Failures.java"
    thrown = set(re.findall(r"new (\w+Exception)\(", source(failures, "static RuntimeException of(", "default:")))
    assert len(thrown) > 5
    assert thrown <= words([entry.java for entry in ENTRIES])


def test_each_reason_of_a_loss_has_a_remedy() -> None:
    reasons = re.findall(r'LostReason::\w+ => "([a-z ]+)"', (ROOT / "core/src/request/error.rs").read_text())
    assert len(reasons) > 5
    table = PAGE.partition("| reason | remedy |\n")[2].partition("\n\n")[0]
    assert words([line.split(" | ")[0] for line in table.splitlines()]) == set(reasons)
