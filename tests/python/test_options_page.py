"""The page of all options says what the code has: each option of each language, and its default."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import redlatch
from redlatch import aio

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "options.md").read_text()
JAVA = ROOT / "java" / "src" / "main" / "java"
SERVER = "redis://localhost"


class Row(NamedTuple):
    names: list[str]
    python: str
    java: list[str]
    values: str
    default: str
    since: str
    meaning: str

    @property
    def name(self) -> str:
        return self.names[0]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def rows() -> list[Row]:
    part = PAGE.partition("## Of a client\n")[2].partition("\n## ")[0]
    lines = [cells(line) for line in part.splitlines() if line.startswith("| `")]
    return [Row(words(names), python, words(java), *rest) for names, python, java, *rest in lines]


ROWS = rows()


def core(pattern: str) -> str:
    """The group of the one match of a pattern in the sources of the core."""
    sources = (path.read_text() for path in sorted((ROOT / "core" / "src").rglob("*.rs")))
    found = [match for source in sources for match in re.findall(pattern, source, re.DOTALL | re.MULTILINE)]
    assert len(found) == 1, f"{len(found)} matches of {pattern}"
    return str(found[0])


def options_of_the_core() -> list[str]:
    """As the error about an option that does not exist names them."""
    with pytest.raises(redlatch.ConfigError) as told:
        redlatch.connect(f"{SERVER}?no_such_option=1")
    return str(told.value).partition("there are ")[2].split(", ")


def test_the_page_has_each_option_of_the_url_and_no_other() -> None:
    assert sorted(row.name for row in ROWS) == sorted(options_of_the_core())


def test_the_page_has_each_name_that_the_core_takes() -> None:
    # The start of the function, and the arms of its `match` up to the one for all other names.
    start = r"pub fn set\(&mut self, option: &str, value: &str\) -> Result<&mut Self> \{"
    arms = re.findall(r'^ {12}("[^=]+?) =>', core(start + r".*?match option \{(.*?)\n {12}_ =>"), re.MULTILINE)
    taken = [name for arm in arms for name in re.findall(r'"(\w+)"', arm)]
    assert len(taken) > 10
    assert sorted(taken) == sorted(name for row in ROWS for name in row.names)


#: The default of an option on the page, by how the core writes it.
WRITTEN = {
    "None": "none",
    "String::new()": "none",
    "AddressMap::default()": "none",
    "0": "0",
    "8": "8",
    "false": "`false`",
    "SyncPolicy::None": "`none`",
    "Sharded::Auto": "`auto`",
    "NodeFormat::default()": "`curator`",
}


def default_of(name: str, literal: str) -> str:
    """The default in the words of the page; `literal` is the struct of a configuration of which nothing was set."""
    (value,) = re.findall(rf"^ +{name}: (.+),$", literal, re.MULTILINE)
    time = re.fullmatch(r"Duration::from_(secs|millis)\((\d+)\)", value)
    return f"{int(time[2]) / {'secs': 1, 'millis': 1000}[time[1]]:g} s" if time else WRITTEN[value]


@pytest.mark.parametrize("row", [row for row in ROWS if not row.name.startswith("tls_")], ids=lambda row: row.name)
def test_the_default_on_the_page_is_that_of_the_core(row: Row) -> None:
    literal = core(r"let mut config = Config \{(.*?)\n        \};")
    if row.name in ("username", "password"):
        assert row.default == "none"
        assert re.search(rf"^ +{row.name}: .*url\.{row.name}\(\)", literal, re.MULTILINE)
    else:
        assert row.default == default_of(row.name, literal)


def test_the_default_of_what_a_certificate_must_prove_is_that_of_the_core() -> None:
    (row,) = (row for row in ROWS if row.name == "tls_verify")
    variant = core(r"enum TlsVerify \{.*?#\[default\]\n +(\w+),")
    assert row.default == f"`{variant.lower()}`"


@pytest.mark.parametrize("connect", [redlatch.connect, aio.connect])
def test_the_page_has_each_argument_of_connect(connect: object) -> None:
    arguments = inspect.signature(connect).parameters  # type: ignore[arg-type]
    assert all(parameter.default is None for parameter in arguments.values())
    own = set(re.findall(r"^\| Python \| `connect\((\w+)", PAGE, re.MULTILINE))
    named = {row.python.strip("`") for row in ROWS if re.fullmatch(r"`\w+`", row.python)}
    assert own | named == set(arguments)
    of_tls = {argument for row in ROWS for argument in re.findall(r"Tls\((\w+)=", row.python)}
    assert of_tls == set(redlatch.Tls._fields)


def test_the_help_of_connect_has_the_defaults_of_the_page() -> None:
    told = dict(re.findall(r"^ +- `(\w+)` \(([^)]+)\)", redlatch.connect.__doc__ or "", re.MULTILINE))
    times = {row.name: row.default.removesuffix(" s") for row in ROWS if row.default.endswith(" s")}
    asked = {name: told[name] for name in times if name in told}
    assert len(asked) == 3
    assert asked == {name: times[name] for name in asked}


@pytest.mark.parametrize("row", [row for row in ROWS if not row.name.startswith("tls_")], ids=lambda row: row.name)
def test_an_option_takes_its_default_in_words(row: Row) -> None:
    value = "" if row.default == "none" else row.default.strip("`").removesuffix(" s")
    server = "redis+cluster://localhost" if row.name == "sharded" else SERVER
    for name in row.names:
        redlatch.connect(f"{server}?{name}={value}").close()


def settings_of_java() -> dict[str, str]:
    """Each setting that has an effect, by its setter's name, with the default that its getter gives ("" for none)."""
    settings: dict[str, str] = {}
    for path in sorted((JAVA / "org" / "redisson" / "config").glob("*.java")):
        source = path.read_text()
        for name in re.findall(r'kept\.put\("(\w+)"', source):
            default = re.search(rf'kept\.get\("{name}", (.+)\);', source)
            settings[f"set{name[0].upper()}{name[1:]}"] = default[1] if default else ""
    return settings


