"""Action files become actions, and each mistake is one sentence with file, line and hook."""

from __future__ import annotations

import pytest
from lakebed_hooks import BranchFilter
from lakebed_hooks.action_files import MOST_HOOKS, MOST_PATTERNS
from lakebed_hooks.vocabulary import EVENTS

from tests.hooks.files import PATH, WEBHOOK, action, refused


def test_everything_that_a_file_can_have() -> None:
    read = action(
        """
        name: All of it. Really-2
        description: Runs on merges
        on:
          pre-merge:
            branches: [main, "release-*", "v[0-9]?"]
          post-commit:
          pre-create-tag: {}
        hooks:
          - id: first_one
            type: webhook
            description: asks a service
            properties:
              url: "https://checks.example.com:8443/a?b=c"
              timeout: 1m30s
              query_params: {mode: strict, columns: [a, b], token: "{{ ENV.LAKEBEDACTION_TOKEN }}"}
              headers:
                Authorization: Bearer {{ ENV.LAKEFSACTION_TOKEN }}
              secret: "{{ ENV.LAKEBEDACTION_SECRET }}"
              retry: false
              ordered: true
          - id: _second
            type: airflow
            if: "!success() || failure()"
            properties: {url: "http://airflow:8080", dag_id: a.b-c, username: jane, password: "x", timeout: 5m}
          - id: third
            type: python
            if: true
            properties: {entry: "my.package:check", args: {limit: 3, names: [a, null, 1.5, true, 2026-01-01]}}
        """
    )
    assert (read.name, read.description) == ("All of it. Really-2", "Runs on merges")
    assert read.on == {
        "pre-merge": BranchFilter(("main", "release-*", "v[0-9]?")),
        "post-commit": BranchFilter(),
        "pre-create-tag": BranchFilter(),
    }
    first, second, third = read.hooks
    assert (first.id, first.type, first.description, first.condition, first.line) == (
        "first_one",
        "webhook",
        "asks a service",
        "",
        10,
    )
    assert first.properties == {
        "url": "https://checks.example.com:8443/a?b=c",
        "timeout": "1m30s",
        "query_params": {"mode": "strict", "columns": ["a", "b"], "token": "{{ ENV.LAKEBEDACTION_TOKEN }}"},
        "headers": {"Authorization": "Bearer {{ ENV.LAKEFSACTION_TOKEN }}"},
        "secret": "{{ ENV.LAKEBEDACTION_SECRET }}",
        "retry": False,
        "ordered": True,
    }
    assert (second.condition, second.properties["dag_id"]) == ("!success() || failure()", "a.b-c")
    assert third.condition == "true"
    assert third.properties["args"] == {"limit": 3, "names": ["a", None, 1.5, True, "2026-01-01"]}


@pytest.mark.parametrize("text", ["", " {}", " {branches: }", " {branches: []}"])
def test_no_patterns_are_all_branches(text: str) -> None:
    read = action(WEBHOOK.replace('\n    branches: [main, "release-*"]', text))
    assert read.on == {"pre-merge": BranchFilter()}


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_every_event(event: str) -> None:
    assert list(action(WEBHOOK.replace('pre-merge:\n    branches: [main, "release-*"]', f"{event}:")).on) == [event]


def test_a_contract_is_checked_by_its_own_module() -> None:
    text = """
        name: contract
        on: {pre-merge: }
        hooks:
          - {id: orders, type: contract, properties: {path: "orders/**", timeout: 5m, checks: [{not_null: [id]}]}}
        """
    (hook,) = action(text).hooks
    assert hook.properties == {"path": "orders/**", "timeout": "5m", "checks": [{"not_null": ["id"]}]}
    error = refused(text.replace("not_null", "not_nil"))
    assert error.line == 5
    assert "not_nil" in error.message
    assert "hook 'orders'" in error.message
    assert error.events == {"pre-merge"}
    error = refused(text.replace("5m", "300"))
    assert "hook 'orders': 'timeout': expected a duration with units" in error.message


