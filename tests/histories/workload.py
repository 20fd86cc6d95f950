"""What each client does, again and again, until it is to end: a random operation on what all of them use.

Objects, tags and branches have names of an epoch of ten seconds, and are few: clients meet, and no register's history
grows long. Every written value is unique.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.histories.client import Answer, Client, etag_of
from tests.histories.history import Event, Outcome

EPOCH = 10.0
OBJECTS, NAMES = 4, 3
"""Objects, and tags and branches each, of an epoch."""

MAIN, TRUNK = "main", "trunk"
"""Clients write and commit on one, and merge into the other: a merge needs a branch without writers."""

_PAUSE = 0.06
_NO_CHANGES = {400: "no_changes"}
_TRIES = 4
"""Requests with one idempotency key, until one is answered."""


class Shared:
    """What clients know of each other: the time, commits that were acknowledged, paths that merges bring."""

    def __init__(self, first_commit: str) -> None:
        self.started = time.monotonic()
        self.ending = threading.Event()
        self.commits: deque[str] = deque([first_commit], maxlen=20)
        self.merged: deque[str] = deque(maxlen=8)

    def epoch(self, at: float | None = None) -> int:
        """Which epoch it is, or was."""
        return int(((time.monotonic() if at is None else at) - self.started) / EPOCH)


class Workload:
    """The operations of one client."""

    def __init__(self, client: Client, shared: Shared) -> None:
        self.client = client
        self.shared = shared
        self._count = 0
        self._last: dict[str, str] = {}  # what an object held when this client looked last
        self._ways: dict[Callable[[], None], int] = {
            self.get: 24, self.put: 14, self.delete: 4, self.create: 6, self.replace: 12, self.take: 4,
            self.commit: 6, self.head: 8, self.merge: 4, self.get_merged: 5,
            self.create_name: 8, self.get_name: 8, self.delete_name: 5,
        }  # fmt: skip

    def run(self) -> None:
        """Work until the end."""
        chance = self.client.chance
        while not self.shared.ending.wait(chance.uniform(0, _PAUSE)):
            chance.choices(list(self._ways), list(self._ways.values()))[0]()

    def get(self) -> None:
        self._get(MAIN, self._object(), self._last)

    def get_merged(self) -> None:
        if self.shared.merged:
            self._get(TRUNK, self.client.chance.choice(list(self.shared.merged)), {})

    def put(self) -> None:
        self._write("put", self._object())

    def create(self) -> None:
        self._write("create", self._object(), {"If-None-Match": "*"})

    def replace(self) -> None:
        path = self._object()
        expected = self._last.get(path)
        if expected is None:
            self._get(MAIN, path, self._last)
        else:
            self._write("replace", path, {"If-Match": f'"{etag_of(expected)}"'}, expected)

    def take(self) -> None:
        path = self._object()
        if (expected := self._last.get(path)) is None:
            self._get(MAIN, path, self._last)
        else:
            self._delete("take", path, {"If-Match": f'"{etag_of(expected)}"'}, expected)

    def delete(self) -> None:
        self._delete("delete", self._object())

    def head(self) -> None:
        branch = self.client.chance.choice([MAIN, MAIN, TRUNK])
        answer = self.client.ask("GET", f"/branches/{branch}")
        seen = answer.json()["commit_id"] if answer.outcome == "ok" else None
        self.client.note(answer, "head", f"head {branch}", seen=seen)

    def commit(self) -> None:
        message = self._fresh()
        answer = self._once(f"/branches/{MAIN}/commits", {"message": message}, message, _NO_CHANGES)
        seen = answer.json()["id"] if answer.outcome == "ok" else None
        if seen is not None:
            self.shared.commits.append(seen)
        self.client.note(answer, "commit", f"head {MAIN}", value=message, seen=seen)

    def merge(self) -> None:
        """Commit one new path on a branch of its own, and merge that commit."""
        name = self._fresh()
        path, side = f"merged/{name}", f"side-{name}"
        if self._side("POST", "/branches", json={"name": side, "source": TRUNK}) is None:
            return
        if self._side("POST", f"/branches/{side}/objects", params={"path": path}, content=name.encode()) is None:
            return
        committed = self._side("POST", f"/branches/{side}/commits", json={"message": f"side {name}"})
        if committed is None:
            return
        self.shared.merged.append(path)
        answer = self._once(f"/refs/{committed.json()['id']}/merge/{TRUNK}", {"message": name}, name)
        seen = answer.json()["reference"] if answer.outcome == "ok" else None
        key2 = f"object {TRUNK} {path}"
        self.client.note(answer, "merge", f"head {TRUNK}", value=name, seen=seen, key2=key2, content=name)
        self._side("DELETE", f"/branches/{side}")

    def _side(self, method: str, target: str, **given: Any) -> Answer | None:
        """A step on a branch that no other client knows; None when it is not known to have been done."""
        answer = self.client.ask(method, target, **given)
        self.client.note(answer, "side", f"side {target}")
        return answer if answer.outcome == "ok" else None

    def create_name(self) -> None:
        kind, name = self._name()
        commit = self.client.chance.choice(list(self.shared.commits))
        body = {"id": name, "ref": commit} if kind == "tag" else {"name": name, "source": commit}
        answer = self.client.ask("POST", "/tags" if kind == "tag" else "/branches", json=body, refused=(409,))
        self.client.note(answer, f"create {kind}", f"{kind} {name}", value=commit)

    def get_name(self) -> None:
        self._get_name(*self._name())

    def delete_name(self) -> None:
        kind, name = self._name()
        answer = self.client.ask("DELETE", f"{_folder(kind)}/{name}", refused=(404,))
        self.client.note(answer, f"delete {kind}", f"{kind} {name}")

    def read_again(self, events: list[Event]) -> None:
        """Read all that the events are about: what is there in the end belongs to the history."""
        for key in sorted({one.key for one in events} | {one.key2 for one in events}):
            kind, _, name = key.partition(" ")
            for _ in range(_TRIES):
                branch, _, path = name.partition(" ")
                if kind == "object" and self._get(branch, path, {}) == "ok":
                    break
                if kind in ("tag", "branch") and self._get_name(kind, name) == "ok":
                    break

    def _get(self, branch: str, path: str, last: dict[str, str]) -> Outcome:
        answer = self.client.ask("GET", f"/refs/{branch}/objects", params={"path": path}, ok=(200, 404))
        seen = answer.body if answer.found else None
        if answer.outcome == "ok":
            last.pop(path, None)
        if seen is not None:
            last[path] = seen
        self.client.note(answer, "get", f"object {branch} {path}", seen=seen)
        return answer.outcome

    def _get_name(self, kind: str, name: str) -> Outcome:
        answer = self.client.ask("GET", f"{_folder(kind)}/{name}", ok=(200, 404))
        seen = answer.json()["commit_id"] if answer.found else None
        self.client.note(answer, f"get {kind}", f"{kind} {name}", seen=seen)
        return answer.outcome

    def _write(self, act: str, path: str, headers: dict[str, str] | None = None, expected: str | None = None) -> None:
        value = self._fresh()
        target = f"/branches/{MAIN}/objects"
        content = value.encode()
        answer = self.client.ask(
            "POST", target, params={"path": path}, headers=headers, content=content, refused=(412,) if headers else ()
        )
        if answer.outcome == "ok":
            self._last[path] = value
        self.client.note(answer, act, f"object {MAIN} {path}", value=value, expected=expected)

    def _delete(self, act: str, path: str, headers: dict[str, str] | None = None, expected: str | None = None) -> None:
        answer = self.client.ask(
            "DELETE", f"/branches/{MAIN}/objects", params={"path": path}, headers=headers,
            refused=(412,) if headers else (),
        )  # fmt: skip
        self.client.note(answer, act, f"object {MAIN} {path}", expected=expected)

    def _once(self, target: str, body: dict[str, str], key: str, known: dict[int, str] | None = None) -> Answer:
        """A commit or a merge: half of them with an idempotency key, and sent again with it until one is answered."""
        headers = {"Idempotency-Key": key} if self.client.chance.random() < 0.5 else {}
        answer = self.client.ask("POST", target, json=body, known=known, headers=headers)
        call, lost = answer.call, False
        for _ in range(_TRIES if headers else 0):
            if answer.outcome == "ok" or (answer.outcome == "failed" and not lost):
                break
            lost = True
            answer = self.client.ask("POST", target, json=body, known=known, headers=headers)
        outcome = "unknown" if lost and answer.outcome == "failed" else answer.outcome
        return replace(answer, outcome=outcome, call=call)

    def _fresh(self) -> str:
        self._count += 1
        return f"c{self.client.number}-{self._count}"

    def _object(self) -> str:
        return f"e{self.shared.epoch()}/k{self.client.chance.randrange(OBJECTS)}"

    def _name(self) -> tuple[str, str]:
        kind = self.client.chance.choice(["tag", "branch"])
        return kind, f"{kind[0]}{self.shared.epoch()}-{self.client.chance.randrange(NAMES)}"


def _folder(kind: str) -> str:
    return "/tags" if kind == "tag" else "/branches"
