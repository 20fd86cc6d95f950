from typing import Any

import pytest
from lakebed_server.rest.routing import Trie, decode_segment
from lakebed_server.vocabulary import RequestError
from lakebed_wire.operations import OPERATIONS

TRIE = Trie((op.method, op.path, op.operation_id) for op in OPERATIONS)
ROOT = "/repositories/repo"


def refused(method: str, path: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        TRIE.find(method, path)
    return caught.value


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.operation_id)
def test_every_operation_is_found_by_its_own_path(op: Any) -> None:
    names = [part for part in op.path.split("/") if part.startswith("{")]
    path = op.path
    for at, name in enumerate(names):
        path = path.replace(name, f"value{at}")
    assert TRIE.find(op.method, path) == (op.operation_id, tuple(f"value{at}" for at in range(len(names))))


def test_parameters_stay_as_they_were_sent() -> None:
    assert TRIE.find("GET", f"{ROOT}/refs/feature%2Fx/objects").raw == ("repo", "feature%2Fx")


def test_a_literal_wins_over_a_parameter_and_is_given_up_when_it_leads_nowhere() -> None:
    trie = Trie([("GET", "/a/c/{y}", 1), ("GET", "/a/{x}/b", 2), ("POST", "/a/{x}/b", 3)])
    assert trie.find("GET", "/a/c/z") == (1, ("z",))
    assert trie.find("GET", "/a/z/b") == (2, ("z",))
    assert trie.find("GET", "/a/c/b") == (1, ("b",))
    assert trie.find("POST", "/a/c/b") == (3, ("c",))  # the method takes part in the search


@pytest.mark.parametrize(
    "path",
    ["", "/", "/nope", "/repositories/", f"{ROOT}/", "//repositories", "/nope//x", f"{ROOT}/refs/a/b"],
)
def test_unknown_paths_are_404(path: str) -> None:
    error = refused("GET", path)
    assert (error.kind, error.message) == ("endpoint_not_found", "invalid API endpoint")


def test_a_wrong_method_is_405_and_names_the_right_ones() -> None:
    error = refused("PATCH", f"{ROOT}/branches/main")
    assert error.kind == "method_not_allowed"
    assert error.headers == ((b"allow", b"DELETE, GET, PUT"),)


@pytest.mark.parametrize("dots", [".", "..", "%2e", "%2E%2e", ".%2E"])
def test_dots_are_refused_where_they_match_nothing(dots: Any) -> None:
    assert refused("GET", f"{ROOT}/{dots}/nope").kind == "invalid_request"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("main", "main"),
        ("feature%2Fx", "feature/x"),
        ("a%252Fb", "a%2Fb"),
        ("a+b", "a+b"),
        ("h%C3%A9%F0%9F%98%80", "hé😀"),
        ("main~2", "main~2"),
        ("%2e%2e%2e", "..."),
    ],
)
def test_segments_are_decoded_exactly_once(raw: Any, value: str) -> None:
    assert decode_segment("ref", raw) == value


@pytest.mark.parametrize("raw", ["%zz", "%", "a%2", "%FF", "%C3", "%00", "a%0Ab", "%7F", "..", "%2e%2e", ".", "%2E"])
def test_segments_that_cannot_be_meant_are_refused(raw: Any) -> None:
    with pytest.raises(RequestError) as caught:
        decode_segment("ref", raw)
    assert caught.value.kind == "invalid_request"


def test_two_operations_for_one_place_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two operations"):
        Trie([("GET", "/a/{x}", 1), ("GET", "/a/{y}", 2)])