@pytest.mark.parametrize(
    ("old", "new", "line", "said", "blocked"),
    [
        # the file
        ("name: checks\n", "", 2, "the key 'name' is missing", ["pre-merge"]),
        ("name: checks", "name: [checks]", 2, "'name' must be text", ["pre-merge"]),
        ("name: checks", "name: x", 2, "the name 'x' must begin with", ["pre-merge"]),
        ("name: checks", "name: 'größe'", 2, "the name 'größe' must begin with", ["pre-merge"]),
        ("name: checks", 'name: "a\\nb"', 2, "the name 'a\\nb' must begin with", ["pre-merge"]),
        ("name: checks", "name: " + "x" * 257, 2, "'name' has 257 characters, at most 256", ["pre-merge"]),
        (
            "name: checks",
            "name: checks\nversion: 2",
            3,
            "an action has no key 'version': it has name, description",
            ["pre-merge"],
        ),
        ("name: checks", "name: checks\ndescription: {}", 3, "'description' must be text", ["pre-merge"]),
        ("name: checks", "name: checks\nname: other", 3, "the key 'name' occurs twice", []),
        # events
        ("on:\n", "when:\n", 2, "the key 'on' is missing", []),
        ('  pre-merge:\n    branches: [main, "release-*"]', "  [pre-merge]", 4, "'on' must be a mapping", []),
        ('  pre-merge:\n    branches: [main, "release-*"]', "  {}", 4, "'on' names no event", []),
        (
            "pre-merge:",
            "pre-comit: {}\n  pre-merge:",
            4,
            "unknown event 'pre-comit': events are post-cherry-pick, post-commit",
            [],
        ),
        ('[main, "release-*"]', "main", 5, "'branches' of pre-merge must be a list", ["pre-merge"]),
        ('[main, "release-*"]', "[[main]]", 5, "'branches' of pre-merge must be a list", ["pre-merge"]),
        ("branches:", "branch:", 5, "the event pre-merge has no key 'branch': it has branches", ["pre-merge"]),
        ("pre-merge:", "pre-create-tag:", 5, "the event pre-create-tag has no branches", ["pre-create-tag"]),
        ("release-*", "feature/*", 5, "the pattern 'feature/*' matches no branch", ["pre-merge"]),
        ("release-*", "[a", 5, "the pattern '[a' has a '[' without its ']'", ["pre-merge"]),
        ('[main, "release-*"]', f"[{'m,' * (MOST_PATTERNS + 1)}]", 5, "has 101 patterns, at most 100", ["pre-merge"]),
        # hooks
        ("hooks:", "other:", 6, "an action has no key 'other'", ["pre-merge"]),
        ("  - id: schema", "  - id: schema\n    type: webhook", 9, "the key 'type' occurs twice", []),
        ("id: schema", "id: 1schema", 7, "hook 1: the id '1schema' must be 2 to 256 ASCII letters", ["pre-merge"]),
        ("id: schema", "id: s", 7, "hook 1: the id 's' must be", ["pre-merge"]),
        ("id: schema\n", "description: x\n", 7, "hook 1: the key 'id' is missing", ["pre-merge"]),
        (
            "type: webhook",
            "type: lua",
            8,
            "hook 'schema': hooks of type lua are not offered: use python or webhook",
            ["pre-merge"],
        ),
        (
            "type: webhook",
            "type: exec",
            8,
            "hook 'schema': unknown type 'exec': types are webhook, airflow, python, contract",
            ["pre-merge"],
        ),
        ("type: webhook", "type: {}", 8, "hook 'schema': 'type' must be text", ["pre-merge"]),
        ("type: webhook", "type: webhook\n    iff: true", 9, "hook 'schema': a hook has no key 'iff'", ["pre-merge"]),
        (
            "type: webhook",
            "type: webhook\n    if: success",
            9,
            "hook 'schema': 'if': the condition has 'success'",
            ["pre-merge"],
        ),
        # properties
        (
            "      url: https://checks.example.com/schema",
            "",
            7,
            "hook 'schema': the property 'url' is missing",
            ["pre-merge"],
        ),
        (
            "https://checks",
            "ftp://checks",
            10,
            "hook 'schema': 'url' must be an address with http:// or https://",
            ["pre-merge"],
        ),
        ("https://checks", "https://me:secret@checks", 10, "hook 'schema': 'url' must have no secrets", ["pre-merge"]),
        ("/schema", "/{{ENV.LAKEBEDACTION_X}}", 10, "hook 'schema': 'url' must have no secrets", ["pre-merge"]),
    ],
)
def test_mistakes(old: str, new: str, line: int, said: str, blocked: list[str]) -> None:
    assert old in WEBHOOK
    error = refused(WEBHOOK.replace(old, new, 1))
    assert said in error.message
    assert error.line == line
    assert error.events == set(blocked)


