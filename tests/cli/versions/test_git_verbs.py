"""`status`, `undo`, `blame`, `stash`, `pop` and `log --author` on branches, and names that are nearly right."""

from __future__ import annotations

import lakebed
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put_many({"orders/june.csv": b"1", "orders/july.csv": b"2"})
    branch.commit("load the orders")
    branch.put("orders/july.csv", b"3")
    branch.commit("correct July")
    return branch


def place(branch: lakebed.Branch, path: str = "") -> str:
    return f"{branch.repository.id}/{branch.name}{path}"


def test_status_of_a_branch(run: Run, main: lakebed.Branch) -> None:
    clean = run("status", place(main))
    assert clean.text == ""
    assert "correct July" in clean.err
    assert "nothing is uncommitted" in clean.err
    main.put("new", b"n")
    main.delete("orders/june.csv")
    dirty = run("status", place(main))
    assert dirty.text == "+ new\n- orders/june.csv\n"
    assert "uncommitted: 1 added, 1 removed; `lakebed commit" in dirty.err
    run("stash", place(main), "-m", "half done")
    after = run("status", place(main), "--json").json
    assert after["changes"] == []
    assert [one["message"].endswith("Z: half done") for one in after["stashes"]] == [True]
    assert "1 stash; `lakebed pop" in run("status", place(main)).err


def test_stash_and_pop_of_a_branch(run: Run, main: lakebed.Branch) -> None:
    run("stash", place(main), code=5)
    for name in ("first", "second"):
        main.put(name, b"x")
        assert "`lakebed pop" in run("stash", place(main), "-m", name).text
    listed = run("stash", place(main), "--list").text.splitlines()
    assert [line.rsplit(" ", 1)[-1] for line in listed] == ["second", "first"]
    assert "Z: second) are uncommitted on main" in run("pop", place(main)).text
    assert [change.path for change in main.uncommitted()] == ["second"]
    run("pop", place(main))
    assert [change.path for change in main.uncommitted()] == ["first", "second"]
    assert "there is no stash of branch 'main'" in run("pop", place(main), code=3).err


def test_undo(run: Run, main: lakebed.Branch) -> None:
    before = main.commit_info()
    would = run("undo", place(main), "--dry-run").text
    assert would.startswith(f"Would undo {before.short_id} (correct July)")
    assert main.commit_info() == before
    said = run("undo", place(main)).text
    assert f"Undid {before.short_id} (correct July): reverted by" in said
    assert main.get("orders/july.csv") == b"2"
    assert main.commit_info().message == f"Revert {before.short_id}: correct July"
    run("undo", place(main), "--reset", code=2)  # no terminal to ask on
    said = run("undo", place(main), "--reset", "--yes").text
    assert main.commit_info() == before
    assert f"`lakebed branch reset {place(main)} --hard" in said
    main.repository.set_protection(["main"])
    assert "without --reset" in run("undo", place(main), "--reset", "--yes", code=6).err
    run("undo", place(main))


def test_blame(run: Run, main: lakebed.Branch) -> None:
    lines = run("blame", place(main, "/orders/")).text.splitlines()
    first, second = main.log(limit=2).all()[::-1]
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [
        (second.id[:16], "orders/july.csv"),
        (first.id[:16], "orders/june.csv"),
    ]
    rows = run("blame", place(main), "--json").json
    assert {row["path"]: row["commit"]["message"] for row in rows} == {
        "orders/july.csv": "correct July",
        "orders/june.csv": "load the orders",
    }
    run("blame", place(main, "/nothing"), code=3)


def test_log_of_an_author(run: Run, main: lakebed.Branch) -> None:
    run("user", "create", "gitverbs")
    main.put("a", b"1")
    main.commit("for ana", author="gitverbs")
    main.put("a", b"2")
    main.commit("mine")
    lines = run("log", place(main), "--oneline", "--author", "gitverbs").text.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["for ana"]
    assert run("log", place(main), "--author", "nobody", "--json").json == []
    assert run("log", place(main), "--until", "2020-01-01 00:00 UTC", "--json").json == []
    assert len(run("log", place(main), "--until", "2999-01-01", "--author", "gitverbs", "--json").json) == 1


def test_an_empty_message_is_refused(run: Run, main: lakebed.Branch) -> None:
    main.put("a", b"1")
    for message in ("", "  \n"):
        assert "the message is empty" in run("commit", place(main), "-m", message, code=2).err


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("branch show {repo}/mian", "'main'"),
        ("log {repo}/mian", "'main'"),
        ("fs ls {repo}/mian", "'main'"),
        ("fs cat {repo}/main/orders/jnue.csv", "'orders/june.csv'"),
        ("fs stat {repo}/main/order/june.csv", "'orders/'"),
        ("fs rm {repo}/main/orders/jnue.csv", "'orders/june.csv'"),
        ("tag show {repo}/v1.O", "'v1.0'"),
        ("repo show {repo}x", "'{repo}'"),
        ("fs download {repo}/mian/orders/june.csv -", "'main'"),
    ],
)
def test_misspelled_name_gets_a_suggestion(run: Run, main: lakebed.Branch, words: str, wanted: str) -> None:
    main.repository.tag("v1.0").create("main")
    name = main.repository.id
    failed = run(*words.format(repo=name).split(), code=3)
    assert f"Did you mean {wanted.format(repo=name)}?" in failed.err
    as_json = run("--json", *words.format(repo=name).split(), code=3).error
    assert as_json["suggestions"] == [wanted.format(repo=name).strip("'")]


def test_suggestions_contain_only_names_the_user_may_list(run: Run, main: lakebed.Branch, lake: lakebed.Lake) -> None:
    lake.users.create("gitverbs2")
    key = lake.keys.create("gitverbs2")
    as_other = ("--access-key-id", key.id, "--secret-access-key", key.secret or "")
    for words in (("branch", "show", f"{main.repository.id}/mian"), ("repo", "show", main.repository.id + "x")):
        failed = run(*words, *as_other, code=None)
        assert failed.code in (3, 6)
        assert "Did you mean" not in failed.err
        assert "main" not in failed.err.replace("mian", "")