def test_the_page_has_each_setting_of_java_that_has_an_effect() -> None:
    settings = settings_of_java()
    assert len(settings) > 20
    assert [name for name in settings if f"`{name}`" not in PAGE] == []


def test_the_page_has_no_setting_that_java_has_not() -> None:
    sources = "".join(path.read_text() for path in (JAVA / "org" / "redisson" / "config").glob("*.java"))
    named = {word for word in words(PAGE) if re.fullmatch(r"set[A-Z]\w+", word)}
    assert len(named) > 20
    assert [name for name in named if not re.search(rf" {name}\(", sources)] == []


def test_the_page_has_each_option_of_java_that_redisson_has_not() -> None:
    options = re.findall(r"public static \S+ (\w+)\(", (JAVA / "io" / "redlatch" / "Options.java").read_text())
    assert options
    assert [name for name in options if f"`Options.{name}`" not in PAGE] == []


#: What Java draws anew for each client, or has otherwise than the core, or without a default of its own, or not at all;
#: the page says so in the row.
OTHERWISE = {"retry_for", "sync", "turn", "flush"}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.default.endswith(" s") and row.name not in OTHERWISE], ids=lambda row: row.name
)
def test_a_time_has_the_same_default_in_java(row: Row) -> None:
    (setter,) = row.java
    ms = float(settings_of_java()[setter].rstrip("L"))
    assert f"{ms / 1000:g} s" == row.default


def test_the_page_tells_the_defaults_that_java_has_otherwise() -> None:
    settings = settings_of_java()
    (retries,) = (row for row in ROWS if row.name == "retry_for")
    (sync,) = (row for row in ROWS if row.name == "sync")
    delays = (JAVA / "org" / "redisson" / "config" / "BaseConfig.java").read_text()
    delay = r"new EqualJitterDelay\(Duration\.ofSeconds\((\d+)\), Duration\.ofSeconds\((\d+)\)\)"
    ((least, most),) = re.findall(delay, delays)
    limits = [min(int(least) * 2**attempt, int(most)) for attempt in range(int(settings["setRetryAttempts"]))]
    assert f"{sum(limits) / 2:g} to {sum(limits):g} s" in retries.meaning
    within = float(settings["setSlavesSyncTimeout"].rstrip("L")) / 1000
    assert settings["setCheckLockSyncedSlaves"] == "true"
    assert f"`connected(replicas=1,within={within})`" in sync.meaning


def test_the_methods_of_rust_on_the_page_are_there() -> None:
    reviewed = (ROOT / "tests" / "api" / "rust.txt").read_text()
    part = reviewed.partition("pub struct Config\n")[2].partition("\n\n")[0]
    methods = set(re.findall(r"pub fn (\w+)\(", part))
    options = {row.name for row in ROWS}
    told = set(re.findall(r"`Config::(\w+)\b", PAGE)) | options
    assert told <= methods
    # `from_url`, `from_redisson` and `server` choose nothing of their own.
    assert methods - told == {"from_url", "from_redisson", "server"}


def test_the_arguments_of_locks_on_the_page_are_there() -> None:
    part = PAGE.partition("## Of a lock\n")[2]
    first = [words(line)[:1] for line in part.splitlines()]
    python = {name for named in first for name in re.findall(r"^(\w+)=$", "".join(named))}
    makers = [maker for name, maker in inspect.getmembers(redlatch.Client) if name.startswith("get_") or name == "lock"]
    taken = {name for maker in makers for name in inspect.signature(maker).parameters}
    assert taken - {"self", "name", "locks", "values"} == python
    reviewed = (ROOT / "tests" / "api" / "rust.txt").read_text().partition("impl LockBuilder\n")[2].partition("\n\n")[0]
    builders = set(re.findall(r"pub fn (\w+)\(mut self", reviewed))
    assert set(re.findall(r"`\.(\w+)\(…\)`", part)) == builders
