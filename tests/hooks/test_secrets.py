"""Hooks read only the variables that they may read, and no secret is left in a masked text."""

from __future__ import annotations

import base64
import html
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lakebed_hooks.secrets import MASK, Expanded, SecretError, expand, mask, names

from tests.support.sizes import examples

ENVIRONMENT = {
    "LAKEFSACTION_A": "alpha",
    "LAKEBEDACTION_B": "beta {{ ENV.LAKEBED_AUTH_SECRET_KEY }}",
    "LAKEBEDACTION_EMPTY": "",
    "LAKEBED_AUTH_SECRET_KEY": "the key of the server",
    "HOME": "/root",
}


def test_variables_are_replaced() -> None:
    assert expand("no variable", ENVIRONMENT) == Expanded("no variable", frozenset())
    assert expand("Bearer {{ ENV.LAKEFSACTION_A }}", ENVIRONMENT) == Expanded("Bearer alpha", frozenset({"alpha"}))
    twice = expand("{{ENV.LAKEFSACTION_A}}{{  ENV.LAKEFSACTION_A\t}}", ENVIRONMENT)
    assert expand("{{{ ENV.LAKEFSACTION_A }}}", ENVIRONMENT).text == "{alpha}"
    assert twice == Expanded("alphaalpha", frozenset({"alpha"}))


def test_a_value_is_not_expanded_again() -> None:
    value = ENVIRONMENT["LAKEBEDACTION_B"]
    assert expand("{{ ENV.LAKEBEDACTION_B }}", ENVIRONMENT) == Expanded(value, frozenset({value}))


def test_prefixes_come_from_the_settings() -> None:
    assert expand("{{ ENV.HOME }}", ENVIRONMENT, ["HO"]).text == "/root"
    for prefixes in ([], [""]):
        with pytest.raises(SecretError, match="the settings allow no prefix"):
            expand("{{ ENV.HOME }}", ENVIRONMENT, prefixes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{{ ENV.LAKEBED_AUTH_SECRET_KEY }}",
            "hooks may not read the variable LAKEBED_AUTH_SECRET_KEY: they read names that begin with LAKEFS",
        ),
        ("{{ ENV.HOME }}", "hooks may not read the variable HOME"),
        ("{{ ENV.XLAKEFSACTION_A }}", "hooks may not read the variable XLAKEFSACTION_A"),
        ("{{ ENV.lakefsaction_A }}", "hooks may not read the variable lakefsaction_A"),
        ("{{ ENV.LAKEBEDACTION_GONE }}", "the variable LAKEBEDACTION_GONE is not set on the server"),
        ("{{ ENV.LAKEBEDACTION_EMPTY }}", "the variable LAKEBEDACTION_EMPTY is not set on the server"),
        ("{{ ENV.LAKEFSACTION_A }} {{ ENV.HOME }}", "hooks may not read the variable HOME"),
        ("{{ LAKEFSACTION_A }}", "'{{' does not begin a variable"),
        ("{{ ENV.LAKEFSACTION_A", "'{{' does not begin a variable"),
        ("{{ ENV.LAKEFSACTION_A | upper }}", "'{{' does not begin a variable"),
        ("{{ ENV. }}", "'{{' does not begin a variable"),
    ],
)
def test_errors(text: str, said: str) -> None:
    with pytest.raises(SecretError, match=re.escape(said)) as caught:
        expand(text, ENVIRONMENT)
    assert not [value for value in ENVIRONMENT.values() if value and value in caught.value.message]


def test_a_result_does_not_show_its_secrets() -> None:
    assert "alpha" not in repr(expand("{{ ENV.LAKEFSACTION_A }}", ENVIRONMENT))


def test_names() -> None:
    assert names("{{ ENV.A }} and {{ENV.B_1}}") == ["A", "B_1"]


