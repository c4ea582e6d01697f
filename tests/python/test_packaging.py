"""The package that users install has all that they need, and nothing else."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from servers import Server

ROOT = Path(__file__).parents[2]
MATURIN = shutil.which("maturin", path=str(Path(sys.executable).parent))

pytestmark = pytest.mark.skipif(MATURIN is None, reason="there is no maturin beside this Python")


def maturin(*arguments: str) -> None:
    # The same settings as those of `make`, so that nothing is compiled again.
    built = {"PYO3_BUILD_EXTENSION_MODULE": "1", "PYO3_CONFIG_FILE": str(ROOT / "python" / "native" / "pyo3.txt")}
    command = [str(MATURIN), *arguments]
    environment = {**os.environ, **built}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr


#: The extra `cli` takes the command of this version, which both packages have.
COMMAND_VERSION = "0.1"

# The wheel that `make wheel` has built for publishing. Without it the fixture builds one with the quick profile.
TO_PUBLISH = os.environ.get("REDLATCH_TEST_WHEEL")
# The same with the command in it.
COMMAND_TO_PUBLISH = os.environ.get("REDLATCH_TEST_COMMAND_WHEEL")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if TO_PUBLISH:
        return Path(TO_PUBLISH)
    folder = tmp_path_factory.mktemp("wheel")
    maturin("build", "--profile", "ci", "--out", str(folder))
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_one_wheel_is_for_all_pythons_from_3_9_on(wheel: Path) -> None:
    assert wheel.name.startswith("redlatch-0.1.0-cp39-abi3-linux_") or "manylinux" in wheel.name


@pytest.mark.skipif(TO_PUBLISH is None, reason="only what is published is built to be small; see `make wheel`")
def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= 5_000_000


def test_the_wheel_has_the_package_with_its_types_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
        metadata = email.message_from_bytes(files.read("redlatch-0.1.0.dist-info/METADATA"))
    sources = (ROOT / "python").glob("redlatch/**/*.py*")
    own = {str(path.relative_to(ROOT / "python")) for path in sources if path.suffix in (".py", ".pyi")}
    assert own | {"redlatch/py.typed", "redlatch/_redlatch.abi3.so"} <= names
    assert {name.split("/")[0] for name in names} <= {"redlatch", "redlatch-0.1.0.dist-info"}
    assert not [name for name in names if "test_" in name or name.endswith((".rs", ".lua", ".pyc"))]
    assert "redlatch-0.1.0.dist-info/licenses/LICENSE" in names
    assert not any("entry_points" in name for name in names)  # pytest, for one, would load a module that is named there
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "Apache-2.0"
    needed = metadata.get_all("Requires-Dist", [])
    assert all("extra == 'server'" in needs or "extra == 'cli'" in needs for needs in needed)
    (command,) = [needs for needs in needed if needs.startswith("redlatch-cli")]
    assert f"redlatch-cli=={COMMAND_VERSION}.*" in command.replace(" ", "")


PROGRAM = """
import sys, threading, redlatch
assert "site-packages" in redlatch.__file__, redlatch.__file__
assert threading.active_count() == 1
with redlatch.connect(sys.argv[1]) as client, client.get_lock("packaged") as hold:
    hold.ensure()
    print("held")
"""


def test_the_wheel_alone_is_enough(wheel: Path, tmp_path: Path, server: Server) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    (packages,) = venv.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(packages)
    command = [str(venv / "bin" / "python"), "-I", "-c", PROGRAM, server.url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("held\n", "")


def test_the_source_distribution_has_all_that_is_built(tmp_path: Path) -> None:
    maturin("sdist", "--out", str(tmp_path))
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as files:
        names = {name.split("/", 1)[1] for name in files.getnames()}
    built = [path for part in ("core/src", "core/scripts", "python") for path in (ROOT / part).rglob("*")]
    sources = {str(path.relative_to(ROOT)) for path in built if path.suffix in (".rs", ".lua", ".py", ".pyi", ".typed")}
    assert sources | {"pyproject.toml", "Cargo.toml", "Cargo.lock", "LICENSE", "README.md"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".so")) or name.startswith(("java/", "target/"))]


@pytest.mark.skipif(COMMAND_TO_PUBLISH is None, reason="its build takes minutes; see `make wheel`")
def test_the_extra_brings_the_command(wheel: Path, tmp_path: Path, server: Server) -> None:
    command = Path(str(COMMAND_TO_PUBLISH))
    assert command.name.startswith(f"redlatch_cli-{COMMAND_VERSION}.0-py3-none-linux_") or "manylinux" in command.name
    with zipfile.ZipFile(command) as files:
        names = set(files.namelist())
    program = "redlatch_cli-0.1.0.data/scripts/redlatch"
    assert {name for name in names if "dist-info" not in name} == {program}
    assert "redlatch_cli-0.1.0.dist-info/licenses/LICENSE" in names
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=60)
    pip = [str(venv / "bin" / "pip"), "install", "--no-index", "--quiet", "--disable-pip-version-check"]
    places = ["--find-links", str(wheel.parent), "--find-links", str(command.parent)]
    subprocess.run([*pip, *places, "redlatch[cli]"], check=True, timeout=60)
    words = [str(venv / "bin" / "redlatch"), "run", "--url", server.url, "packaged", "sh", "-c", "echo $REDLATCH_NAME"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("packaged\n", "")
