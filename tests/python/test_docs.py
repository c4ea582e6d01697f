"""Every code block of the guides runs as it is written, and passes the type checker; every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from servers import Server

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: How many blocks each page has at least: a block that is not found is not run.
PAGES = {
    "python.md": 10,
    "testing.md": 2,
    "migrating.md": 6,
    "engines.md": 6,
    "leader.md": 1,
    "jobs.md": 1,
    "start.md": 2,
    "promise.md": 1,
    "fencing.md": 2,
    "errors.md": 1,
    "metrics.md": 2,
    "fastapi.md": 4,
    "flask.md": 3,
    "celery.md": 2,
    "compatibility.md": 2,
    "dramatiq.md": 1,
    "apscheduler.md": 2,
}
#: Pages that bring a loss about, which is a warning.
LOSES = {"testing.md", "start.md", "fencing.md"}
#: Pages about a library without types.
UNTYPED = {"celery.md", "dramatiq.md", "apscheduler.md"}
LAX = ["--disable-error-code", "import-untyped", "--disable-error-code", "untyped-decorator"]
#: Pages whose blocks are the files of a project, and run by a test of their own.
PROJECTS = {"django.md", "airflow.md"}
#: The URLs in the place of which a test has those of its own servers, of other systems by the fixtures that start them.
REDIS = "redis://localhost:6379"
OTHERS = {"mariadb": "mariadb://app:secret@localhost:3306/app", "zookeeper": "zookeeper://localhost:2181"}
#: What the README leaves to the reader.
STUBS = "order = 42\ndef charge(order: int) -> None: ...\n"


def program(page: str) -> str:
    return "\n".join(BLOCK.findall((DOCS / page).read_text()))


def run(text: str, folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    path = folder / "guide.py"
    path.write_text(text)
    environment = {**os.environ, "REDLATCH_URL": url}
    command = [sys.executable, "-W", "error", str(path)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_each_page_with_blocks_is_run() -> None:
    found = {path.name: len(BLOCK.findall(path.read_text())) for path in DOCS.glob("*.md")}
    assert {page for page, count in found.items() if count} == set(PAGES) | PROJECTS
    assert all(found[page] >= least for page, least in PAGES.items())


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_one_after_the_other(
    request: pytest.FixtureRequest, own_server: Server, tmp_path: Path, page: str
) -> None:
    text = program(page)
    for system, url in OTHERS.items():
        if url in text:
            text = text.replace(url, request.getfixturevalue(system).url)
    ended = run(text, tmp_path, own_server.url)
    told = [line for line in ended.stderr.splitlines() if page not in LOSES or " is lost to " not in line]
    assert (ended.returncode, told) == (0, [])


def test_the_block_of_the_readme_runs(own_server: Server, tmp_path: Path) -> None:
    (block,) = BLOCK.findall((ROOT / "README.md").read_text())
    ended = run(STUBS + block.replace(REDIS, own_server.url), tmp_path, own_server.url)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_page_of_the_package_index_runs_and_has_no_link_that_only_the_repository_resolves(
    own_server: Server, tmp_path: Path
) -> None:
    page = (ROOT / "python" / "README.md").read_text()
    blocks = BLOCK.findall(page)
    assert len(blocks) == 2
    ended = run("\n".join(blocks).replace(REDIS, own_server.url), tmp_path, own_server.url)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.findall(r"\]\((?!https://)|<img|<picture", page) == []
    assert 'readme = "python/README.md"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_are_typed(tmp_path: Path, page: str) -> None:
    pytest.importorskip("mypy")
    path = tmp_path / "guide.py"
    path.write_text(program(page))
    # mypy runs in a new process: its objects would make every later garbage collection of this one slow.
    options = ["--strict", "--cache-dir", str(tmp_path / "cache"), *(LAX if page in UNTYPED else [])]
    command = [sys.executable, "-m", "mypy", *options, str(path)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("language", "examples"),
    [
        ("java", ["examples/java/src/main/java/Start.java", "examples/java/src/main/java/Lose.java"]),
        ("rust", ["examples/rust/start.rs", "examples/rust/lose.rs"]),
    ],
)
def test_the_first_programs_of_a_language_are_examples_that_are_run(language: str, examples: list[str]) -> None:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / "start.md").read_text(), re.DOTALL | re.MULTILINE)
    for block, example in zip(blocks, examples):
        assert (ROOT / example).read_text().endswith(block)
    assert len(blocks) == len(examples)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def documents() -> list[Path]:
    """The pages that users and contributors read."""
    folders = (ROOT, DOCS, ROOT / "python", ROOT / "bench", ROOT / "core" / "scripts", ROOT / "tests" / "nets")
    return sorted(path for folder in folders for path in folder.glob("*.md"))


@pytest.mark.parametrize("page", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    home = DOCS if page == ROOT / "bench" / "performance.md" or page == ROOT / "bench" / "missed.md" else page.parent
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text())
    broken = []
    for link, anchor in links:
        target = (home / link).resolve() if link else page
        if link.startswith(("http://", "https://")):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{link}#{anchor}" if anchor else link)
    assert broken == []


@pytest.mark.parametrize("page", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_sends_its_reader_to_an_address_that_does_not_exist(page: Path) -> None:
    assert "example.invalid" not in page.read_text()


#: Words that hide the actor of a sentence.
NAMELESS = re.compile(r"\b(?:whoever|whatever|somebody|nobody|anybody|everybody)\b", re.IGNORECASE)
#: Sentences, headings and cells that begin without a noun.
NOUNLESS = re.compile(r"(?:^|[.:;] |[|#*-] )(?:Who|What|Those)\b", re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [page for page in documents() if not page.is_relative_to(ROOT / "tests")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_page_names_its_actors(page: Path) -> None:
    text = page.read_text()
    assert [*NAMELESS.findall(text), *NOUNLESS.findall(text)] == []
