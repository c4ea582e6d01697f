"""What agents with threads have in common: each command that arrives runs on its own thread, so a wait blocks none."""

import json
import sys
import threading


def serve(run):
    """Answers the commands with what `run` makes of each: the fields of an answer. It ends with the input."""
    answering = threading.Lock()

    def take(command):
        try:
            said = run(command)
        except Exception as e:
            said = {"error": type(e).__name__, "message": str(e)}
        with answering:
            print(json.dumps({"id": command["id"], **said}), flush=True)

    for line in sys.stdin:
        threading.Thread(target=take, args=(json.loads(line),), daemon=True).start()
