"""Writes docs/performance.md and its pictures; `python3 -m harness.report` does so again out of the last whole run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import plots, table
from harness.row import Row
from harness.rows import ROWS

BENCH = Path(__file__).parents[1]
PAGE, PICTURES = BENCH.parent / "docs/performance.md", BENCH.parent / "docs/performance"


def write(result: dict[str, Any]) -> None:
    PICTURES.mkdir(exist_ok=True)
    options, about = result["options"], result["machine"]
    head = (
        (BENCH / "performance.md")
        .read_text()
        .format(
            at=result["at"].split()[0],
            rounds=options["rounds"],
            warm=f"{options['warm']:g}",
            minutes=result["minutes"],
            **about,
        )
    )
    missed = (BENCH / "missed.md").read_text()
    parts = [head, *(section(row, result) for row in ROWS), *curves(result), missed, *unable(result)]
    PAGE.write_text("\n".join(filter(None, parts)))


def section(row: Row, result: dict[str, Any]) -> str:
    """A heading, a picture, and a table for each mode."""
    here = [w for w in result["windows"] if w["row"] == row.key]
    if not here:
        return ""
    parts = [f"## {row.title[0].upper()}{row.title[1:]}\n"]
    if row.plot:
        parts.append(picture(row, here))
    for mode in row.modes + row.once:
        windows = [w for w in here if w["mode"] == mode]
        if windows:
            name = (
                f"{mode[0].upper()}{mode[1:]}; {table.caption(windows)}"
                if mode
                else table.caption(windows).capitalize()
            )
            parts.append(f"{name}.\n\n{markdown(table.lines(row, windows))}\n")
    return "\n".join(parts)


def picture(row: Row, windows: list[table.Window]) -> str:
    column = next(column for column in row.columns if column.figure == row.plot and column.against is None)
    windows = [w for w in windows if w["mode"] == row.modes[0]]
    values = {peer: table.value(column, peer, windows) for peer in row.peers}
    figures = {peer: value for peer, value in values.items() if value}
    title = row.title + (f"; {row.modes[0]}" if row.modes[0] else "")
    plots.bars(PICTURES / f"{row.key}.svg", title, column.title, figures)
    return f"![{row.title}](performance/{row.key}.svg)\n"


def markdown(cells: list[list[str]]) -> str:
    rows = ["| " + " | ".join(line) + " |" for line in cells]
    rows.insert(1, "|---|" + "---:|" * (len(cells[0]) - 1))
    return "\n".join(rows)


def curves(result: dict[str, Any]) -> list[str]:
    drawn = plots.curves(PICTURES, result["points"])
    if not drawn:
        return []
    return [
        "## As numbers grow\n",
        *(f"![{curve.title}, by {curve.counted}](performance/{name})\n" for curve, name in drawn),
    ]


def unable(result: dict[str, Any]) -> list[str]:
    """The peers that are missing in a row."""
    titles = {row.key: row.title for row in ROWS}
    cannot = [f"- {peer}: {titles.get(key, key)}" for key, peer in result["cannot"]]
    broken = [f"- {line}" for line in result["broken"]]
    parts = ["## Not supported\n", "\n".join(cannot) + "\n"] if cannot else []
    return parts + (["## Broken in this run\n", "\n".join(broken) + "\n"] if broken else [])


if __name__ == "__main__":
    write(json.loads((BENCH / "results/full.json").read_text()))
