# A store of objects, as S3 and its like, that refuses a writer whose lock is over. Such a store compares no numbers,
# but writes on the condition that the object still has the version that was read. Needs a server at REDLATCH_URL.
from __future__ import annotations

import json
import threading
from typing import NamedTuple

import redlatch


class Read(NamedTuple):
    body: str
    version: int


class Objects:
    """Stands for the store: `put` is that of S3 with `If-Match`."""

    def __init__(self) -> None:
        self._objects: dict[str, Read] = {}
        self._guard = threading.Lock()

    def get(self, key: str) -> Read:
        return self._objects.get(key, Read('{"token": 0, "text": ""}', 0))

    def put(self, key: str, body: str, if_match: int) -> bool:
        with self._guard:
            if self.get(key).version != if_match:
                return False  # 412 Precondition Failed
            self._objects[key] = Read(body, if_match + 1)
            return True


def write(objects: Objects, key: str, text: str, token: int) -> bool:
    """Whether the store took it. The token is in the object; the version makes comparing and writing one step."""
    while True:
        read = objects.get(key)
        if json.loads(read.body)["token"] > token:
            return False  # a later holder has written
        if objects.put(key, json.dumps({"token": token, "text": text}), if_match=read.version):
            return True


with redlatch.connect() as first, redlatch.connect() as second:
    objects = Objects()
    paused = first.get_fenced_lock("example:document", wait=5).lock()
    second.get_fenced_lock("example:document").force_unlock()  # lost while the first process stands still
    with second.get_fenced_lock("example:document", wait=5) as hold:
        assert hold.token is not None
        assert write(objects, "report.json", "new", hold.token)

    assert paused.token is not None
    print(f"the old writer is refused: {not write(objects, 'report.json', 'old', paused.token)}")
    print(objects.get("report.json").body)
    assert json.loads(objects.get("report.json").body)["text"] == "new"
