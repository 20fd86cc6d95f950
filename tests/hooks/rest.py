"""A repository over REST, for tests of hooks: each operation that changes history, as one call."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

import httpx

_names = itertools.count(1)


def action_file(event: str, url: str, *, name: str = "checks", timeout: str = "1s", more: str = "") -> str:
    """An action with one webhook on one event."""
    return (
        f"name: {name}\non:\n  {event}:\nhooks:\n  - id: rule\n    type: webhook\n    properties:\n"
        f"      url: {url}\n      timeout: {timeout}\n{more}"
    )


@dataclass
class Rest:
    """A client of one repository."""

    client: httpx.Client
    name: str

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request below the repository."""
        return self.client.request(method, f"/repositories/{self.name}{path}", **more)

    def done(self, method: str, path: str, **more: Any) -> Any:
        """One request, which must succeed."""
        answer = self.call(method, path, **more)
        assert answer.status_code < 300, answer.text
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if is_json and answer.content else None

    def put(self, path: str, text: str, branch: str = "main") -> None:
        """Stage an object."""
        self.done("POST", f"/branches/{branch}/objects", params={"path": path}, content=text.encode())

    def commit(self, branch: str = "main", *, force: bool = False, message: str = "m") -> httpx.Response:
        """Commit what is staged."""
        return self.call("POST", f"/branches/{branch}/commits", json={"message": message, "force": force})

    def put_commit(self, path: str, text: str, branch: str = "main", *, force: bool = False) -> str:
        """Stage an object and commit it. Returns the id of the commit."""
        self.put(path, text, branch)
        answer = self.commit(branch, force=force, message=path)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def heads(self) -> dict[str, str]:
        """The commits of all branches and tags."""
        found = [one for kind in ("branches", "tags") for one in self.done("GET", f"/{kind}")["results"]]
        return {one["id"]: one["commit_id"] for one in found}

    def runs(self) -> list[dict[str, Any]]:
        """The runs, the newest first."""
        found: list[dict[str, Any]] = self.done("GET", "/actions/runs")["results"]
        return found

    def hooks(self, run_id: str) -> list[dict[str, Any]]:
        """The hooks of a run."""
        found: list[dict[str, Any]] = self.done("GET", f"/actions/runs/{run_id}/hooks?skipped=true")["results"]
        return found

    def settings(self, **files: str) -> None:
        """Replace the action files of the settings."""
        self.done("PUT", "/settings/hooks", json={"actions": files})

    def protect(self, pattern: str = "main") -> None:
        """Protect branches."""
        self.done("PUT", "/settings/branch_protection", json=[{"pattern": pattern}])


def new_repository(client: httpx.Client) -> Rest:
    """A repository where every operation of `OPERATIONS` has something to do."""
    rest = Rest(client, f"repo{next(_names)}")
    made = client.post("/repositories", json={"name": rest.name, "storage_namespace": f"mem://{rest.name}"})
    assert made.status_code == 201, made.text
    return rest


def prepare(rest: Rest) -> None:
    """Make branches and tags that the operations need."""
    rest.put_commit("a", "1")
    rest.done("POST", "/branches", json={"name": "dev", "source": "main"})
    rest.put_commit("b", "2", "dev")
    rest.done("POST", "/branches", json={"name": "old", "source": "main"})
    rest.done("POST", "/tags", json={"id": "v1", "ref": "main"})


def _commit(rest: Rest) -> httpx.Response:
    rest.put("c", "3")
    return rest.commit()


def _publish(rest: Rest) -> httpx.Response:
    # a part `commit` comes first
    files = [("commit", (None, json.dumps({"message": "m"}), "application/json")), ("content", ("p", b"4"))]
    return rest.call("POST", "/branches/main/objects/batch", files=files)


def _workspace(rest: Rest) -> httpx.Response:
    opened = rest.done("POST", "/workspaces", json={"branch": "main"})
    rest.put("w", "5", opened["name"])
    return rest.call("POST", f"/workspaces/{opened['id']}/commit", json={"message": "m"})


def _pull(rest: Rest) -> httpx.Response:
    made = rest.done("POST", "/pulls", json={"title": "t", "source_branch": "dev", "destination_branch": "main"})
    return rest.call("PUT", f"/pulls/{made['id']}/merge")


OPERATIONS = {
    "commit": ("commit", _commit),
    "publish": ("commit", _publish),
    "workspace": ("commit", _workspace),
    "merge": ("merge", lambda rest: rest.call("POST", "/refs/dev/merge/main", json={})),
    "pull request": ("merge", _pull),
    "revert": (
        "revert",
        lambda rest: rest.call("POST", "/branches/dev/revert", json={"ref": "dev", "parent_number": 0}),
    ),
    "cherry-pick": ("cherry-pick", lambda rest: rest.call("POST", "/branches/main/cherry-pick", json={"ref": "dev"})),
    "reset": ("reset", lambda rest: rest.call("PUT", "/branches/main/hard_reset", params={"ref": "dev"})),
    "create branch": (
        "create-branch",
        lambda rest: rest.call("POST", "/branches", json={"name": "new", "source": "main"}),
    ),
    "delete branch": ("delete-branch", lambda rest: rest.call("DELETE", "/branches/old")),
    "create tag": ("create-tag", lambda rest: rest.call("POST", "/tags", json={"id": "v2", "ref": "main"})),
    "delete tag": ("delete-tag", lambda rest: rest.call("DELETE", "/tags/v1")),
}
"""What clients call: the operation as hooks know it, and the request."""
