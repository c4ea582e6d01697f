"""Whether a Maven repository has all of each artifact: `published.py REPOSITORY`."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
REPOSITORY = Path(sys.argv[1])
VERSION = "0.1.0"
NATIVE = ["redlatch", "redlatch-beside"]
KOTLIN = "redlatch-kotlin"
ARTIFACTS = [*NATIVE, "redlatch-spring-boot-starter", KOTLIN]
HOME = "https://github.com/redlatch/redlatch"
#: Maven's central repository refuses a POM without one of these.
WANTED = {
    "url": HOME,
    "licenses/license/name": "Apache-2.0",
    "licenses/license/url": "https://www.apache.org/licenses/LICENSE-2.0.txt",
    "developers/developer/name": "The developers of redlatch",
    "scm/url": HOME,
    "scm/connection": f"scm:git:{HOME}.git",
    "version": VERSION,
}


def stem(artifact: str) -> Path:
    return REPOSITORY / "io" / "redlatch" / artifact / VERSION / f"{artifact}-{VERSION}"


def pom(artifact: str) -> ElementTree.Element:
    text = Path(f"{stem(artifact)}.pom").read_text()
    assert "example.invalid" not in text
    root = ElementTree.fromstring(text.replace('xmlns="http://maven.apache.org/POM/4.0.0"', ""))
    for path, wanted in {**WANTED, "name": artifact, "artifactId": artifact}.items():
        assert root.findtext(path) == wanted, f"the POM of {artifact} has not {wanted!r} as its {path}"
    assert root.findtext("description"), f"the POM of {artifact} has no description"
    return root


def content(archive: zipfile.ZipFile, name: str, source: str) -> None:
    assert archive.read(name) == (ROOT / source).read_bytes(), f"{name} in {archive.filename} is not {source}"


for artifact in ARTIFACTS:
    pom(artifact)
    # Nothing here turns Kotlin's comments into pages.
    sources, pages = (".kt", "META-INF/LICENSE") if artifact == KOTLIN else (".java", "index.html")
    for suffix, entry in {"": ".class", "-sources": sources, "-javadoc": pages}.items():
        with zipfile.ZipFile(f"{stem(artifact)}{suffix}.jar") as jar:
            names = jar.namelist()
            assert any(name.endswith(entry) for name in names), f"{jar.filename} has no {entry}"
            assert len(names) == len(set(names)), f"{jar.filename} has an entry twice"
            content(jar, "META-INF/LICENSE", "LICENSE")
            # A class that only the library of the newest Kotlin has.
            assert not any(b"SpillingKt" in jar.read(name) for name in names if artifact == KOTLIN), jar.filename
            if artifact in NATIVE and not suffix:
                content(jar, "META-INF/THIRD-PARTY-NOTICES.txt", "java/native/THIRD-PARTY-NOTICES.txt")
                content(jar, "META-INF/sbom/redlatch-jni.cdx.json", "java/native/sbom.cdx.json")
managed = pom("redlatch-bom").findall("dependencyManagement/dependencies/dependency")
assert [entry.findtext("artifactId") for entry in managed] == ARTIFACTS
assert {entry.findtext("version") for entry in managed} == {VERSION}
print("published: " + ", ".join([*ARTIFACTS, "redlatch-bom"]))