@pytest.mark.parametrize(
    ("of_type", "properties", "said"),
    [
        ("webhook", "[]", "'properties' must be a mapping"),
        (
            "webhook",
            "{url: 'http://a', time_out: 5s}",
            "a hook of type webhook has no property 'time_out': it has url, ",
        ),
        ("webhook", "{url: 5}", "'url' must be text: write it in quotes"),
        ("webhook", "{url: null}", "'url' must be text"),
        ("webhook", "{url: 'http://[::1'}", "'url' must be an address"),
        ("webhook", "{url: 'http://a:99999'}", "'url' must be an address"),
        ("webhook", "{url: 'http:///path'}", "'url' must be an address"),
        ("webhook", "{url: 'http://a b'}", "'url' must be an address"),
        ("webhook", '{url: "http://a\\r\\nHost: b"}', "'url' must not have line breaks"),
        ("webhook", f"{{url: 'http://{'a' * 2048}'}}", "'url' must be an address"),
        ("webhook", "{url: 'http://a', timeout: 60}", "'timeout': expected a duration with units"),
        ("webhook", "{url: 'http://a', timeout: -1s}", "'timeout': expected a duration with units"),
        ("webhook", "{url: 'http://a', timeout: 0s}", "'timeout' must be more than 0 and at most 24h"),
        ("webhook", "{url: 'http://a', timeout: 25h}", "'timeout' must be more than 0 and at most 24h"),
        ("webhook", "{url: 'http://a', timeout: [1s]}", "'timeout' must be a duration"),
        ("webhook", "{url: 'http://a', retry: 3}", "'retry' must be true or false"),
        ("webhook", "{url: 'http://a', ordered: on}", "'ordered' must be true or false"),
        ("webhook", "{url: 'http://a', format: xml}", "'format' must be one of lakefs, cloudevents"),
        ("webhook", "{url: 'http://a', headers: [a]}", "'headers' must be a mapping"),
        ("webhook", "{url: 'http://a', headers: {'a b': c}}", "'a b' is not a valid header name"),
        ("webhook", "{url: 'http://a', headers: {Host: c}}", "the server sets Host itself"),
        ("webhook", "{url: 'http://a', headers: {webhook-signature: c}}", "the server sets webhook-signature itself"),
        ("webhook", "{url: 'http://a', headers: {a: é}}", "a must have ASCII characters only"),
        ("webhook", "{url: 'http://a', headers: {a: \"x\\r\\nb: y\"}}", "'headers.a' must not have line breaks"),
        ("webhook", "{url: 'http://a', headers: {a: '{{ env.A }}'}}", "'headers.a': '{{' does not begin a variable"),
        ("webhook", "{url: 'http://a', headers: {a: [b]}}", "'headers.a' must be text"),
        ("webhook", "{url: 'http://a', query_params: {a: {b: c}}}", "'query_params.a' must be text"),
        (
            "webhook",
            "{url: 'http://a', query_params: {a: [b, 1]}}",
            "'query_params.a' must be text: write it in quotes",
        ),
        ("webhook", f"{{url: 'http://a', query_params: {{a: [{'b,' * 101}]}}}}", "'query_params.a' has 101 values"),
        ("airflow", "{url: 'http://a', dag_id: d, username: u}", "the property 'password' is missing"),
        ("airflow", "{url: 'http://a', dag_id: a/b, username: u, password: p}", "'dag_id' must be the id of a DAG"),
        (
            "airflow",
            "{url: 'http://a', dag_id: d, username: u, password: p, api: v3}",
            "'api' must be one of v1, v2, auto",
        ),
        (
            "airflow",
            "{url: 'http://a', dag_id: d, username: u, password: p, dag_conf: [1]}",
            "'dag_conf' must be a mapping",
        ),
        (
            "airflow",
            "{url: 'http://a', dag_id: d, username: u, password: p, dag_conf: {a: 1e999}}",
            "the number 1e999 is too large",
        ),
        ("python", "{}", "the property 'entry' is missing"),
        ("python", "{entry: '../evil.py'}", "'entry' must be package:function"),
        ("python", "{entry: 'a:b:c'}", "'entry' must be package:function"),
        ("python", "{entry: 'a:b', args: [1]}", "'args' must be a mapping"),
    ],
)
def test_mistakes_of_properties(of_type: str, properties: str, said: str) -> None:
    error = refused(
        f"name: checks\non: {{pre-commit: }}\nhooks:\n- {{id: one, type: {of_type}, properties: {properties}}}\n"
    )
    assert said in error.message
    assert "hook 'one'" in error.message
    assert error.line == 4
    assert error.events == {"pre-commit"}


def test_no_message_shows_a_secret() -> None:
    for name in ("headers: {a: 'hunter2 {{'}", "query_params: {a: 'hunter2 {{ x }}'}", 'secret: "hunter2\\n"'):
        error = refused(
            "name: checks\non: {pre-commit: }\nhooks:\n"
            f"- {{id: one, type: webhook, properties: {{url: 'http://a', {name}}}}}\n"
        )
        assert "hunter2" not in error.message


def test_two_hooks_with_one_id() -> None:
    error = refused(WEBHOOK + "  - {id: schema, type: webhook, properties: {url: 'http://a'}}\n")
    assert error.message == f"{PATH} line 11: two hooks have the id 'schema', the other one in line 7"


def test_hooks_are_bounded() -> None:
    head, hook = WEBHOOK.split("  - id: schema")
    many = head + "".join(f"  - id: hook-{number}{hook}" for number in range(MOST_HOOKS))
    assert len(action(many).hooks) == MOST_HOOKS
    error = refused(many + "  - id: last" + hook)
    assert "'hooks' has 101 hooks, at most 100" in error.message
    assert refused(head + "  []").message.endswith("'hooks' must be a list of at least one hook")


def test_anchors_and_merged_mappings() -> None:
    read = action(
        """
        name: checks
        on: {pre-commit: }
        hooks:
          - id: one
            type: webhook
            properties: &shared {url: "https://a.example.com", timeout: 5s}
          - id: two
            type: webhook
            properties: {<<: *shared, timeout: 10s}
        """
    )
    assert read.hooks[0].properties == {"url": "https://a.example.com", "timeout": "5s"}
    assert read.hooks[1].properties == {"url": "https://a.example.com", "timeout": "10s"}