@given(st.text("{} ENV.LAKFSCTIO_A", max_size=60))
def test_no_template_is_left(text: str) -> None:
    try:
        expanded = expand(text, ENVIRONMENT)
    except SecretError:
        return
    assert "{{" not in expanded.text.replace("alpha", "")


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda secret: secret,
    "URL": lambda secret: quote(secret, safe=""),
    "URL with slashes": quote,
    "URL in lower case": lambda secret: re.sub("%..", lambda found: found[0].lower(), quote(secret, safe="")),
    "form": quote_plus,
    "every character": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "JSON with Unicode": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "HTML": html.escape,
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "Basic, 1": lambda secret: "Basic " + base64.b64encode(f"j:{secret}".encode()).decode(),
    "Basic, 2": lambda secret: "Basic " + base64.b64encode(f"ja:{secret}".encode()).decode(),
    "Basic, 3": lambda secret: "Basic " + base64.b64encode(f"jan:{secret}".encode()).decode(),
    "after one letter": lambda secret: "x" + base64.b64encode(f"jane:{secret}".encode()).decode(),
    "after two letters": lambda secret: "xx" + base64.b64encode(f"jane:{secret}".encode()).decode(),
    "after three letters": lambda secret: "xxx" + base64.b64encode(f"jane:{secret}".encode()).decode(),
    "Basic after other letters": lambda secret: "Basic" + base64.b64encode(f"jane:{secret}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "secret", ["hunter2", 'p@ss w/rd+&?="\\', "größe\n✓", "whsec_MfKQ9r8G/KYq+TwjUPD8", "a" * 5000]
)
def test_every_form_is_hidden(form: str, secret: str) -> None:
    shown = FORMS[form](secret)
    masked = mask(f"GET /?a={shown} HTTP/1.1", [secret])
    assert masked.startswith("GET /?a=")
    assert masked.endswith(" HTTP/1.1")
    assert shown.removeprefix("Basic ").rstrip("=") not in masked
    assert MASK in masked


def test_other_text_stays() -> None:
    text = (
        "POST https://checks.example.com/schema 200 in 0.5s: orders/2024/01.parquet has 3 rows, é, eyJhbGciOiJub25lIn0"
    )
    assert mask(text, ["hunter2", "alpha"]) == text
    assert mask(text, []) == text
    assert mask(text, ["", "*", "***"]) == text


def test_the_longer_secret_is_hidden_first() -> None:
    assert mask("abc abcdef", ["abc", "abcdef"]) == f"{MASK} {MASK}"


SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: text.strip("*")
)


@examples(300, soak=5000)
@given(
    st.lists(SECRETS, min_size=1, max_size=4),
    st.lists(st.tuples(st.text(max_size=5), st.sampled_from(list(FORMS)), st.integers(0, 3)), max_size=6),
)
@example(["a*"], [("a", "as it is", 0)])
@example(["ab", "b"], [("a", "as it is", 1), ("", "as it is", 0)])
def test_no_secret_survives(secrets: list[str], parts: list[tuple[str, str, int]]) -> None:
    shown = [FORMS[form](secrets[which % len(secrets)]) for _, form, which in parts]
    text = "".join(f"{between}{form}" for (between, _, _), form in zip(parts, shown, strict=True))
    masked = mask(text, secrets)
    for secret in secrets:
        assert secret not in masked
        assert quote(secret, safe="") not in masked
        assert quote_plus(secret) not in masked
        assert json.dumps(secret)[1:-1] not in masked
        assert base64.b64encode(secret.encode()).decode().rstrip("=") not in masked
        assert base64.b64encode(f"user:{secret}".encode()).decode().rstrip("=") not in masked


def test_masking_does_not_take_long() -> None:
    began = time.monotonic()
    long = "x" * (256 << 10)
    assert mask(long, ["x" * 50 + "y", "hunter2" * 100]) == long
    assert mask("%78" * 80_000, ["x" * 50 + "y"]) == "%78" * 80_000
    assert time.monotonic() - began < 10
