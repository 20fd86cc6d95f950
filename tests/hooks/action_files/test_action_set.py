"""Which actions run for an event, and which errors block it."""

from __future__ import annotations

import threading

import pytest
from lakebed_hooks import ActionFile, ActionFileError
from lakebed_hooks.action_set import CACHE_ENTRY, MOST_FILES, ActionSet, ParsedFiles, build

from tests.hooks.files import WEBHOOK, file, named


def built(*files: ActionFile) -> ActionSet:
    return build(files, ParsedFiles())


def names(found: ActionSet, event: str, branch: str = "") -> list[str]:
    return [action.name for action in found.choose(event, branch).actions]


def messages(found: ActionSet, event: str, branch: str = "") -> list[str]:
    return [error.message for error in found.choose(event, branch).errors]


def test_no_files() -> None:
    nothing = built()
    assert nothing == ActionSet()
    assert not nothing.has("pre-merge")


def test_events_and_branches_choose() -> None:
    found = built(
        file(WEBHOOK),
        named("every branch", "pre-merge", "post-merge", path="b"),
        named("tags", "pre-create-tag", path="c"),
    )
    assert names(found, "pre-merge", "main") == ["checks", "every branch"]
    assert names(found, "pre-merge", "release-7") == ["checks", "every branch"]
    assert names(found, "pre-merge", "dev") == ["every branch"]
    assert names(found, "post-merge", "dev") == ["every branch"]
    assert names(found, "pre-create-tag") == ["tags"]
    assert names(found, "pre-commit", "main") == []
    assert [event for event in ("pre-merge", "post-merge", "pre-commit") if found.has(event)] == [
        "pre-merge",
        "post-merge",
    ]


def test_a_bad_hook_blocks_the_events_of_its_file_only() -> None:
    found = built(file(WEBHOOK.replace("webhook", "lua"), "bad.yaml"), named("good", "pre-merge", "pre-commit"))
    assert messages(found, "pre-merge", "main") == [
        "bad.yaml line 8: hook 'schema': hooks of type lua are not offered: use python or webhook"
    ]
    assert messages(found, "pre-commit", "main") == []
    assert names(found, "pre-commit", "main") == ["good"]
    assert found.has("pre-merge")


@pytest.mark.parametrize("content", ["name: [", WEBHOOK.replace("pre-merge", "pre-comit")])
def test_a_file_whose_events_are_unknown_blocks_every_event(content: str) -> None:
    found = built(file(content, "bad.yaml"), named("good", "pre-merge"))
    for event in ("pre-merge", "post-commit", "pre-create-tag"):
        (message,) = messages(found, event, "main")
        assert message.startswith("bad.yaml line ")
        assert found.has(event)


def test_two_files_with_one_name_block_the_events_of_both() -> None:
    found = built(
        named("same", "pre-merge", path="a.yaml"),
        named("same", "pre-commit", "post-commit", path="b.yaml"),
        named("other", "pre-merge", path="c.yaml"),
    )
    for event in ("pre-merge", "pre-commit", "post-commit"):
        (message,) = messages(found, event, "main")
        assert message == "2 action files have the name 'same', but a name must be unique: a.yaml, b.yaml"
    assert messages(found, "pre-create-tag") == []
    assert names(found, "pre-merge", "main") == ["other"]
    assert names(found, "pre-commit", "main") == []


def test_data_cannot_turn_off_an_action_of_the_server() -> None:
    server = named("same", "post-commit", path="/etc/lakebed/a.yaml", origin="server")
    found = built(
        named("same", "pre-merge", path="a.yaml"), server, named("same", "pre-commit", path="c", origin="settings")
    )
    assert [action.file for action in found.choose("post-commit", "main").actions] == [server]
    (message,) = messages(found, "post-commit", "main")
    assert names(found, "pre-merge", "main") == []
    assert message == "3 action files have the name 'same', but a name must be unique: a.yaml, /etc/lakebed/a.yaml, c"
    assert messages(found, "pre-merge", "main") == messages(found, "pre-commit", "main") == [message]


def test_the_number_of_files_is_bounded() -> None:
    files = [named(f"action {number}", "pre-merge", path=f"{number}.yaml") for number in range(MOST_FILES + 1)]
    assert len(names(built(*files[:-1]), "pre-merge", "main")) == MOST_FILES
    over = built(*files)
    assert names(over, "pre-merge", "main") == []
    assert messages(over, "post-commit", "main") == ["there are 1001 action files, at most 1000"]


def test_a_file_is_parsed_once() -> None:
    parsed = ParsedFiles()
    assert parsed.get(file(WEBHOOK)) is parsed.get(file(WEBHOOK))
    assert parsed.get(file("[")) is parsed.get(file("["))
    elsewhere = parsed.get(file("[", "other.yaml"))
    assert isinstance(elsewhere, ActionFileError)
    assert elsewhere.path == "other.yaml"
    changed = parsed.get(file(WEBHOOK + "\n"))
    assert changed is not parsed.get(file(WEBHOOK))


def test_the_cache_forgets_the_files_that_were_used_longest_ago() -> None:
    parsed = ParsedFiles(3 * CACHE_ENTRY)
    files = [named(f"action {number}", "pre-merge") for number in range(4)]
    first = [parsed.get(one) for one in files[:3]]
    assert parsed.get(files[0]) is first[0]
    last = parsed.get(files[3])
    assert parsed.get(files[3]) is last
    assert parsed.get(files[0]) is first[0]
    assert parsed.get(files[2]) is first[2]
    assert parsed.get(files[1]) is not first[1]


def test_a_file_larger_than_the_cache_is_not_kept() -> None:
    parsed = ParsedFiles(CACHE_ENTRY - 1)
    assert parsed.get(file(WEBHOOK)) is not parsed.get(file(WEBHOOK))


def test_threads_share_a_cache() -> None:
    parsed = ParsedFiles(5 * CACHE_ENTRY)
    files = [named(f"action {number}", "pre-merge") for number in range(10)]
    wrong: list[object] = []

    def work() -> None:
        for turn in range(200):
            one = files[turn % 10]
            result = parsed.get(one)
            if isinstance(result, ActionFileError) or result.file != one:
                wrong.append(result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
