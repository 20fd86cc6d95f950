from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from lakebed_server.rest.binder import PATTERNS
from lakebed_wire import models, operations
from msgspec import UNSET

from tests.server.binding import body, params, refused


def test_names_of_path_query_and_headers() -> None:
    p = params("getObject", "path=a%2Fb+c", {b"range": b"bytes=0-1", b"if-none-match": b'"x"'}, ("repo", "a%2Fb"))
    assert (p.repository, p.ref, p.path, p.range, p.if_none_match) == ("repo", "a/b", "a/b c", "bytes=0-1", '"x"')
    assert p.presign is UNSET


@pytest.mark.parametrize("word", ["1", "t", "T", "true", "True", "TRUE"])
def test_true(word: str) -> None:
    assert params("listBranches", f"show_hidden={word}", raw=("repo",)).show_hidden is True


@pytest.mark.parametrize("word", ["0", "f", "F", "false", "False", "FALSE"])
def test_false(word: str) -> None:
    assert params("listBranches", f"show_hidden={word}", raw=("repo",)).show_hidden is False


@pytest.mark.parametrize("word", ["", "yes", "on", "tRUE", "2", "null", "+1"])
def test_other_booleans_are_refused(word: str) -> None:
    error = refused(params, "listBranches", f"show_hidden={word}", raw=("repo",))
    assert error.message == "parameter show_hidden: expected true or false"


@pytest.mark.parametrize(("word", "number"), [("-1", -1), ("0", 0), ("1000", 1000), ("1.0", 1), ("1e2", 100)])
def test_integers(word: str, number: int) -> None:
    assert params("diffBranch", f"amount={word}").amount == number


@pytest.mark.parametrize("word", ["", "1001", "-2", "x", "1_0", "%201", "0x10", "1.5", "99999999999999999999", "null"])
def test_integers_refused(word: str) -> None:
    assert refused(params, "diffBranch", f"amount={word}").message.startswith("parameter amount: ")


@pytest.mark.parametrize("text", ["null", "true", "1", "1e5", "NaN"])
def test_text_stays_text(text: str) -> None:
    assert params("statObject", f"path={text}").path == text


def test_unknown_keys_are_ignored_even_twice() -> None:
    assert params("diffBranch", "nope=1&nope=2&&=&x").amount is UNSET


def test_a_scalar_given_twice_is_refused() -> None:
    assert refused(params, "diffBranch", "prefix=a&prefix=a").message == "parameter prefix: given twice"


def test_arrays_collect_one_and_many_and_none() -> None:
    assert params("logCommits", "objects=a&objects=b%26c&objects=").objects == ["a", "b&c", ""]
    assert params("logCommits", "objects=a").objects == ["a"]
    assert params("logCommits").objects == []


def test_times() -> None:
    expected = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert params("logCommits", "since=2026-01-31T12:00:00Z").since == expected
    assert params("logCommits", "since=2026-01-31t13:00:00%2B01:00").since == expected


@pytest.mark.parametrize("word", ["12345", "0.5", "2026-01-31", "2026-01-31%2012:00:00Z", "", "2026-13-01T00:00:00Z"])
def test_numbers_and_half_times_are_refused(word: str) -> None:
    assert refused(params, "logCommits", f"since={word}").message.startswith("parameter since: ")


@pytest.mark.parametrize("query", ["path=%FF", "path=%zz", "path=%", "%FF=1", "path=a\xe9"])
def test_the_query_is_strict(query: str) -> None:
    assert refused(params, "statObject", query).kind == "invalid_request"


def test_object_paths_may_hold_anything_that_is_utf8() -> None:
    assert params("statObject", "path=..%2F%2F%0A%F0%9F%98%80").path == "..//\n😀"


def test_missing_required_parameter_is_refused() -> None:
    assert refused(params, "statObject").message == "parameter: Object missing required field `path`"
    assert refused(params, "statObject", "path=").message.startswith("parameter path: ")


def test_unknown_enum_values_are_refused() -> None:
    assert refused(params, "diffRefs", "type=four_dot", raw=("r", "a", "b")).message.startswith("parameter type: ")


def test_an_empty_header_is_no_header() -> None:
    assert params("getObject", "path=a", {b"range": b""}).range is UNSET


def test_control_characters_in_headers_are_refused() -> None:
    assert refused(params, "getObject", "path=a", {b"if-none-match": b"a\x01"}).kind == "invalid_request"


