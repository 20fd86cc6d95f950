"""A server in which every documented error can be provoked: refs in all states, over stores that fail on request.

For the table of errors. Requests that are right come from here, one of each operation; a scenario is such a request
with one thing wrong.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.hooks import HookRun, Run
from lakebed_server.process.app import App, create_app
from lakebed_wire.operations import OPERATIONS

from tests.server.hook_runs import RunsOfNoHooks
from tests.server.lake import REPO, Lake
from tests.server.support import Answer, FakeEngine, ask, services

SOME = "0" * 64
OPEN, CLOSED = "1" * 32, "2" * 32
RUN = "3" * 20
"""The id of a run of hooks."""
TABLE = {operation.operation_id: operation for operation in OPERATIONS}
FAULTS: dict[int, errors.EngineError] = {
    429: errors.BackpressureError("too much at once"),
    500: errors.CorruptDataError("what was read is damaged"),
    503: errors.StoreUnavailableError("the store is away"),
    507: errors.StoreFullError("the store is full"),
}
"""The error that a failing store raises, by the status of the answer."""

BINARY = ("uploadObject", "pushLayer")
_STATEMENT = [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]
_LINK = {"staging": {"physical_address": "data/x"}, "checksum": "x", "size_bytes": 1}
_DUMP = {"commits_meta_range_id": SOME, "tags_meta_range_id": SOME, "branches_meta_range_id": SOME}
_PART = {"physical_address": "data/x", "upload_id": "u"}
ACTION = "name: a1\non: {post-commit: }\nhooks: [{id: h1, type: webhook, properties: {url: 'https://example.org'}}]\n"
"""A valid action file. Nothing calls its hook."""
_IMPORT = {"type": "common_prefix", "path": "mem://elsewhere/in/", "destination": "in/"}

BODIES: dict[str, Any] = {
    "setupCommPrefs": {"featureUpdates": False, "securityUpdates": False},
    "setup": {"username": "a"},
    "login": {"access_key_id": "a", "secret_access_key": "b"},
    "exchangeSignInCode": {"code": "x", "verifier": "x" * 43},
    "createUser": {"id": "new"},
    "updateUser": {"friendly_name": "Admin"},
    "createGroup": {"id": "new"},
    "grantRepositoryToUser": {"level": "reader"},
    "grantRepositoryToGroup": {"level": "reader"},
    "createPolicy": {"id": "new", "statement": _STATEMENT},
    "updatePolicy": {"id": "FSReadAll", "statement": _STATEMENT},
    "simulate": {"user": "admin", "action": "fs:ReadObject", "resource": "*"},
    "postStatsEvents": {"events": [{"class": "a", "name": "b", "count": 1}]},
    "createRepository": {"name": "another", "storage_namespace": "mem://another"},
    "setRepositoryMetadata": {"metadata": {"a": "b"}},
    "deleteRepositoryMetadata": {"keys": ["a"]},
    "createBranch": {"name": "x", "source": "main"},
    "resetBranch": {"type": "reset"},
    "revertBranch": {"ref": "main", "parent_number": 0},
    "cherryPick": {"ref": "main"},
    "setBranchProtectionRules": [{"pattern": "q"}],
    "internalCreateBranchProtectionRule": {"pattern": "q"},
    "internalDeleteBranchProtectionRule": {"pattern": "safe"},
    "createTag": {"id": "t", "ref": "main"},
    "commit": {"message": "m", "allow_empty": True},
    "mergeIntoBranch": {},
    "createPullRequest": {"title": "t", "source_branch": "dev", "destination_branch": "main"},
    "updatePullRequest": {"title": "t"},
    "mergePullRequest": {},
    "setPullRequestReviewers": ["admin"],
    "createPullRequestReview": {"verdict": "approve"},
    "dismissPullRequestReview": {},
    "approvePullRequest": {},
    "createPullRequestComment": {"body": "c"},
    "updatePullRequestComment": {"body": "c"},
    "reportCommitCheck": {"name": "n", "state": "success"},
    "validateAction": {"name": "a.yaml", "content": ACTION},
    "startActionRun": {"event": "pre-commit", "ref": "main"},
    "setHookSettings": {"actions": {"a.yaml": ACTION}},
    "deleteObjects": {"paths": ["a"]},
    "getObjects": {"paths": ["a"]},
    "copyObject": {"src_path": "a"},
    "updateObjectUserMetadata": {"set": {}},
    "stageObject": {"physical_address": "mem://elsewhere/one", "checksum": "x", "size_bytes": 3},
    "linkPhysicalAddress": _LINK,
    "completePresignMultipartUpload": {"physical_address": "data/x", "parts": [{"part_number": 1, "etag": "x"}]},
    "abortPresignMultipartUpload": {"physical_address": "data/x"},
    "uploadPart": {"physical_address": "data/x"},
    "uploadPartCopy": {
        "physical_address": "data/x",
        "copy_source": {"repository": "lake", "ref": "main", "path": "a"},
    },
    "importStart": {"paths": [_IMPORT], "commit": {"message": ""}},
    "commitAsync": {"message": "m", "allow_empty": True},
    "mergeIntoBranchAsync": {},
    "restoreRefs": _DUMP,
    "restoreSubmit": _DUMP,
    "createWorkspace": {"branch": "main"},
    "renewWorkspace": {"expires_in": 60},
    "commitWorkspace": {"message": "m"},
    "revertWorkspace": {"paths": ["a"]},
    "popWorkspace": {"branch": "main"},
    "stashBranch": {},
    "registerObjects": {"objects": [{"path": "a", "physical_address": "x", "checksum": "x", "size_bytes": 1}]},
    "shareObjects": {"objects": [{"path": "a", "same_as": "b"}]},
    "createUploadUrls": {"paths": ["a"]},
    "createPartUpload": {"path": "a"},
    "signParts": {**_PART, "parts": [1]},
    "completePartUpload": {**_PART, "size_bytes": 1, "parts": [{"part": 1, "etag": "x"}]},
    "abortPartUpload": _PART,
    "ingestObjects": {"source": "mem://elsewhere/in/"},
    "diffIngest": {"source": "mem://elsewhere/in/"},
}
"""A body that is right, of each operation that takes one."""

_PLACES = {
    "repository": "lake",
    "ref": "main",
    "branch": "main",
    "type": "range",
    "partNumber": "1",
    "commitId": "main",
    "sourceRef": "dev",
    "destinationBranch": "main",
    "leftRef": "main",
    "rightRef": "dev",
    "tag": "v1",
    "workspace": OPEN,
    "pull_request": "0" * 20,
    "review": "1",
    "run_id": RUN,
    "hook_run_id": "0000_0000",
    "delivery_id": "none",
    "comment": "1",
    "userId": "admin",
    "accessKeyId": "AKIAJNONE",
    "groupId": "Admins",
    "policyId": "FSReadAll",
}
_BOUNDARY = "b"
_BATCH = (
    f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="a"\r\n'
    f"Content-Type: text/csv\r\n\r\n1\r\n--{_BOUNDARY}--\r\n"
).encode()


@dataclass(frozen=True)
class Request:
    """A request; `places` replace parts of its path, `query` is added."""

    operation: str
    places: tuple[tuple[str, str], ...] = ()
    query: str = ""
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    auth: bool = True

    @classmethod
    def of(cls, operation: str) -> Request:
        """A valid request."""
        return cls(operation, body=BODIES.get(operation))

    def at(self, **places: str) -> Request:
        """The same elsewhere."""
        return replace(self, places=(*self.places, *places.items()))

    def asks(self, query: str) -> Request:
        """The same with more in its query."""
        return replace(self, query=f"{self.query}&{query}")

    def says(self, **more: Any) -> Request:
        """The same with other values in its body."""
        return replace(self, body={**(self.body or {}), **more})

    def path(self, path: str) -> Request:
        """The same of another object."""
        return replace(self, query=f"&path={path}")

    def id(self, found: str) -> Request:
        """The same of another task."""
        return replace(self, query=f"{self.query}&id={found}")

    def with_headers(self, **headers: str) -> Request:
        """The same with headers."""
        return replace(self, headers=(*self.headers, *headers.items()))

    @property
    def names(self) -> set[str]:
        """The parts of the path that are filled in."""
        return {one.name for one in TABLE[self.operation].parameters if one.place == "path"}

    def target(self) -> str:
        """Path and query. What an operation does not take is ignored."""
        path = TABLE[self.operation].path
        for name, value in {**dict.fromkeys(self.names, SOME), **_PLACES, **dict(self.places)}.items():
            path = path.replace("{" + name + "}", value if "%" in value else quote(value, safe=""))
        others = {"path": "a", "id": "x", "q": "a"}
        chosen = "".join(f"&{key}={value}" for key, value in others.items() if f"&{key}=" not in self.query)
        return f"/api/v1{path}?dest_path=b&task_id=x&ref=main{chosen}{self.query}"

    def raw(self) -> tuple[bytes, dict[str, str]]:
        """The body as bytes, and all headers."""
        headers = dict(self.headers)
        if isinstance(self.body, bytes):
            return self.body, headers
        if self.operation in BINARY:
            return b"x", headers
        if self.operation == "uploadObjects":
            return _BATCH, {"content_type": f"multipart/form-data; boundary={_BOUNDARY}", **headers}
        return b"" if self.body is None else msgspec.json.encode(self.body), {
            "content_type": "application/json",
            **headers,
        }


class FaultyKV(MemoryKV):
    """A KV store that raises the set error on every call."""

    fault: errors.EngineError | None = None

    def __getattribute__(self, name: str) -> Any:
        fault = object.__getattribute__(self, "fault")
        if fault is None or name not in ("get", "scan", "apply"):
            return object.__getattribute__(self, name)

        async def fail(*_: object, **__: object) -> Any:
            raise fault.with_traceback(None)  # else the trace of the one error grows with each test

        return fail


class FailingEngine(FakeEngine):
    """Fails with one error, whatever it is asked and by whichever of its parts."""

    def __init__(self, error: errors.EngineError) -> None:
        self._error = error

    def __getattribute__(self, name: str) -> Any:
        error = object.__getattribute__(self, "__dict__").get("_error")
        return super().__getattribute__(name) if error is None or name.startswith("_") else _Part(error)


class _Part:
    def __init__(self, error: errors.EngineError) -> None:
        self._error = error

    def __getattr__(self, name: str) -> _Part:
        return self

    async def __call__(self, *_: object, **__: object) -> Any:
        raise self._error.with_traceback(None)


class Scene(Lake):
    """Branches `main`, `dev`, `dirty` and `safe` (protected), a tag, an open and a closed workspace, an open pull
    request, a read-only repository `frozen`.

    Object `gone` is listed, and its data are not there. The app `cold` has not seen the access key yet.
    """

    def __init__(self) -> None:
        self.kv, self.stores = FaultyKV(), Stores(None, memory=True)
        self.runner = asyncio.Runner()
        foreign = Foreign(self.stores.open, ["mem://elsewhere/"])
        self.engine = Engine(self.kv, self.stores, foreign=foreign, address_key=b"key")
        self.app: App = create_app(replace(services(self.engine), hooks=RunsOfNoHooks(self.engine)))
        for name, read_only in (("lake", False), ("frozen", True)):
            body = {"name": name, "storage_namespace": f"mem://{name}", "read_only": read_only}
            self("POST", "/repositories", body, 201)
        self.put("a", b"1")
        gone = self.put("gone", b"gone")["physical_address"]
        self.runner.run(self.stores.open("mem://lake").delete([gone.removeprefix("mem://lake/")]))
        self.commit("first")
        for name in ("dev", "dirty", "safe"):
            self("POST", REPO + "/branches", {"name": name, "source": "main"}, 201)
        self.put("a", b"x", "dirty")
        self("POST", REPO + "/tags", {"id": "v1", "ref": "main"}, 201)
        self("PUT", REPO + "/settings/branch_protection", [{"pattern": "safe"}], 204)
        for workspace in (OPEN, CLOSED):
            self("POST", REPO + "/workspaces", {"id": workspace, "branch": "main"}, 201)
        self.put("w", b"w", f"main%2B{CLOSED}")
        commit = {"message": "another", "allow_empty": True}
        self("POST", REPO + "/branches/dev/commits", commit, 201, idempotency_key="used")
        self._pull = str(self("POST", REPO + "/pulls", BODIES["createPullRequest"], 201)["id"])
        self._import = self._ended_import()
        self._linked = self._written()
        hook = HookRun(id="0000_0000", action="a1", hook_id="h1", type="webhook", state="passed")
        run = Run(id=RUN, event_type="pre-commit", source_ref="main", started=1.0, ended=2.0, hooks=[hook])
        self.runner.run(self.engine.hooks.save_run("lake", run, {hook.id: b"log"}))
        self("POST", f"{REPO}/workspaces/{CLOSED}/commit", {"message": "m"}, 201)

    def _ended_import(self) -> str:
        """The id of an import that is over."""
        body = BODIES["importStart"]
        started = str(self("POST", REPO + "/branches/main/import", body, 202)["id"])
        while not self("GET", f"{REPO}/branches/main/import?id={started}")["completed"]:
            self.runner.run(asyncio.sleep(0.001))
        return started

    def _written(self) -> Any:
        """The body of a link to an object that was written to an address of path `a`."""
        address = self("GET", REPO + "/branches/main/staging/backing?path=a")["physical_address"]
        self.runner.run(self.stores.open("mem://lake").put(address.removeprefix("mem://lake/"), b"abc"))
        checksum = hashlib.md5(b"abc").hexdigest()
        return {"staging": {"physical_address": address}, "checksum": checksum, "size_bytes": 3}

    def request(self, operation: str, status: int) -> Request:
        """A valid request in this scene, except for the cause of the status."""
        request = Request.of(operation)
        if "pull_request" in request.names:
            request = request.at(pull_request=self._pull)
        if operation == "createCommitRecord":
            head = self("GET", REPO + "/commits/main")
            head |= {"commit_id": head.pop("id"), "metarange_id": head.pop("meta_range_id")}
            return replace(request, body=head)
        if (operation, status) == ("importCancel", 409):
            return request.id(self._import)
        if (operation, status) == ("linkPhysicalAddress", 412):
            return replace(request, body=self._linked).with_headers(if_none_match="*")
        return request

    def send(self, request: Request, fault: errors.EngineError | None = None, app: App | None = None) -> Answer:
        """Send a request, while the KV store has a fault."""
        body, headers = request.raw()
        method = TABLE[request.operation].method
        self.kv.fault = fault
        try:
            return ask(
                app or self.app, request.target(), method, body, auth=request.auth, runner=self.runner, **headers
            )
        finally:
            self.kv.fault = None

    def cold(self) -> App:
        """An app over the same stores, which must read the access key first, and runs no hooks."""
        return create_app(services(self.engine, self.kv))
