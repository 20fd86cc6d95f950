"""Every documented error of every operation, provoked one by one; the list is made from openapi.yaml.

What is wrong is either in the request (a body that is not JSON, a repository that is not there, a closed workspace), or
in the store under the engine, which fails on request. Some errors no request can cause in this server: it has no
permissions and no hooks. For these, a replaced part raises the error: the engine, the authenticator or, where nothing
is called, the handler. So each error has its form on the wire. `test_errors_table_refs.py` has further kinds of errors,
and checks that they change nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from lakebed_engine.vocabulary import errors
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.auth.authenticate import Authenticator, Caller
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import Token
from lakebed_server.http.request import Installation, Services
from lakebed_server.http.responses import Reply
from lakebed_server.process.app import App, create_app
from lakebed_server.rest.operation_handlers import HANDLERS, Handler
from lakebed_server.vocabulary import RequestError
from lakebed_wire.operations import ERROR_KINDS

from tests.server import directory_errors
from tests.server.directory_errors import OF_DIRECTORY
from tests.server.error_scenes import BODIES, CLOSED, FAULTS, TABLE, FailingEngine, Request, Scene
from tests.server.support import DOCUMENTED, KEY_ID, SECRET, Answer, FakeEngine, ask, services

pytestmark = pytest.mark.medium  # 1,500 requests


class TableTooLargeError(errors.EngineError):
    """What a process that reads tables answers, as an error of the engine."""

    kind = "table_too_large"


Change = Callable[[Request], Request]

CLOSED_NAME = f"main+{CLOSED}"
NOT_THERE = {"objects": [{"path": "a", "physical_address": "x", "checksum": "x", "size_bytes": 1}]}

SPECIAL: dict[tuple[str, int], Change] = {
    ("commit", 409): lambda one: one.with_headers(idempotency_key="used"),
    ("commitAsync", 409): lambda one: one.with_headers(idempotency_key="used"),
    ("mergeIntoBranchAsync", 409): lambda one: one.with_headers(idempotency_key="used"),
    ("createCommitRecord", 409): lambda one: one,
    ("cherryPick", 409): lambda one: one.says(ref=CLOSED_NAME),
    ("copyObject", 501): lambda one: one.says(shallow=True),
    ("createBranch", 409): lambda one: one.says(name="dev"),
    ("createCredentials", 403): lambda one: one.at(userId="other"),
    ("createRepository", 409): lambda one: one.says(name="lake"),
    ("createTag", 409): lambda one: one.says(id="v1"),
    ("createWorkspace", 409): lambda one: one.says(id=CLOSED, message="another"),
    ("deleteCredentials", 400): lambda one: one.at(accessKeyId=KEY_ID),
    ("deleteCredentials", 403): lambda one: one.at(userId="other"),
    ("deleteCredentials", 404): lambda one: one,
    ("deleteObject", 412): lambda one: one.with_headers(if_match='"another"'),
    ("deleteObject", 501): lambda one: one.with_headers(if_match='"a", "b"'),
    ("endUserSession", 403): lambda one: one.at(userId="other"),
    ("endUserSession", 404): lambda one: one,
    ("listUserSessions", 403): lambda one: one.at(userId="other"),
    ("getCredentials", 403): lambda one: one.at(userId="other"),
    ("getCredentials", 404): lambda one: one,
    ("getObject", 410): lambda one: one.path("gone"),
    ("getArchive", 410): lambda one: one.asks("prefix=gone"),
    ("readTable", 400): lambda one: one.asks("limit=x"),
    ("readTable", 422): lambda one: one,
    ("diffTable", 400): lambda one: one.asks("limit=x"),
    ("diffTable", 422): lambda one: one.at(rightRef="main"),
    ("getObject", 416): lambda one: one.with_headers(range="bytes=9-"),
    ("getUnderlyingProperties", 410): lambda one: one.path("gone"),
    ("getServerAccessHistory", 400): lambda one: one.asks("since=yesterday"),
    ("headObject", 416): lambda one: one.with_headers(range="bytes=9-"),
    ("importCancel", 409): lambda one: one,
    ("linkPhysicalAddress", 412): lambda one: one,
    ("logout", 400): lambda one: one,
    ("renewSession", 400): lambda one: one,
    ("createTemporaryKey", 400): lambda one: one.says(duration=1),
    ("linkPhysicalAddress", 501): lambda one: one.with_headers(if_none_match='"x", "y"'),
    ("listUserCredentials", 403): lambda one: one.at(userId="other"),
    ("mergePullRequest", 409): lambda one: one.says(source_commit_id="0" * 64),
    ("createPullRequestReview", 409): lambda one: one.says(verdict="approve", source_commit_id="0" * 64),
    ("approvePullRequest", 409): lambda one: one.says(source_commit_id="0" * 64),
    ("revertBranch", 409): lambda one: one.says(ref=CLOSED_NAME),
    ("startActionRun", 409): lambda one: one.says(ref=CLOSED_NAME),
    ("setBranchProtectionRules", 412): lambda one: one.with_headers(if_match='"another"'),
    ("setHookSettings", 412): lambda one: one.with_headers(if_match='"another"'),
    ("setup", 409): lambda one: one,
    ("setupCommPrefs", 409): lambda one: one,
    ("uploadObject", 412): lambda one: one.with_headers(if_none_match="*"),
    ("uploadObject", 501): lambda one: one.with_headers(if_none_match='"x", "y"'),
}
"""What is wrong where the rules of `wrong` have nothing, or something else comes first."""

ASK_NOTHING = {"healthCheck", "getSetupState", "getAuthCapabilities", "setupCommPrefs"}
"""They ask no store and no credentials."""

NOT_SIGNING = {"getMetadataObject", "getPhysicalAddress", "abortPartUpload", "abortPresignMultipartUpload"}
"""They are 501 on a server that signs, over a store that does not."""

COLD = {
    *("getConfig", "getLakeFSVersion", "getStorageConfig", "postStatsEvents", "getCurrentUser", "login", "logout"),
    "getUsageReportSummary",
    *("renewSession", "createTemporaryKey", "validateAction"),
    "setup",
    *(name for name in TABLE if name.endswith(("Credentials", "UserSession", "UserSessions"))),
}
"""The only store that they ask is that of access keys."""

SIGNED = {
    *("createPresignMultipartUpload", "completePresignMultipartUpload", "abortPresignMultipartUpload"),
    *("uploadPart", "uploadPartCopy", "createUploadUrls", "createPartUpload", "signParts", "completePartUpload"),
    "abortPartUpload",
}
"""They need a store that signs, which is not a store in memory. So an engine fails in its place; over S3 they are in
test_placing_s3.py and test_part_uploads.py."""


FOREIGN = {
    *("validateAction", "setHookSettings", "startActionRun", "repeatActionRun", "redeliverHook"),
    *("setBranchProtectionRules", "internalCreateBranchProtectionRule", "internalDeleteBranchProtectionRule"),
    *("createRepository", "deleteObjects", "dumpRefs", "dumpSubmit"),
    *("login", "exchangeSignInCode", "renewSession", "logout", "setup", "setupCommPrefs", "postStatsEvents"),
    "createTemporaryKey",
}
"""They are 403 only for a page of another origin: a read-only repository takes them, or they are about none."""


def _all(status: int, *names: str) -> set[tuple[str, int]]:
    return {(name, status) for name in names}


REASONS = {
    "permissions come with users: whoever has an access key may read": _all(
        403,
        *("getConfig", "getLakeFSVersion", "getStorageConfig", "listRepositories", "getRepository"),
        "getUsageReportSummary",
        *("getRepositoryMetadata", "listBranches", "getBranch", "getBranchProtectionRules", "getTag", "listTags"),
        *("internalGetBranchProtectionRules", "getCommit", "logCommits", "findMergeBase", "diffBranch", "diffRefs"),
        *("getCommitStatistics", "getRepositoryStatistics"),
        *("diffIngest", "getObject", "headObject", "statObject", "listObjects", "getUnderlyingProperties", "getTask"),
        *("searchObjects", "listObjectWriters", "readTable", "diffTable", "listPullRequests", "getPullRequest"),
        *("getObjects", "getArchive", "getAccessHistory", "getServerAccessHistory", "listEvents"),
        "listServerEvents",
        *("getPullRequestState", "listPullRequestConflicts", "listCommitChecks", "listOwnPullRequests"),
        *("listRepositoryRuns", "getRun", "listRunHooks", "getRunHookOutput", "listHookDeliveries", "getHookSettings"),
        *("listPullRequestEvents", "listPullRequestReviews", "listPullRequestApprovals", "listPullRequestComments"),
        *("getMetaRange", "getRange", "getMetadataObject", "importStatus", "dumpStatus"),
        *("restoreStatus", "listWorkspaces", "getWorkspace"),
    ),
    "permissions come with users: what can be asked of a read-only repository too": _all(
        403, "createBranchProtectionRulePreflight", "uploadObjectPreflight"
    ),
    "it takes a namespace that was deleted, imported from and rebuilt": _all(409, "deleteRepository"),
    "this server runs no hooks": _all(
        412,
        *("commit", "mergeIntoBranch", "mergePullRequest", "revertBranch", "cherryPick", "hardResetBranch"),
        *("createBranch", "deleteBranch", "createTag", "deleteTag", "uploadObjects", "commitWorkspace"),
    ),
    "it takes no condition": _all(412, "stageObject"),
    "another user's keys and sessions are 403, whether there is such a user or not": _all(
        404, "listUserCredentials", "createCredentials", "listUserSessions"
    ),
    "it asks no store and no credentials: only a mistake in the server, or what stands before it, fails": {
        *((name, status) for name in ASK_NOTHING for status in (429, 500, 503) if (name, status) in DOCUMENTED)
    },
    "the entry is enough: the data are not looked at": _all(
        410, "statObject", "headObject", "copyObject", "getMetadataObject"
    ),
    "a process reads tables, which unit tests may not start: tests/server/tables": {
        *_all(410, "readTable", "diffTable"),
        *_all(413, "readTable", "diffTable"),
    },
    "a workspace is not a branch: its name is 404": _all(
        409,
        *("getBranch", "deleteBranch", "hardResetBranch", "stashBranch", "createBranchProtectionRulePreflight"),
        "importStart",
    ),
}
STOOD_IN = {one: reason for reason, found in REASONS.items() for one in found}
"""What this server comes to by no request. The contract has it, for clients that must understand it from any server."""


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.close()


def wrong(request: Request, status: int) -> Request | None:
    """The request with what makes the server refuse it with a status of 4xx; None when no rule has it."""
    name, names = request.operation, request.names
    if (change := SPECIAL.get((name, status))) is not None:
        return change(request)
    if status == 501 and name in SIGNED:
        return request
    if status == 400:
        if name in BODIES:
            return replace(request, body=b"{")
        return (
            request.asks("amount=x")
            if "amount" in _asked(name)
            else request.at(**{min(names): "%zz"})
            if names
            else None
        )
    if status == 401:
        return replace(request, auth=False)
    if status == 403 and name in FOREIGN:
        return request.with_headers(sec_fetch_site="cross-site")
    if status == 403 and "repository" in names:
        return request.at(repository="frozen")
    if status == 404 and "repository" in names:
        return request.at(repository="nothing")
    if status == 409:
        closed = f"main+{CLOSED}"
        for part in ("workspace", "branch", "ref", "commitId", "sourceRef", "leftRef"):
            if part in names:
                return request.at(**{part: CLOSED if part == "workspace" else closed})
    return None


def _asked(name: str) -> set[str]:
    return {one.name for one in TABLE[name].parameters if one.place == "query"}


def provoke(scene: Scene, name: str, status: int) -> Answer:
    request = scene.request(name, status)
    if name in OF_DIRECTORY:
        return directory_errors.provoke((status in (400, 401) and wrong(request, status)) or request, status)
    if name == "exchangeSignInCode" and status not in (400, 403):
        return exchanging(request, status)
    if name in ("getAccessHistory", "getServerAccessHistory") and status not in (400, 401):
        return reading_history(request, status)
    if (name, status) == ("login", 409):
        return with_password_of_another(request)
    if name == "logout" and status != 400:
        request = request.asks("everywhere=true")
    if (name, status) == ("deleteCredentials", 409):
        login = Request.of("login").says(access_key_id=KEY_ID, secret_access_key=SECRET)
        token = scene.send(login).json["token"]
        return scene.send(request.at(accessKeyId=KEY_ID).with_headers(authorization=f"Bearer {token}"))
    if (name, status) in STOOD_IN:
        return standing_in(request, status)
    if name in ("startActionRun", "repeatActionRun") and status == 501:
        return scene.send(request, app=scene.cold())
    if name in NOT_SIGNING and status == 501:
        return failing(request.asks("presign=true"), status)
    if name in SIGNED and status not in (400, 401, 501):
        return failing(request, status)
    if (fault := FAULTS.get(status)) is not None:
        return scene.send(request, fault, scene.cold() if name in COLD else None)
    made = wrong(request, status)
    assert made is not None, f"no scenario for {status} of {name}"
    return scene.send(made)


RAISED: dict[int, errors.EngineError] = {
    **FAULTS,
    403: errors.ReadOnlyRepositoryError("it is read-only"),
    404: errors.WorkspaceNotFoundError("there is none"),
    409: errors.WorkspaceClosedError("it is closed"),
    410: errors.ObjectGoneError("it is gone"),
    412: errors.HookRefusedError("a hook has refused it", "a-run"),
    413: TableTooLargeError("it is too large"),
    501: errors.NotSupportedError("the store does not sign"),
}
"""What an engine fails with in the place of this one."""

REFUSED = {
    403: RequestError("permission_denied", "it may not"),
    404: RequestError("credentials_not_found", "there is no such user"),
}
"""What an authenticator fails with in the place of this one, for operations that ask no engine."""


def failing(request: Request, status: int) -> Answer:
    """The answer of a server that signs, and whose engine fails with what has this status."""
    return sent(signing(status), request)


@functools.cache
def signing(status: int) -> App:
    plain = services(FailingEngine(RAISED[status]))
    return create_app(Services(plain.engine, plain.authenticator, Installation(version="1.2.3", presign=True)))


def exchanging(request: Request, status: int) -> Answer:
    """The answer of a server whose sign-in fails with what has this status. For 501 it has no sign-in."""

    async def exchange(code: str, verifier: str, client: SignInClient) -> Token:
        if status == 401:
            raise RequestError("unauthenticated", "the code is wrong")
        raise RAISED[status].with_traceback(None)

    plain = services(FakeEngine())
    return sent(create_app(replace(plain, exchange_code=None if status == 501 else exchange)), request)


def reading_history(request: Request, status: int) -> Answer:
    """The answer of a server whose engine fails with what has this status. For 501 it records no access history."""
    engine = FakeEngine() if status == 501 else FailingEngine(RAISED[status])
    history = None if status == 501 else Recorder(engine, "mem://_server")
    return sent(create_app(replace(services(engine), history=history)), request)


def with_password_of_another(request: Request) -> Answer:
    """The answer of a server with LDAP, when the user of this name came from another source."""

    async def check(name: str, password: str, client: SignInClient) -> Token:
        raise RequestError("already_exists", "there is a user without this identity")

    return sent(create_app(replace(services(FakeEngine()), check_password=check)), request)


class Refusing(Authenticator):
    """Refuses every request with one error."""

    def __init__(self, error: RequestError) -> None:
        self._error = error

    async def authenticate(self, headers: Mapping[bytes, bytes], *, https: bool = False, address: str = "") -> Caller:
        raise self._error.with_traceback(None)


def standing_in(request: Request, status: int) -> Answer:
    """The answer of a server whose engine, authenticator or handler fails with what has this status."""
    name = request.operation
    if name in ASK_NOTHING:
        return sent(create_app(services(FakeEngine()), handlers={**HANDLERS, name: raising(RAISED[status])}), request)
    if name not in COLD:
        return failing(request, status)
    plain = services(FakeEngine())
    return sent(create_app(Services(plain.engine, Refusing(REFUSED[status]), plain.installation)), request)


def raising(error: errors.EngineError) -> Handler:
    async def handler(*_: object) -> Reply:
        raise error.with_traceback(None)

    return handler


def sent(app: App, request: Request) -> Answer:
    body, headers = request.raw()
    more: dict[str, Any] = {**headers}
    return ask(app, request.target(), TABLE[request.operation].method, body, **more)


@pytest.mark.parametrize(("name", "status"), sorted(DOCUMENTED))
def test_a_documented_error(scene: Scene, name: str, status: int) -> None:
    answer = provoke(scene, name, status)
    assert answer.status == status, answer.body
    assert answer.headers["x-request-id"]
    assert ("retry-after" in answer.headers) == (status in (429, 503))
    assert ("www-authenticate" in answer.headers) == (status == 401)
    if TABLE[name].method == "HEAD":
        assert answer.body == b""
        return
    error = answer.json
    assert ERROR_KINDS[error["kind"]] == status
    assert error["message"]
    assert error["request_id"] == answer.headers["x-request-id"]
    if (name, status) in STOOD_IN:
        raised = (REFUSED if name in COLD else RAISED)[status]
        assert error["kind"] == raised.kind, "another error came first"


def test_every_simulated_error_is_documented() -> None:
    assert STOOD_IN.keys() <= DOCUMENTED
    assert len(STOOD_IN) == sum(map(len, REASONS.values()))
