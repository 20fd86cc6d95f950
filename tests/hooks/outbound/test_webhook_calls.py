"""Webhooks against a real receiver: what is sent, what each answer means, and that logs have no secrets."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator

import pytest
from lakebed_hooks import signatures

from tests.hooks.outbound.calling import EVENT, NOW, call_webhook
from tests.support.services.receiver import Receiver, running_receiver

KEY = "whsec_" + base64.b64encode(b"a key of twenty-four bytes").decode()
ENVIRONMENT = {
    "LAKEBEDACTION_TOKEN": 't0k3n/with+signs=and "quotes"',
    "LAKEFSACTION_QUERY": "qu3ry&value",
    "LAKEBEDACTION_KEY": KEY,
    "LAKEBEDACTION_EMPTY": "",
    "LAKEBED_AUTH_SECRET_KEY": "the secret of the server",
}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running_receiver() as running:
        yield running


async def test_the_event_is_posted_as_json(receiver: Receiver) -> None:
    called = await call_webhook(url=f"{receiver.url}/status/200?fixed=1")
    got = receiver.requests[-1]
    assert (called.outcome.state, called.outcome.status) == ("passed", 200)
    assert (got.method, got.path, got.query) == ("POST", "/status/200", [("fixed", "1")])
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == "msg_1"
    assert "webhook-signature" not in got.headers
    sent = json.loads(got.body)
    assert list(sent)[:5] == ["event_type", "event_time", "action_name", "hook_id", "repository_id"]
    assert (sent["event_type"], sent["branch_id"], sent["commit_message"]) == ("pre-merge", "main", "Add July")
    assert "tag_id" not in sent


async def test_query_and_headers_have_their_secrets(receiver: Receiver) -> None:
    called = await call_webhook(
        url=f"{receiver.url}/status/204",
        query_params={"one": "a&b", "many": ["x", "{{ ENV.LAKEFSACTION_QUERY }}"]},
        headers={"X-Token": "Bearer {{ENV.LAKEBEDACTION_TOKEN}}"},
        environment=ENVIRONMENT,
    )
    got = receiver.requests[-1]
    assert called.outcome.state == "passed"
    assert got.query == [("one", "a&b"), ("many", "x"), ("many", "qu3ry&value")]
    assert got.headers["x-token"] == f"Bearer {ENVIRONMENT['LAKEBEDACTION_TOKEN']}"


async def test_a_signed_message_is_verified(receiver: Receiver) -> None:
    await call_webhook(
        url=f"{receiver.url}/status/200", secret="{{ ENV.LAKEBEDACTION_KEY }}", environment=ENVIRONMENT, now=NOW + 0.9
    )
    got = receiver.requests[-1]
    signatures.verify(KEY, got.headers, got.body, now=NOW)
    with pytest.raises(signatures.SignatureError):
        signatures.verify(KEY, got.headers, got.body + b" ", now=NOW)
    assert (got.headers["webhook-id"], got.headers["webhook-timestamp"]) == ("msg_1", str(NOW))


async def test_cloudevents(receiver: Receiver) -> None:
    await call_webhook(url=f"{receiver.url}/status/200", format="cloudevents")
    got = receiver.requests[-1]
    sent = json.loads(got.body)
    assert got.headers["content-type"] == "application/cloudevents+json"
    assert (sent["specversion"], sent["id"], sent["type"]) == ("1.0", "msg_1", "io.lakebed.pre-merge")
    assert sent["source"] == "https://lake.example.com/repositories/sales"
    assert sent["data"]["repository_id"] == EVENT.repository_id


JSON = "header=content-type:application/json"
HTML = "header=content-type:text/html"
PLAIN = "header=content-type:text/plain;charset=utf-8"


@pytest.mark.parametrize(
    ("answer", "state", "message", "retry_after"),
    [
        ("200", "passed", "", 0),
        ("204", "passed", "", 0),
        ("202", "passed", "", 0),
        (f'202?{JSON}&body={{"other":1}}', "passed", "", 0),
        (f'202?{JSON}&body={{"check":"nightly"}}', "pending", "the check 'nightly' is not finished", 0),
        (f'202?{JSON}&body={{"check":7}}', "error", '"check" is not the name of a check', -1),
        (f'202?{JSON}&body={{"check":""}}', "error", '"check" is not the name of a check', -1),
        (f'200?{JSON}&body={{"check":"nightly"}}', "passed", "", 0),
        (f"403?{PLAIN}&body=no%20e-mail%20addresses", "refused", "no e-mail addresses", -1),
        ("422?body=plain%20without%20a%20type", "refused", "plain without a type", -1),
        (f'412?{JSON}&body={{"message":"two\\nlines"}}', "refused", "two lines", -1),
        (f'412?{JSON}&body={{"message":7}}', "refused", "the receiver refused the change with status 412", -1),
        (f"400?{HTML}&body=<h1>no</h1>", "refused", "the receiver refused the change with status 400", -1),
        ("404", "refused", "the receiver refused the change with status 404", -1),
        ("410", "refused", "the receiver refused the change with status 410", -1),
        (f"400?{PLAIN}&body={'long%20' * 401}", "refused", "the receiver refused the change with status 400", -1),
        (f"400?{PLAIN}&body=%1B[31mred%00", "refused", "\ufffd[31mred\ufffd", -1),
        (f"400?{PLAIN}&body=%FF%FE", "refused", "\ufffd", -1),
        ("301", "error", "hooks do not follow redirects", -1),
        ("408", "error", "the receiver could not check the change: status 408 Because", 0),
        ("425", "error", "the receiver could not check the change: status 425 Because", 0),
        ("429?header=retry-after:120", "error", "status 429", 120),
        ("503?header=retry-after:7", "error", "status 503", 7),
        ("503?header=retry-after:soon", "error", "status 503", 0),
        ("500", "error", "status 500", 0),
    ],
)
async def test_each_response_has_its_error(
    receiver: Receiver, answer: str, state: str, message: str, retry_after: float
) -> None:
    outcome = (await call_webhook(url=f"{receiver.url}/status/{answer}")).outcome
    assert (outcome.state, outcome.retry_after, outcome.status) == (state, retry_after, int(answer[:3]))
    assert message in outcome.message
    assert outcome.message or state == "passed"
    assert outcome.check == ("nightly" if state == "pending" else "")


@pytest.mark.parametrize(
    ("path", "message", "retry_after"),
    [
        ("/hang", "no complete answer within 0.3 s", 0),
        ("/drip", "no complete answer within 0.3 s", 0),
        ("/close", "closed the connection", 0),
        ("/half", "closed the connection", 0),
        ("/garbage", "not HTTP", 0),
        ("/redirect/302?to=http://127.0.0.1/", "hooks do not follow redirects", -1),
        ("/flood/chunked", "the receiver sent more than 1 MiB", -1),
    ],
)
async def test_bad_receivers_are_errors_and_not_refusals(
    receiver: Receiver, path: str, message: str, retry_after: float
) -> None:
    called = await call_webhook(url=receiver.url + path, timeout="60s" if "flood" in path else "300ms")
    assert called.outcome.state == "error"
    assert message in called.outcome.message
    assert called.outcome.retry_after == retry_after


async def test_the_shorter_time_counts(receiver: Receiver) -> None:
    called = await call_webhook(url=f"{receiver.url}/hang", timeout="1h", seconds=0.2)
    assert "within 0.2 s" in called.outcome.message


async def test_a_forbidden_host_is_an_error_without_retry(receiver: Receiver) -> None:
    called = await call_webhook(url="http://169.254.169.254/latest/meta-data")
    assert (called.outcome.state, called.outcome.retry_after) == ("error", -1)
    assert "hooks.webhook.allow" in called.outcome.message
    assert called.outcome.message in called.log


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"x": "{{ ENV.LAKEBEDACTION_MISSING }}"}, "LAKEBEDACTION_MISSING is not set"),
        ({"x": "{{ ENV.LAKEBEDACTION_EMPTY }}"}, "LAKEBEDACTION_EMPTY is not set"),
        ({"x": "{{ ENV.LAKEBED_AUTH_SECRET_KEY }}"}, "may not read the variable LAKEBED_AUTH_SECRET_KEY"),
        ({"x": "{{ ENV.PATH }}"}, "may not read the variable PATH"),
    ],
)
async def test_a_secret_that_cannot_be_used_sends_nothing(
    receiver: Receiver, headers: dict[str, str], words: str
) -> None:
    before = len(receiver.requests)
    called = await call_webhook(url=f"{receiver.url}/status/200", headers=headers, environment=ENVIRONMENT)
    assert (called.outcome.state, called.outcome.retry_after) == ("error", -1)
    assert words in called.outcome.message
    assert len(receiver.requests) == before


async def test_a_secret_that_is_no_key_sends_nothing(receiver: Receiver) -> None:
    before = len(receiver.requests)
    called = await call_webhook(
        url=f"{receiver.url}/status/200", secret="{{ENV.LAKEBEDACTION_TOKEN}}", environment=ENVIRONMENT
    )
    assert (called.outcome.state, called.outcome.retry_after) == ("error", -1)
    assert ENVIRONMENT["LAKEBEDACTION_TOKEN"] not in called.outcome.message + called.log
    assert len(receiver.requests) == before


@pytest.mark.parametrize("status", [200, 403, 500])
async def test_no_secret_is_in_logs_and_messages(
    receiver: Receiver, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """The receiver returns the whole request as JSON, in a header, and unchanged."""
    caplog.set_level(logging.DEBUG)
    called = await call_webhook(
        url=f"{receiver.url}/echo?status={status}",
        query_params={"q": "{{ ENV.LAKEFSACTION_QUERY }}"},
        headers={"Authorization": "Bearer {{ ENV.LAKEBEDACTION_TOKEN }}"},
        secret="{{ ENV.LAKEBEDACTION_KEY }}",
        environment=ENVIRONMENT,
    )
    got = receiver.requests[-1]
    assert ENVIRONMENT["LAKEBEDACTION_TOKEN"] in got.headers["authorization"]  # it did get them
    assert got.arguments["q"] == "qu3ry&value"
    written = called.log + called.outcome.message + caplog.text + repr(called.outcome)
    assert f"status {status} Echo" in called.log
    assert "x-echo: Bearer ********" in called.log
    for secret in (*ENVIRONMENT.values(), KEY.removeprefix("whsec_"), "t0k3n", "qu3ry"):
        assert not secret or secret not in written


async def test_a_long_answer_is_cut_in_the_log(receiver: Receiver) -> None:
    called = await call_webhook(url=f"{receiver.url}/status/200", query_params={"body": "long " * 5000})
    assert called.log.endswith("\n(cut here)\n")
    assert called.log.count("long ") > 3000
    assert 16_000 < len(called.log) < 17_000


@pytest.mark.parametrize("before", range(0, 104, 13))
async def test_no_part_of_a_secret_is_left_where_the_text_is_cut(receiver: Receiver, before: int) -> None:
    """The asterisks are shorter than the secrets, so masking brings the cut end of the text into view."""
    secret = "abcdefghijklmnopqrstuvwxyz" * 4
    called = await call_webhook(
        url=f"{receiver.url}/status/200",
        query_params={"body": "x" * before + "{{ ENV.LAKEBEDACTION_S }}" * 300},
        environment={"LAKEBEDACTION_S": secret},
    )
    assert receiver.requests[-1].arguments["body"] == "x" * before + secret * 300
    assert "*****\n(cut here)" in called.log
    assert "abc" not in called.log


async def test_a_compressed_answer_is_not_shown(receiver: Receiver) -> None:
    called = await call_webhook(url=f"{receiver.url}/bomb")
    assert called.outcome.state == "passed"
    assert "(compressed, not shown)" in called.log
    assert len(called.log) < 1000


async def test_headers_of_the_receiver_that_are_secrets(receiver: Receiver) -> None:
    called = await call_webhook(url=f"{receiver.url}/status/200?header=set-cookie:session=s3cret")
    assert "set-cookie: ********" in called.log
    assert "s3cret" not in called.log
