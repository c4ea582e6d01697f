"""The Python agent: runs lock commands that arrive as JSON lines, each on its own thread."""

import sys

from commands import answer, begun
from threads import serve

import redlatch


def main():
    client = redlatch.connect(sys.argv[1])

    def run(command):
        if command["do"] == "id":
            return {"ok": client.id}
        given, then = begun(client, command)
        return answer(given, then)

    serve(run)


if __name__ == "__main__":
    main()
