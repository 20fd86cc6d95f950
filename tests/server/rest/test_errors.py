import inspect
import logging
from typing import Any

import pytest
from lakebed_engine.vocabulary import errors as engine_errors
from lakebed_server.vocabulary import OUR_FAULT
from lakebed_wire.operations import ERROR_KINDS

from tests.server.support import OBJECTS, FakeEngine, ask, make_app

CLASSES = [
    value
    for _, value in inspect.getmembers(engine_errors, inspect.isclass)
    if issubclass(value, engine_errors.EngineError)
]
STAT = OBJECTS + "/stat?path=a"


def failing(error: Any, target: Any = STAT, method: Any = "GET", **more: Any) -> Any:
    engine = FakeEngine()
    engine.fail = error
    return ask(make_app(engine), target, method, **more)


@pytest.mark.parametrize("error", CLASSES)
def test_every_engine_error_has_a_kind_of_the_spec_and_its_status(error: Any) -> None:
    answer = failing(error("the reason"))
    assert error.kind in ERROR_KINDS
    assert answer.status == ERROR_KINDS[error.kind]
    assert answer.kind == error.kind
    assert answer.json["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("kind", [kind for kind, status in ERROR_KINDS.items() if status >= 500])
def test_server_faults_have_fixed_messages(kind: Any) -> None:
    # these say what the server itself refuses or cuts off: no store has a word in them
    assert kind in OUR_FAULT or kind in ("not_implemented", "overloaded", "interrupted", "stopping")


def test_server_failures_are_logged_in_full_and_returned_without_details(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "lakebed.server"):
        answer = failing(engine_errors.CorruptDataError("/srv/lake/data/x.parquet: bad magic"))
    assert answer.status == 500
    assert "/srv" not in answer.body.decode()
    assert "/srv/lake/data/x.parquet" in caplog.text
    assert caplog.records[0].__dict__["request_id"] == answer.headers["x-request-id"]


def test_a_store_chooses_what_a_client_reads_of_it(caplog: pytest.LogCaptureFixture) -> None:
    error = engine_errors.StoreFullError("no room: /srv/lake/kv.db", public_message="no room; free some", lasting=True)
    with caplog.at_level(logging.ERROR, "lakebed.server"):
        answer = failing(error)
    assert (answer.status, answer.json["message"]) == (507, "no room; free some")
    assert "/srv/lake/kv.db" in caplog.text


def test_lasting_errors_have_no_retry_after() -> None:
    assert "retry-after" not in failing(engine_errors.StoreUnavailableError("denied", lasting=True)).headers
    assert "retry-after" not in failing(engine_errors.NoStoreError("no such bucket")).headers


def test_an_internal_error_hides_its_details(caplog: pytest.LogCaptureFixture) -> None:
    answer = failing(RuntimeError("password=hunter2 in /home/me"))
    assert (answer.status, answer.kind) == (500, "internal")
    assert "hunter2" not in answer.body.decode()
    assert "Traceback" in caplog.text


def test_client_errors_keep_their_words() -> None:
    answer = failing(engine_errors.InvalidNameError("a branch name has no dots"))
    assert (answer.status, answer.json["message"]) == (400, "a branch name has no dots")


@pytest.mark.parametrize(
    "error", [engine_errors.TooManyAttemptsError("busy"), engine_errors.StoreUnavailableError("down")]
)
def test_temporary_errors_have_a_retry_after(error: Any) -> None:
    assert failing(error).headers["retry-after"] == "1"


def test_a_merge_conflict_is_a_superset_that_old_clients_read() -> None:
    conflicts = [
        engine_errors.Conflict("a", "1", "2", "3"),
        engine_errors.Conflict("b", None, "2", None),
    ]
    answer = failing(engine_errors.MergeConflictError("both sides changed 2 paths", conflicts, True))
    assert answer.status == 409
    body = answer.json
    assert body.pop("request_id")
    assert body == {
        "message": "both sides changed 2 paths",
        "kind": "merge_conflict",
        "reference": "",
        "conflicts": [{"path": "a", "base": "1", "ours": "2", "theirs": "3"}, {"path": "b", "ours": "2"}],
        "conflicts_has_more": True,
    }


def test_head_errors_have_no_body() -> None:
    for error in (engine_errors.ObjectNotFoundError("no"), RuntimeError("no")):
        answer = failing(error, OBJECTS + "?path=a", "HEAD")
        assert answer.status in (404, 500)
        assert answer.body == b""


def test_a_range_error_says_the_size_when_it_is_known() -> None:
    assert failing(engine_errors.InvalidRangeError("no", 7)).headers["content-range"] == "bytes */7"
    assert "content-range" not in failing(engine_errors.InvalidRangeError("no")).headers


def test_unauthenticated_names_the_scheme() -> None:
    answer = ask(make_app(), STAT, auth=False)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="lakebed"'


def test_wrong_method_and_unknown_endpoint() -> None:
    answer = ask(make_app(), "/api/v1/config", "PATCH")
    assert (answer.status, answer.kind, answer.headers["allow"]) == (405, "method_not_allowed", "GET")
    answer = ask(make_app(), "/api/v1/nope")
    assert (answer.status, answer.json["message"]) == (404, "invalid API endpoint")


def test_every_answer_has_the_safe_headers() -> None:
    for target in ("/api/v1/healthcheck", STAT, "/api/v1/nope", "/", "/_health", "/nope"):
        headers = ask(make_app(), target).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"


def test_request_ids() -> None:
    app = make_app()
    assert ask(app, STAT, x_request_id="job-7/step.2").headers["x-request-id"] == "job-7/step.2"
    for odd in ("a b", "x" * 200, "a\tb", ""):
        assert ask(app, STAT, x_request_id=odd).headers["x-request-id"] != odd
