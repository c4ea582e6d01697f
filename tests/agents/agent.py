"""The Python agent: runs lock commands that arrive as JSON lines, each on its own thread: a wait blocks none."""

import json
import sys
import threading

from commands import answer, begun

import redlatch

answering = threading.Lock()


def run(client, command):
    if command["do"] == "id":
        return {"ok": client.id}
    given, then = begun(client, command)
    return answer(given, then)


def take(client, command):
    try:
        said = run(client, command)
    except Exception as e:
        said = {"error": type(e).__name__, "message": str(e)}
    with answering:
        print(json.dumps({"id": command["id"], **said}), flush=True)


def main():
    client = redlatch.connect(sys.argv[1])
    for line in sys.stdin:
        threading.Thread(target=take, args=(client, json.loads(line)), daemon=True).start()


if __name__ == "__main__":
    main()