def test_a_body_in_pieces_and_unknown_fields() -> None:
    made = body("createTag", b'{"id":"v1",', b'"nope":1,"ref":"main"}')
    assert made == models.TagCreation(id="v1", ref="main")
    assert body("createTag", b'{"id":"v1","ref":"main"}', length=False) == made


def test_an_empty_optional_body_is_no_body() -> None:
    assert body("mergeIntoBranch") is None
    assert body("mergeIntoBranch", length=False) is None
    assert body("login") is None


def test_an_empty_required_body() -> None:
    assert refused(body, "createTag").message == "body: required"


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"nope",
        b"null",
        b"[]",
        b"{}",
        b'{"id":"v","ref":NaN}',
        b'{"id":"v","ref":"\xff"}',
        b'{"id":"v","ref":"\\ud800"}',
        b'{"id":"v","ref":null}',
        b'{"id":1,"ref":"main"}',
        b'{"id":"v","ref":"main"} x',
    ],
)
def test_bodies_refused(raw: Any) -> None:
    error = refused(body, "createTag", raw)
    assert error.kind == "invalid_request"
    assert error.message.startswith("body")


def test_numbers_of_a_body_are_bounded() -> None:
    assert body("commit", b'{"message":"","date":253402300799}').date == 253402300799
    for date in (b"253402300800", b"-1", b"1.5", b'"1"', b"9223372036854775808"):
        assert refused(body, "commit", b'{"message":"","date":%s}' % date).message.startswith("body date: ")


def test_messages_name_the_place() -> None:
    assert refused(body, "deleteObjects", b'{"paths":["a",1]}').message == "body paths[1]: Expected `str`, got `int`"


def test_an_error_keeps_a_value_that_resembles_a_location() -> None:
    error = refused(body, "commitWorkspace", b'{"policy":" - at `$.message`"}')
    assert error.message == "body policy: Invalid enum value ' - at `$.message`'"


def test_an_invalid_name_has_its_own_error_kind() -> None:
    error = refused(body, "createRepository", b'{"name":"No","storage_namespace":"mem://x"}')
    assert error.kind == "invalid_name"
    assert error.message == (
        "body name: expected 3 to 63 lower-case letters, digits and hyphens, beginning with a letter or a digit"
    )
    error = refused(body, "createRepository", b'{"name":"good","storage_namespace":"ftp://x"}')
    assert error.kind == "invalid_namespace"


def test_every_pattern_of_the_spec_has_a_description() -> None:
    named = [*vars(models).values(), *vars(operations).values()]
    structs = [one for one in named if isinstance(one, type) and issubclass(one, msgspec.Struct)]
    patterns = set()
    for info in msgspec.inspect.multi_type_info(structs):
        for field in info.fields:  # type: ignore[attr-defined]
            kinds = getattr(field.type, "types", (field.type,))
            patterns |= {kind.pattern for kind in kinds if isinstance(kind, msgspec.inspect.StrType) and kind.pattern}
    assert patterns == set(PATTERNS)


@pytest.mark.parametrize("kind", [b"application/json", b"Application/JSON; charset=utf-8", b"application/problem+json"])
def test_content_types_of_json(kind: Any) -> None:
    assert body("createTag", b'{"id":"v","ref":"m"}', headers={b"content-type": kind}).id == "v"


def test_without_a_content_type_it_is_taken_as_json() -> None:
    assert body("createTag", b'{"id":"v","ref":"m"}', headers={}).id == "v"


@pytest.mark.parametrize("kind", [b"text/plain", b"application/x-www-form-urlencoded", b"application/jsonx", b"\xff"])
def test_other_content_types_are_refused(kind: Any) -> None:
    error = refused(body, "createTag", b'{"id":"v","ref":"m"}', headers={b"content-type": kind})
    assert error.message.startswith("body: expected Content-Type application/json")


def test_large_bodies_are_refused_declared_or_not() -> None:
    assert refused(body, "createTag", b"x" * 1001).kind == "request_too_large"
    assert refused(body, "createTag", b"x" * 600, b"x" * 600, length=False).kind == "request_too_large"


def test_deep_json_is_a_bad_request() -> None:
    assert refused(body, "setRepositoryMetadata", b'{"x":' + b"[" * 900).kind == "invalid_request"
