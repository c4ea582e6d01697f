"""Runs the examples against a private server and shows what they print; ends with 1 if one of them fails.

The tests of the Python package run the Python examples.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "demo"))

from database import OneMariadb  # noqa: E402  the demo's
from keeper import OneZookeeper  # noqa: E402
from topologies import topology  # noqa: E402

# Of the whole workspace, as everywhere: another selection has other features, and cargo would build dependencies again.
CARGO = ["cargo", "build", "--locked", "--quiet", "--workspace", "--profile", "ci", "--examples", "--bins"]
#: Programs that need arguments: the second node finds the lock taken.
NIGHTLY = ROOT / "target/ci/examples/nightly"
ARGUMENTS = {
    "nightly": ["example:nightly", "sh", "-c", f"echo it runs here; {NIGHTLY} example:nightly true; test $? = 75"],
}
#: A program that moves to another system, of which `NEW_URL` names a server.
MOVING = [str(ROOT / "target/ci/examples/moving")]
# A project of its own, as that of a user.
SERVICE = ["cargo", "run", "--locked", "--quiet", "--manifest-path", "examples/service/Cargo.toml"]
# The consumers take the jar from a Maven repository under target/, so that the one in the home folder stays as it is.
REPOSITORY = f"-Dmaven.repo.local={ROOT / 'target/m2'}"
GRADLE = ["gradle", "--quiet", "--console=plain", REPOSITORY]
MAVEN = ["mvn", "--quiet", "--batch-mode", "-Dstyle.color=never", REPOSITORY]


def commands() -> list[list[str]]:
    """The commands, in this order."""
    return [
        CARGO,
        *(
            [str(ROOT / "target/ci/examples" / path.stem), *ARGUMENTS.get(path.stem, [])]
            for path in sorted(HERE.glob("rust/*.rs"))
        ),
        *([str(path)] for path in sorted(HERE.glob("shell/*.sh"))),
        [*SERVICE, "--target-dir", "target/service"],
        [*GRADLE, "-Pprofile=ci", ":publishToMavenLocal", ":spring:publishToMavenLocal"],
        [*GRADLE, "-p", "examples/java", "run"],
        *(
            [*MAVEN, "-f", "examples/java/pom.xml", "compile", "exec:java", f"-Dexec.mainClass={program}"]
            for program in ("Main", "Start", "Lose", "Orders", "Downloads", "Prices", "Ledger", "Documents")
        ),
        *(
            [
                *MAVEN,
                "-f",
                "examples/spring/pom.xml",
                f"-Dboot={boot}",
                "compile",
                "exec:java",
                "-Dexec.mainClass=shop.Customers",
            ]
            for boot in ("3.5.7", "4.0.7")
        ),
    ]


def main() -> int:
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="redlatch-examples-") as folder, topology(Path(folder)) as servers:
        others = [OneMariadb(Path(folder)).url, OneZookeeper(Path(folder)).url]
        for command in commands():
            for other in others if command == MOVING else [""]:
                print("$", *command, other, flush=True)
                path = f"{ROOT / 'target/ci'}{os.pathsep}{os.environ['PATH']}"
                environment = {**os.environ, "PATH": path, "REDLATCH_URL": servers.url, "NEW_URL": other}
                is_good = subprocess.run(command, cwd=ROOT, env=environment, timeout=300).returncode == 0
                passed, failed = passed + is_good, failed + (not is_good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
