"""The site of the documentation, built by Sphinx from the pages as they stand in the repository; `make docs` does so.

The pages stay plain Markdown, which GitHub shows as well. This file adds what only a site has: the navigation, which is
the list in docs/README.md; tabs, made of blocks of code in several languages that follow each other; pages that show
the source files to which the guides link.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx_inline_tabs._impl import TabContainer

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "docs" / "README.md"
#: Where a page of docs/ stands that the lists do not name.
OTHERS = "Guides"
LANGUAGES = {"python": "Python", "java": "Java", "rust": "Rust", "sh": "Shell"}

project = "redlatch"
html_title = "redlatch"
author = "the authors of redlatch"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_inline_tabs"]
root_doc = "README"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/site/*.md",
    "bench/README.md",
    "core/scripts/README.md",
    "tests/nets/README.md",
    "tests/session_nets/README.md",
]
exclude_patterns = ["target", "build", ".git", ".gradle", "examples", "java", "python", "cli"]

myst_heading_anchors = 4
# Blocks in the guides leave parts out: `{ … }`.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"
# `name` in a docstring is code.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "inherited-members": "Exception,tuple", "show-inheritance": True}

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp"


def navigation() -> dict[str, list[tuple[str, str]]]:
    """The titles and pages of each section: those that the lists name, and behind them the other pages of docs/."""
    parts: dict[str, list[tuple[str, str]]] = {}
    for line in LISTS.read_text().splitlines():
        if line.startswith("## "):
            parts[line[3:]] = []
        elif item := re.match(r"- \[(.+)\]\((.+)\.md\)", line):
            title, page = item.groups()
            path = (LISTS.parent / page).resolve().relative_to(ROOT)
            parts[list(parts)[-1]].append((title, path.as_posix()))
    listed = {page for pages in parts.values() for _, page in pages}
    for path in sorted(LISTS.parent.glob("*.md")):
        page = f"docs/{path.stem}"
        if path != LISTS and page not in listed:
            title = re.search(r"^# (.+)$", path.read_text(), re.MULTILINE)
            parts[OTHERS].append((title[1] if title else path.stem, page))
    return parts


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    if page == root_doc:
        for section, pages in navigation().items():
            entries = "\n".join(f"{title} </{path}>" for title, path in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {section}\n\n{entries}\n```\n"
    elif page.startswith("tests/") or page == "docs/README":
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def make_tabs(app: Sphinx, document: nodes.document) -> None:
    """Puts blocks of code in several languages that follow each other into one set of tabs."""
    blocks = [block for block in document.findall(nodes.literal_block) if block.get("language") in LANGUAGES]
    sets: list[list[nodes.literal_block]] = []
    for block in blocks:
        before = sets[-1][-1] if sets else None
        follows = before is not None and before.next_node(descend=False, siblings=True) is block
        if follows and block["language"] not in {one["language"] for one in sets[-1]}:
            sets[-1].append(block)
        else:
            sets.append([block])
    for blocks in sets:
        for block in blocks if len(blocks) > 1 else []:
            name = LANGUAGES[block["language"]]
            tab = TabContainer("", type="tab", new_set=block is blocks[0])
            block.replace_self(tab)
            tab += nodes.label("", "", nodes.Text(name))
            tab += nodes.container("", block, is_div=True, classes=["tab-content"])


def show_sources(app: Sphinx, document: nodes.document) -> None:
    """Has a link to a source file lead to a page of the site that shows it; a folder is named and not linked."""
    page = app.env.docname
    shown: set[str] = app.env.__dict__.setdefault("redlatch_sources", set())
    for link in list(document.findall(addnodes.download_reference)):
        path = (ROOT / page).parent / link["reftarget"]
        name = path.resolve().relative_to(ROOT).as_posix()
        shown.add(name)
        up = "../" * page.count("/")
        link.replace_self(nodes.reference("", "", *link.children, refuri=f"{up}{name}.html", internal=True))
    for link in list(document.findall(addnodes.pending_xref)):
        is_path = link.get("reftype") == "myst" and link.get("refdomain") is None
        if is_path and ((ROOT / page).parent / link["reftarget"]).is_dir():
            link.replace_self(nodes.inline("", "", *link.children))


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    formatter = HtmlFormatter(nowrap=False)
    for name in sorted(app.env.__dict__.get("redlatch_sources", ())):
        path = ROOT / name
        body = highlight(path.read_text(), get_lexer_for_filename(path.name), formatter)
        yield name, {"title": path.name, "body": f"<h1>{name}</h1>{body}"}, "page.html"


def name_the_first_page(app: Sphinx, error: Exception | None) -> None:
    """Servers show index.html for a folder."""
    if error is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def drop_block(app: Sphinx, kind: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Leaves the block of code out with which the docstring of the package ends: the guides have longer ones."""
    if kind == "module":
        del lines[1:]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", make_tabs, priority=400)
    app.connect("doctree-read", show_sources, priority=400)
    app.connect("html-collect-pages", source_pages)
    app.connect("autodoc-process-docstring", drop_block)
    app.connect("build-finished", name_the_first_page)
    return {"parallel_read_safe": False}
