"""The package that users install has all that they need, and nothing else."""

from __future__ import annotations

import email
import json
import os
import re
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


def assert_old_glibc_suffices(wheel: Path, file: str, folder: Path) -> None:
    """That what is published is for glibc 2.17, by its tag and by the symbols that the loader looks for."""
    assert "manylinux_2_17_" in wheel.name
    with zipfile.ZipFile(wheel) as files:
        binary = files.extract(file, folder)
    symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, timeout=60, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    assert versions
    assert max(versions) <= (2, 17)


@pytest.mark.skipif(TO_PUBLISH is None, reason="only what is published is linked for an old glibc; see `make wheel`")
def test_the_wheel_runs_with_an_old_glibc(wheel: Path, tmp_path: Path) -> None:
    assert_old_glibc_suffices(wheel, "redlatch/_redlatch.abi3.so", tmp_path)


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
    assert not any("entry_points" in name for name in names)  # pytest, for one, would load a module that is named there
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "Apache-2.0"
    needed = metadata.get_all("Requires-Dist", [])
    extras = [f"extra == '{extra}'" for extra in ("cli", "otel", "prometheus", "server")]
    assert all(any(extra in needs for extra in extras) for needs in needed)
    (command,) = [needs for needs in needed if needs.startswith("redlatch-cli")]
    assert f"redlatch-cli=={COMMAND_VERSION}.*" in command.replace(" ", "")


def assert_licences(wheel: Path, crate: str, notices: str, home: str) -> None:
    """That a wheel has its licence, and those and the list of the crates that are linked in."""
    (info,) = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in name}
    with zipfile.ZipFile(wheel) as files:
        assert files.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        assert files.read(f"{info}/licenses/{notices}") == (ROOT / crate / "THIRD-PARTY-NOTICES.txt").read_bytes()
        assert files.read(f"{info}/sboms/sbom.cdx.json") == (ROOT / crate / "sbom.cdx.json").read_bytes()
        assert f"\nProject-URL: Repository, {home}\n" in files.read(f"{info}/METADATA").decode()


def home() -> str:
    """The address of the project, which each build has in one place."""
    places = ["Cargo.toml", "pyproject.toml", "cli/pyproject.toml", "java/published.gradle"]
    found = {
        place: re.findall(r"https://github\.com/redlatch/\w+|example\.invalid", (ROOT / place).read_text())
        for place in places
    }
    assert all(len(homes) == 1 for homes in found.values()), found
    (address,) = {str(homes[0]) for homes in found.values()}
    return address


def test_the_wheel_has_the_licences_of_all_that_is_in_it(wheel: Path) -> None:
    assert_licences(wheel, "python/native", "python/native/THIRD-PARTY-NOTICES.txt", home())


@pytest.mark.parametrize(
    ("package", "folder"),
    [("redlatch-jni", "java/native"), ("redlatch-python", "python/native"), ("redlatch-cli", "cli")],
)
def test_every_crate_that_is_linked_in_is_named(package: str, folder: str) -> None:
    words = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro", "--prefix", "none"]
    tree = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    # Our own crates have a folder behind the version.
    linked = set(re.findall(r"^(\S+) v(\S+)(?: \(\*\))?$", tree, re.MULTILINE))
    notices = (ROOT / folder / "THIRD-PARTY-NOTICES.txt").read_text()
    named = set(re.findall(r"^([a-z][\w-]*) (\d+\.\d+\.\d+\S*)(?:  http\S*)?$", notices, re.MULTILINE))
    bill = json.loads((ROOT / folder / "sbom.cdx.json").read_text())
    components = {(component["name"], component["version"]) for component in bill["components"]}
    locked = set(re.findall(r'^name = "(.*)"\nversion = "(.*)"$', (ROOT / "Cargo.lock").read_text(), re.MULTILINE))
    renew = "write the files anew with `make notices`"
    assert len(linked) > 50
    assert tree.startswith(f"{package} v{bill['metadata']['component']['version']} "), renew
    assert linked - named == set(), renew
    assert named - locked == set(), renew
    assert components == named, renew


