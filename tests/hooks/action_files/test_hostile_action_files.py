"""Files that are broken or made to do harm: each gets a clear error, in a short time and with little memory."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lakebed_hooks import Action, ActionFileError
from lakebed_hooks.action_files import MOST_BYTES, parse
from lakebed_hooks.vocabulary import EVENTS

from tests.hooks.files import WEBHOOK, file, refused
from tests.support.sizes import examples

LONGEST = 10.0
"""Seconds for any file. The slowest one takes 0.5 s on a quiet machine, and 4 s with the parser in Python."""


def bomb(width: int, depth: int) -> str:
    """A few hundred bytes that expand to width ** depth values."""
    lines = ["a0: &a0 [" + ",".join("x" * width) + "]"]
    lines += [f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * width)}]" for level in range(1, depth)]
    return "\n".join(lines)


def wide_bomb() -> str:
    """Nothing is deep, but one long text is used very often."""
    return f"a: &a {'x' * 500_000}\nb: [{','.join(['*a'] * 100_000)}]"


def deep_aliases() -> str:
    """No bracket is inside many others, but the aliases are."""
    return "a0: &a0 [x]\n" + "\n".join(f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, 5000))


HOSTILE = {
    "empty": (b"", "the file is empty"),
    "only a comment": (b"# nothing\n", "the file is empty"),
    "null": (b"~", "the file must be a mapping"),
    "a text": (b"hello", "the file must be a mapping"),
    "a list": (b"- a", "the file must be a mapping"),
    "a tab": (b"name: checks\n\ton: x", "the file is not YAML: found "),
    "no end of a list": (b"name: checks\non: [a\n", "the file is not YAML: "),
    "no end of quotes": (b'name: "checks', "the file is not YAML: found unexpected end of stream"),
    "zero bytes": (b"\0" * 1000, "the file is not YAML"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "the file is not UTF-8"),
    "UTF-16": ("name: checks".encode("utf-16"), "the file is not UTF-8"),
    "Latin-1": ("name: größe".encode("latin-1"), "the file is not UTF-8"),
    "half of a surrogate pair": (b'name: "\\uD800"', ""),
    "no character": (b'name: "\\UFFFFFFFF"', ""),
    "several MB": (WEBHOOK.encode() + b"# " + b"x" * (5 << 20), f"bytes, at most {MOST_BYTES}"),
    "a bomb": (bomb(9, 9).encode(), "aliases expand to too many"),
    "a wide bomb": (wide_bomb().encode(), "aliases expand to too many"),
    "deep lists": (b"[" * 500_000, "nest"),
    "deep mappings": (b"{a: " * 250_000, "nest"),
    "deep blocks": ("\n".join(" " * n + "a:" for n in range(1000)).encode(), "nested more than 30 levels deep"),
    "deep block lists": (b"- " * 500_000 + b"x", "nested more than 30 levels deep"),
    "deep aliases": (deep_aliases().encode(), "nested more than 30 levels deep"),
    "an alias of itself": (b"a: &a [*a]", "the alias *a has no finished anchor &a before it"),
    "an unknown alias": (b"a: *b", "the alias *b has no finished anchor &b before it"),
    "many values": (b"- a\n" * (MOST_BYTES // 4), "the file has too many values"),
    "many keys": ("".join(f"{n}:\n" for n in range(100_000)).encode(), "the file has too many values"),
    "a Python object": (b"!!python/object/apply:os.system [echo]", "the tag tag:yaml.org,2002:python/object"),
    "a tag of binary data": (b"name: !!binary aGk=", "the tag tag:yaml.org,2002:binary is not supported"),
    "a long tag": (b"name: !<" + b"x" * 100_000 + b"> a", ""),
    "a list as a key": (b"? [a]\n: b", "a key of a mapping must be text"),
    "two documents": (b"name: a\n---\nname: b", "a second document begins here"),
    "a merge of a text": (b"<<: a", "'<<' merges mappings only"),
    "a directive": (b"%YAML 99.99\n---\nname: a", "the file is not YAML"),
    "a million digits": (
        b"name: checks\non: {pre-commit: }\nhooks: [{id: one, type: python, properties: {entry: a, args: {n: "
        + b"9" * 1_000_000
        + b", m: 1e9999999}}}]",
        "the number 1e9999999 is too large",
    ),
    "invisible characters": ("name: \u200b\u202e\u2066on".encode(), "the key 'on' is missing"),
    "a long unknown event": (b"on: {" + b"x" * 900 + b": }", "unknown event"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files(case: str) -> None:
    content, said = HOSTILE[case]
    began = time.monotonic()
    error = refused(content)
    assert time.monotonic() - began < LONGEST
    assert said in error.message
    assert len(error.message) < 1000
    if case != "a million digits":
        assert error.events == set(), "which events the file names is unknown, so it blocks all"


def test_the_line_of_broken_yaml() -> None:
    assert refused(WEBHOOK.replace("type: webhook", "type: [webhook")).line == 9
    assert refused(b"name: a\ndescription: \xff\n").line == 2


def test_a_byte_order_mark_is_ignored() -> None:
    assert parse(file("\ufeff".encode() + WEBHOOK.encode())).name == "checks"


@pytest.mark.parametrize("size", [MOST_BYTES, MOST_BYTES + 1])
def test_the_largest_file(size: int) -> None:
    content = WEBHOOK.encode() + b"#"
    content += b"x" * (size - len(content))
    if size > MOST_BYTES:
        assert "has 1048577 bytes, at most 1048576" in refused(content).message
    else:
        assert parse(file(content)).name == "checks"


def read(content: bytes) -> Action | ActionFileError:
    """What parsing returns. Any other error than its own one escapes, and so fails the test."""
    try:
        return parse(file(content))
    except ActionFileError as error:
        return error


PIECES = st.sampled_from(
    [
        "name: checks\n",
        "on:\n",
        "  pre-merge:\n",
        "    branches: [main]\n",
        "hooks:\n",
        "  - id: one\n",
        "    type: ",
        "webhook\n",
        "python\n",
        "contract\n",
        "{path: a, checks: [{unique: b}]}",
        "    properties: ",
        "{url: 'http://a'}",
        "{entry: a}",
        "\n",
        " ",
        "&a ",
        "*a",
        "<<: ",
        "{",
        "}",
        "[",
        "]",
        ",",
        ": ",
        "- ",
        "? ",
        "| ",
        "> ",
        "'",
        '"',
        "!",
        "!!str ",
        "%",
        "@",
        "`",
        "#",
        "---\n",
        "...\n",
        "\\",
        "\\u",
        "\t",
        "~",
        "1e5",
        "0x",
        "{{ ENV.A }}",
        "é",
        "\u2028",
        "\x85",
        "\ufeff",
        "😀",
        "\0",
    ]
)


@examples(400, soak=5000)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
@example(b"%\n--- !")
def test_any_bytes(content: bytes) -> None:
    began = time.monotonic()
    assert isinstance(read(content), ActionFileError)
    assert time.monotonic() - began < LONGEST


@examples(600, soak=10_000)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_pieces_of_action_files(text: str) -> None:
    result = read(text.encode())
    if isinstance(result, Action):
        assert set(result.on) <= EVENTS
        assert result.hooks
    else:
        assert result.events <= EVENTS


@examples(600, soak=10_000)
@given(st.data())
def test_a_changed_action_file_is_read_or_refused(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(WEBHOOK)))
    length = data.draw(st.integers(0, 5))
    piece = data.draw(st.one_of(PIECES, st.text(max_size=3)))
    result = read((WEBHOOK[:at] + piece + WEBHOOK[at + length :]).encode("utf-8", "replace"))
    assert result.name if isinstance(result, Action) else result.message
