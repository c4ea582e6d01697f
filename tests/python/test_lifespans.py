"""The end of a web server releases the locks of its application, if the client lives as long as the application.

The guide shows how to write such an application.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sites
from servers import Server
from view import View

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"

#: The application of the guide.
(RECIPE,) = (
    block
    for block in re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    if "lifespan=" in block
)
KEEPS = """
@app.get("/ready")
async def ready():
    return "ready"

@app.get("/keep")
async def keep(request: Request):
    app.state.kept = await {client}.lock(f"{{NAME}}:kept", wait=PATIENCE).lock()
    return "kept"
"""
#: An application whose client is a variable of its module.
GLOBAL = f"""
from fastapi import FastAPI, Request

app = FastAPI()
{KEEPS.format(client="aio_client")}
"""

SERVERS = {
    "uvicorn": ("uvicorn", "site_:app", "--port", "{port}", "--log-level", "warning"),
    "workers of uvicorn": ("uvicorn", "site_:app", "--port", "{port}", "--log-level", "warning", "--workers", "2"),
    "gunicorn": ("gunicorn", "-k", "asgi", "--bind", "127.0.0.1:{port}", "site_:app"),
    "gunicorn's uvicorn": (
        "gunicorn",
        "-k",
        "uvicorn.workers.UvicornWorker",
        "--bind",
        "127.0.0.1:{port}",
        "site_:app",
    ),
}


@pytest.mark.parametrize("command", SERVERS.values(), ids=list(SERVERS))
def test_the_end_of_a_server_releases_the_locks_of_a_client_of_the_lifespan(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    view: View,
    name: str,
    command: tuple[str, ...],
) -> None:
    monkeypatch.setenv("REDLATCH_URL", server.url)
    text = RECIPE + KEEPS.format(client="request.app.state.locks")
    with sites.running(tmp_path, server, name, "lock", text, *command) as site:
        assert site.get("/keep") == (200, '"kept"')
        assert site.keys() == [f"{name}:kept"]
        assert site.get("/charge/42") == (200, '"charged"')
    assert view("KEYS", f"{name}:*") == []


def test_a_client_for_threads_lives_as_long_as_the_application_as_well(
    tmp_path: Path, server: Server, view: View, name: str
) -> None:
    recipe = RECIPE.replace("async with aio.connect()", 'with redlatch.connect(os.environ["URL"])')
    assert recipe != RECIPE
    keeps = KEEPS.format(client="request.app.state.locks").replace("async def keep", "def keep").replace("await ", "")
    with sites.running(tmp_path, server, name, "lock", recipe + keeps, *SERVERS["uvicorn"]) as site:
        assert site.get("/keep") == (200, '"kept"')
        assert site.keys() == [f"{name}:kept"]
    assert view("KEYS", f"{name}:*") == []


@pytest.mark.parametrize(
    ("ends_as", "left"), [("uvicorn", 1), ("workers of uvicorn", 1), ("gunicorn's uvicorn", 1), ("gunicorn", 0)]
)
def test_a_lock_of_a_client_of_a_module_ends_with_its_lease_where_the_guide_says_so(
    tmp_path: Path, server: Server, view: View, name: str, ends_as: str, left: int
) -> None:
    with sites.running(tmp_path, server, name, "lock", GLOBAL, *SERVERS[ends_as]) as site:
        assert site.get("/keep") == (200, '"kept"')
    keys = view("KEYS", f"{name}:*")
    assert keys == [f"{name}:kept"][:left]
    assert all(0 < int(str(view("PTTL", key))) <= 30_000 for key in [f"{name}:kept"][:left])