def test_the_bill_of_a_wheel_names_each_crate_as_its_registry_does() -> None:
    bill = json.loads((ROOT / "python" / "native" / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    for component in bill["components"]:
        assert component["purl"] == f"pkg:cargo/{component['name']}@{component['version']}"
        assert component["licenses"][0]["expression"]
        assert re.fullmatch("[0-9a-f]{64}", component["hashes"][0]["content"])


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


def unpacked(wheel: Path, folder: Path) -> Path:
    """The native module of a wheel that is unpacked into a folder."""
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return folder / "redlatch" / "_redlatch.abi3.so"


def failed_import(folder: Path) -> str:
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); import redlatch"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    return ended.stderr.splitlines()[-1]


def test_a_module_for_a_newer_c_library_is_told_which_one_it_needs(wheel: Path, tmp_path: Path) -> None:
    module = unpacked(wheel, tmp_path)
    content = module.read_bytes()
    needed = max(re.findall(rb"GLIBC_2\.(\d+)", content), key=int)
    # No system has that one: to the loader, every one is too old.
    module.write_bytes(content.replace(b"GLIBC_2." + needed, b"GLIBC_9." + needed))
    error = failed_import(tmp_path)
    assert re.match(r"ImportError: .* cannot be loaded on linux-\w+ with glibc 2\.\d+, CPython 3\.", error)
    assert f"it needs at least glibc 9.{needed.decode()}:" in error
    assert "--no-binary redlatch" in error


def test_a_platform_without_a_module_is_named_with_what_to_do(wheel: Path, tmp_path: Path) -> None:
    unpacked(wheel, tmp_path).unlink()
    error = failed_import(tmp_path)
    assert re.match(r"ImportError: .* cannot be loaded on linux-\w+ with glibc 2\.\d+, CPython 3\.", error)
    assert "No module named 'redlatch._redlatch'" in error
    assert "--no-binary redlatch" in error


def source_distribution(folder: Path, *arguments: str) -> set[str]:
    """Builds one as a release does, unpacks it into the folder and gives the names in it."""
    maturin("sdist", *arguments, "--out", str(folder))
    (sdist,) = folder.glob("*.tar.gz")
    subprocess.run([ROOT / ".ci" / "trim-sources", sdist], check=True, timeout=60)
    with tarfile.open(sdist) as files:
        names = files.getnames()
        files.extractall(folder, filter="data")
    # Else the lock file is not that of these sources, and cargo would write another one.
    words = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    sources = folder / names[0].split("/")[0]
    locked = subprocess.run(words, cwd=sources, capture_output=True, text=True, timeout=60, check=False)
    assert locked.returncode == 0, locked.stderr
    return {name.split("/", 1)[1] for name in names}


def sources_of(*parts: str) -> set[str]:
    built = [path for part in parts for path in (ROOT / part).rglob("*")]
    return {str(path.relative_to(ROOT)) for path in built if path.suffix in (".rs", ".lua", ".py", ".pyi", ".typed")}


def test_the_source_distribution_has_all_that_is_built(tmp_path: Path) -> None:
    names = source_distribution(tmp_path)
    licences = {"LICENSE", "python/native/THIRD-PARTY-NOTICES.txt", "python/native/sbom.cdx.json"}
    files = {"pyproject.toml", "Cargo.toml", "Cargo.lock", "python/README.md"}
    assert sources_of("core/src", "core/scripts", "python") | licences | files <= names
    assert not [name for name in names if name.endswith((".pyc", ".so"))]
    assert not [name for name in names if name.startswith(("java/", "target/", "tests/"))]


def test_the_source_distribution_of_the_command_has_all_that_is_built_and_no_tests(tmp_path: Path) -> None:
    names = source_distribution(tmp_path, "--manifest-path", "cli/Cargo.toml")
    licences = {"LICENSE", "THIRD-PARTY-NOTICES.txt", "cli/sbom.cdx.json"}
    files = {"pyproject.toml", "Cargo.toml", "Cargo.lock", "README.md"}
    assert sources_of("core/src", "core/scripts", "cli/src") | licences | files <= names
    assert not [name for name in names if name.startswith(("java/", "target/", "tests/", "cli/tests/"))]


@pytest.mark.skipif(COMMAND_TO_PUBLISH is None, reason="its build takes minutes; see `make wheel`")
def test_the_extra_brings_the_command(wheel: Path, tmp_path: Path, server: Server) -> None:
    command = Path(str(COMMAND_TO_PUBLISH))
    assert command.name.startswith(f"redlatch_cli-{COMMAND_VERSION}.0-py3-none-manylinux")
    with zipfile.ZipFile(command) as files:
        names = set(files.namelist())
    program = "redlatch_cli-0.1.0.data/scripts/redlatch"
    assert {name for name in names if "dist-info" not in name} == {program}
    assert_licences(command, "cli", "THIRD-PARTY-NOTICES.txt", home())
    assert_old_glibc_suffices(command, program, tmp_path)
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=60)
    pip = [str(venv / "bin" / "pip"), "install", "--no-index", "--quiet", "--disable-pip-version-check"]
    places = ["--find-links", str(wheel.parent), "--find-links", str(command.parent)]
    subprocess.run([*pip, *places, "redlatch[cli]"], check=True, timeout=60)
    words = [str(venv / "bin" / "redlatch"), "run", "--url", server.url, "packaged", "sh", "-c", "echo $REDLATCH_NAME"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("packaged\n", "")
