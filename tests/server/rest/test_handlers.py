"""Handlers read, call the engine once and answer; the table of operations and the table of handlers are the same."""

import ast
import inspect

import pytest
from lakebed_server.rest import handlers, operation_handlers
from lakebed_server.rest.api import Api
from lakebed_server.vocabulary import StartError
from lakebed_wire.operations import OPERATIONS

from tests.server.support import UPLOAD, FakeEngine, ask, make_app, services

IDS = {op.operation_id for op in OPERATIONS}


def test_every_operation_has_a_handler_or_is_planned() -> None:
    operation_handlers.check(OPERATIONS)
    assert set(operation_handlers.HANDLERS) | set(operation_handlers.PLANNED) == IDS


def test_a_missing_handler_stops_the_start() -> None:
    fewer = {name: handler for name, handler in operation_handlers.HANDLERS.items() if name != "getTag"}
    with pytest.raises(StartError, match="operations without a handler: getTag"):
        operation_handlers.check(OPERATIONS, fewer)
    operation_handlers.check(OPERATIONS, fewer, {"getTag": "issue B"})


def test_a_handler_without_an_operation_stops_the_start() -> None:
    with pytest.raises(StartError, match="handlers without an operation: getTag"):
        operation_handlers.check([op for op in OPERATIONS if op.operation_id != "getTag"])
    with pytest.raises(StartError, match="handlers without an operation"):
        Api(services(FakeEngine()), operations=OPERATIONS[1:])


def test_a_planned_operation_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        operation_handlers, "HANDLERS", {n: h for n, h in operation_handlers.HANDLERS.items() if n != "getTag"}
    )
    monkeypatch.setattr(operation_handlers, "PLANNED", {"getTag": "it arrives with something"})
    monkeypatch.setattr(operation_handlers, "check", lambda operations: None)
    answer = ask(make_app(), "/api/v1/repositories/repo/tags/v1")
    assert (answer.status, answer.kind) == (501, "not_implemented")
    assert "it arrives with something" in answer.json["message"]


@pytest.mark.parametrize("name", sorted(operation_handlers.HANDLERS))
def test_handlers_are_short_and_say_which_operation_they_are(name: str) -> None:
    handler = operation_handlers.HANDLERS[name]
    tree = ast.parse(inspect.getsource(handler)).body[0]
    assert isinstance(tree, ast.AsyncFunctionDef)
    body = tree.body[1:]  # without the docstring
    assert (body[-1].end_lineno or 0) - body[0].lineno + 1 <= 20
    assert (handler.__doc__ or "").startswith(name)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Try | ast.While | ast.For | ast.AsyncFor)]
    assert not calls, "a handler decides and retries nothing"


def test_handlers_call_the_engine_at_most_once_on_each_way() -> None:
    for name, handler in operation_handlers.HANDLERS.items():
        source = inspect.getsource(handler)
        allowed = {
            "resetBranch": 3,
            "commit": 2,
            "deleteRepository": 2,
            "getObjects": 2,
            "listObjects": 2,
            "searchObjects": 2,
            "uploadObjects": 2,
            "uploadPartCopy": 2,
        }.get(name, 1)
        asked = source.count("await call.engine.")
        assert asked <= allowed, name
    assert handlers.__doc__


def test_answers_of_operations_without_an_engine_call() -> None:
    app = make_app()
    config = ask(app, "/api/v1/config").json
    assert config["version_config"]["version_context"] == ""
    assert tuple(int(part) for part in config["version_config"]["version"].split(".")) >= (1, 3, 1)
    storage = config["storage_config"]
    assert storage["default_namespace_prefix"] + "/name" == "local://repos/name"
    assert not storage["pre_sign_support"]
    assert not storage["import_support"]
    assert config["storage_config_list"] == []
    assert ask(app, "/api/v1/config/version").json == config["version_config"]
    state = ask(app, "/api/v1/setup_lakefs", auth=False).json
    assert state["state"] == "initialized"
    assert state["login_config"]["login_cookie_names"] == ["internal_auth_session"]
    assert state["comm_prefs_missing"] is False


def test_refusals_that_need_no_engine() -> None:
    app = make_app()
    main = "/api/v1/repositories/repo/branches/main"
    for target, method, body, status in (
        (main, "PUT", b'{"type":"common_prefix"}', 400),
        (main, "PUT", b'{"type":"nonsense"}', 400),
        (main, "PUT", b'{"type":"object"}', 400),
        (main + "/objects/copy?dest_path=a", "POST", b'{"src_path":"b","shallow":true}', 501),
    ):
        assert ask(app, target, method, body, content_type="application/json").status == status, target


def test_deleting_many() -> None:
    app = make_app()
    paths = b",".join([b'"a"'] * 1001)
    target = UPLOAD + "/delete"
    answer = ask(app, target, "POST", b'{"paths":[' + paths + b"]}", content_type="application/json")
    assert (answer.status, answer.kind) == (400, "invalid_request")
    answer = ask(app, target, "POST", b'{"paths":["a",""]}', content_type="application/json")
    assert answer.json == {"errors": [{"status_code": 400, "message": "a path is not empty", "path": ""}]}


def test_stat_with_user_metadata_false_returns_empty_metadata() -> None:
    engine = FakeEngine()
    engine.put("a", b"x", metadata={"k": "v"})
    app = make_app(engine)
    target = "/api/v1/repositories/repo/refs/main/objects/stat?path=a"
    assert ask(app, target).json["metadata"] == {"k": "v"}
    assert ask(app, target + "&user_metadata=False").json["metadata"] == {}
