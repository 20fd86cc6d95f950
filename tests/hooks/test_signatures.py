"""Signatures of webhooks agree with the specification and with its own library."""

from __future__ import annotations

import base64
import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.signatures import SignatureError, sign, verify
from standardwebhooks.webhooks import Webhook

# The example of the specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER_SECRET = "whsec_" + base64.b64encode(b"x" * 32).decode()
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
TIME = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def headers(**changes: str) -> dict[str, str]:
    signed = sign(SECRET, delivery=ID, timestamp=TIME, body=BODY)
    return signed | {f"webhook-{name}": text for name, text in changes.items()}


def test_the_example_of_the_specification() -> None:
    assert headers() == {"webhook-id": ID, "webhook-timestamp": str(TIME), "webhook-signature": SIGNATURE}
    assert verify(SECRET, headers(), BODY, now=TIME) == ID
    assert verify(SECRET.removeprefix("whsec_"), headers(), BODY, now=TIME) == ID


def test_names_of_headers_have_any_case_and_signatures_may_be_several() -> None:
    assert verify(SECRET, {name.title(): text for name, text in headers().items()}, BODY, now=TIME) == ID
    assert verify(SECRET, headers(signature=f"v1a,AAAA v1,AAAA {SIGNATURE}"), BODY, now=TIME) == ID


@pytest.mark.parametrize("late", [-300, 0, 300])
def test_clocks_may_differ_by_five_minutes(late: int) -> None:
    assert verify(SECRET, headers(), BODY, now=TIME + late) == ID


@pytest.mark.parametrize(
    ("secret", "given_headers", "body", "now", "said"),
    [
        (SECRET, headers(), BODY, TIME + 301, "more than 300 seconds older or newer"),
        (SECRET, headers(), BODY, TIME - 301, "more than 300 seconds older or newer"),
        (OTHER_SECRET, headers(), BODY, TIME, "no signature of the message is valid"),
        (SECRET, headers(), BODY + b" ", TIME, "no signature of the message is valid"),
        (SECRET, headers(id="msg_other"), BODY, TIME, "no signature of the message is valid"),
        (SECRET, headers(timestamp=str(TIME + 1)), BODY, TIME, "no signature of the message is valid"),
        (
            SECRET,
            headers(signature=SIGNATURE.replace("v1,", "v2,")),
            BODY,
            TIME,
            "no signature of the message is valid",
        ),
        (SECRET, headers(signature=""), BODY, TIME, "no signature of the message is valid"),
        (SECRET, headers(signature="é"), BODY, TIME, "no signature of the message is valid"),
        (SECRET, headers(signature="v1,x " * 20 + SIGNATURE), BODY, TIME, "no signature of the message is valid"),
        (SECRET, headers(timestamp="now"), BODY, TIME, "must be Unix seconds"),
        (SECRET, headers(timestamp="1" * 5000), BODY, TIME, "must be Unix seconds"),
        (SECRET, headers(timestamp="-1"), BODY, TIME, "must be Unix seconds"),
        (SECRET, {}, BODY, TIME, "the message has no header webhook-id"),
    ],
)
def test_refused(secret: str, given_headers: dict[str, str], body: bytes, now: int, said: str) -> None:
    with pytest.raises(SignatureError, match=said):
        verify(secret, given_headers, body, now=now)


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_hunter2", "whsec_" + "!" * 40, "hunter2é", "whsec_" + "A" * 28, "whsec_" + "A" * 88]
)
def test_invalid_secrets_are_refused(secret: str) -> None:
    with pytest.raises(SignatureError, match=re.escape("the secret of the webhook")) as caught:
        sign(secret, delivery=ID, timestamp=TIME, body=BODY)
    assert "hunter2" not in caught.value.message


@given(
    st.binary(min_size=24, max_size=64),
    st.from_regex(r"[a-z0-9_]{1,20}", fullmatch=True),
    st.text(max_size=50),
    st.integers(0, 1 << 31),
)
def test_as_the_library_of_the_specification(key: bytes, delivery: str, text: str, seconds: int) -> None:
    secret = "whsec_" + base64.b64encode(key).decode()
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    signed = sign(secret, delivery=delivery, timestamp=seconds, body=text.encode())
    assert Webhook(secret).sign(delivery, at, text) == signed["webhook-signature"]
    assert verify(secret, signed, text.encode(), now=seconds) == delivery
