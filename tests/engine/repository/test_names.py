"""Naming rules and ref expressions, through the engine's own verbs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.resolve import parse
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.requests import CommitRequest, Deletion, LogRequest, MergeRequest, UploadRequest

from tests.engine.support import REPO, chunked, commit, content, fails, make_engine, merge, once, put, put_commit

LONE = "\ud800"


@pytest.mark.parametrize("name", ["", "ab", "-abc", "Abc", "a_b", "a.b", "a" * 64, "abc\n", "abç", LONE])
async def test_bad_repository_names(name: str) -> None:
    engine = await make_engine()
    await fails(engine.repositories.create(name, "mem://other"), errors.InvalidNameError)
    await fails(engine.repositories.get(name), errors.RepositoryNotFoundError)


@pytest.mark.parametrize("name", ["", "-a", "a.b", "a/b", "a b", "a\n", "é", "a~1", "a@", "x" * 257, LONE])
async def test_bad_branch_names(name: str) -> None:
    engine = await make_engine()
    await fails(engine.branches.create(REPO, name, "main"), errors.InvalidNameError)
    await fails(engine.repositories.create("other", "mem://other", default_branch=name), errors.InvalidNameError)
    await fails(engine.branches.get(REPO, name), errors.BranchNotFoundError)
    await engine.repositories.create("other", "mem://other")


@pytest.mark.parametrize(
    "name", ["", "@", "a.", "a.lock", "a..b", "a/b", "a@{b", "^", "a:b", "a?", "a*", "[", "a\\b", "a b", "\x7f", "\t"]
)
async def test_bad_tag_names(name: str) -> None:
    engine = await make_engine()
    await fails(engine.tags.create(REPO, name, "main"), errors.InvalidNameError)


@pytest.mark.parametrize("name", ["v1.0", "é", "a~b", "\U0001f600", "a\u3000b", "a@b", "-x", "x" * 256])
async def test_good_tag_names(name: str) -> None:
    engine = await make_engine()
    tag = await engine.tags.create(REPO, name, "main")
    assert await engine.tags.get(REPO, name) == tag
    if not set(name) & set("~@"):  # those are modifiers in an expression
        assert (await engine.commits.get(REPO, name)).id == tag.commit_id
    await fails(engine.tags.create(REPO, name, "main"), errors.TagExistsError)
    await engine.tags.delete(REPO, name)
    await fails(engine.tags.get(REPO, name), errors.TagNotFoundError)
    await fails(engine.tags.delete(REPO, name), errors.TagNotFoundError)


async def test_paths_of_1024_bytes_and_no_more() -> None:
    engine = await make_engine()
    longest = "é" * 512
    odd = ["a//b", "/x", "..", "a/../b", "\0", "\U0010ffff", "\n", longest]
    for path in odd:
        await put(engine, path, path)
    await commit(engine)
    assert await content(engine) == dict(sorted((path, path) for path in odd))
    for path in ("", longest + "a", LONE):
        await fails(put(engine, path, "x"), errors.InvalidPathError)
        await fails(engine.objects.stat(REPO, "main", path), errors.InvalidPathError)
        await fails(engine.objects.delete(REPO, "main", path), errors.InvalidPathError)
        await fails(engine.branches.reset_object(REPO, "main", path), errors.InvalidPathError)
        await fails(engine.objects.copy(REPO, "main", path, "", "..", force=False), errors.InvalidPathError)
    failures = await engine.objects.delete_many(REPO, "main", ["", "..", LONE, "\n"])
    assert [(one.path, one.kind) for one in failures] == [("", "invalid_path"), (LONE, "invalid_path")]
    assert ".." not in await content(engine)


VERBS: list[Callable[[Engine, str], Awaitable[object]]] = [
    lambda e, t: e.branches.create(REPO, "new", t),
    lambda e, t: e.tags.create(REPO, "new", t),
    lambda e, t: e.tags.create(REPO, t, "main"),
    lambda e, t: e.tags.get(REPO, t),
    lambda e, t: e.tags.delete(REPO, t),
    lambda e, t: e.branches.delete(REPO, t),
    lambda e, t: e.branches.reset(REPO, t),
    lambda e, t: e.branches.reset_object(REPO, t, "a"),
    lambda e, t: e.commits.get(REPO, t),
    lambda e, t: e.commits.log(REPO, t, LogRequest()),
    lambda e, t: e.commits.log(REPO, "main", LogRequest(stop_at=t)),
    lambda e, t: e.commits.log(REPO, "main", LogRequest(objects=[t])),
    lambda e, t: e.commits.log(REPO, "main", LogRequest(prefixes=[t])),
    lambda e, t: e.commits.log(REPO, "main", LogRequest(after=t)),
    lambda e, t: e.commits.merge_base(REPO, t, "main"),
    lambda e, t: e.commits.merge(REPO, t, "main", MergeRequest(committer="a")),
    lambda e, t: e.commits.merge(REPO, "main~1", t, MergeRequest(committer="a")),
    lambda e, t: e.commits.merge(REPO, "main", "main", MergeRequest(committer=t)),
    lambda e, t: e.branches.diff(REPO, t),
    lambda e, t: e.branches.diff(REPO, "main", prefix=t),
    lambda e, t: e.branches.diff(REPO, "main", after=t),
    lambda e, t: e.branches.diff(REPO, "main", delimiter=t),
    lambda e, t: e.commits.diff(REPO, t, "main"),
    lambda e, t: e.commits.diff(REPO, "main~1", "main", prefix=t),
    lambda e, t: e.commits.diff(REPO, "main", "main$", mode="two_dot", after=t),
    lambda e, t: e.objects.stat(REPO, t, "a"),
    lambda e, t: e.objects.list(REPO, t),
    lambda e, t: e.objects.list(REPO, "main", prefix=t),
    lambda e, t: e.objects.list(REPO, "main", after=t),
    lambda e, t: e.objects.list(REPO, "main", delimiter=t),
    lambda e, t: e.objects.upload(REPO, t, UploadRequest(path="a"), once(b"")),
    lambda e, t: e.objects.upload(REPO, "main", UploadRequest(path="a", content_type=t), once(b"")),
    lambda e, t: e.objects.upload(REPO, "main", UploadRequest(path="a", metadata={t: "x"}), once(b"")),
    lambda e, t: e.objects.upload(REPO, "main", UploadRequest(path="a", metadata={"x": t}), once(b"")),
    lambda e, t: e.objects.upload_many(REPO, t, chunked([Deletion("a")])),
    lambda e, t: e.objects.delete_many(REPO, t, ["a"]),
    lambda e, t: e.objects.copy(REPO, "main", "b", t, "a"),
    lambda e, t: e.commits.create(REPO, t, CommitRequest(message="m", committer="a")),
    lambda e, t: e.commits.create(REPO, "main", CommitRequest(message=t, committer="a")),
    lambda e, t: e.commits.create(REPO, "main", CommitRequest(message="m", committer="a", metadata={t: ""})),
    lambda e, t: e.repositories.set_metadata(REPO, {t: "x"}),
    lambda e, t: e.repositories.set_metadata(REPO, {"x": t}),
    lambda e, t: e.repositories.get(t),
    lambda e, t: e.repositories.create("other", t),
    lambda e, t: e.repositories.create("other", "mem://" + t),
]


@pytest.mark.parametrize("verb", range(len(VERBS)))
async def test_a_lone_surrogate_is_a_client_error_everywhere(verb: int) -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await put(engine, "b", "staged")
    with pytest.raises(EngineError):
        await VERBS[verb](engine, LONE)


async def test_lists_of_names_bear_any_text() -> None:
    engine = await make_engine()
    await engine.tags.create(REPO, "t1", "main")
    for text in (LONE, "\U0010ffff"):
        assert not (await engine.branches.list(REPO, prefix=text)).items
        assert not (await engine.tags.list(REPO, after=text)).items
        assert not (await engine.repositories.list(prefix=text, search=text)).items


@pytest.mark.parametrize("text", [
    "", " ", "~1", "^", "@", "$", "main@1", "main$1", "main@~1", "main~1@", "main~1$", "main@$", "main$$", "main~x",
    "main^-1", "main~1 ", "ma in", "main~" + "9" * 10, "main^" + "9" * 5000, "main~1main", "main\n",
])  # fmt: skip
def test_bad_expressions(text: str) -> None:
    with pytest.raises(errors.InvalidRefError):
        parse(text)


async def test_expressions() -> None:
    engine = await make_engine()
    one = await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    dev = await put_commit(engine, {"b": "1"}, "dev")
    two = await put_commit(engine, {"a": "2"})
    top = await merge(engine, "dev")
    root = one.parents[0]
    await engine.tags.create(REPO, "v1", "main")
    await put(engine, "c", "staged")

    async def named(text: str) -> str:
        return (await engine.commits.get(REPO, text)).id

    for base in ("main", "v1", top.id, top.id[:20]):
        for rest, wanted in {
            "": top.id, "~0": top.id, "^0": top.id, "~": two.id, "^": two.id, "^1": two.id, "^2": dev.id,
            "~1~1": one.id, "^2^": one.id, "^2~1": one.id, "~3": root, "~~~": root, "^^2^0": None,
            "~1^1~": root, "^0~0^2": dev.id,
        }.items():  # fmt: skip
            if wanted is None:
                await fails(named(base + rest), errors.InvalidRefError)
            else:
                assert await named(base + rest) == wanted, base + rest
        await fails(named(base + "~4"), errors.RefNotFoundError)
        await fails(named(base + "~999999999"), errors.RefNotFoundError)
        await fails(named(base + "^3"), errors.InvalidRefError)
        if base != "main":
            await fails(named(base + "@"), errors.InvalidRefError)
            await fails(engine.objects.stat(REPO, base + "$", "c"), errors.InvalidRefError)
    assert await named("main@") == top.id
    await fails(named("main$"), errors.InvalidRefError)
    assert await content(engine, "main") == await content(engine, "main$") == {"a": "2", "b": "1", "c": "staged"}
    assert await content(engine, "main@") == await content(engine, "main~0") == {"a": "2", "b": "1"}
    await fails(engine.branches.create(REPO, "x", "main$"), errors.InvalidRefError)
    assert (await engine.branches.create(REPO, "x", "main@")).commit_id == top.id


async def test_prefixes_and_names_that_look_like_hex() -> None:
    engine = await make_engine()
    ids = [(await engine.commits.get(REPO, "main")).id]
    ids += [(await put_commit(engine, {"a": str(number)})).id for number in range(40)]
    firsts = [one[0] for one in ids]
    for digit in "0123456789abcdef":
        if firsts.count(digit) == 1:
            assert (await engine.commits.get(REPO, digit)).id == ids[firsts.index(digit)]
        else:
            await fails(engine.commits.get(REPO, digit), errors.RefNotFoundError)
    target = ids[5]
    assert (await engine.commits.get(REPO, target[:63])).id == target
    await fails(engine.commits.get(REPO, target.upper()), errors.RefNotFoundError)
    await engine.branches.create(REPO, target[:12], "main~1")
    assert (await engine.commits.get(REPO, target[:12])).id == ids[-2]
    await engine.tags.create(REPO, target[:13], "main~2")
    assert (await engine.commits.get(REPO, target[:13])).id == ids[-3]
    await fails(engine.branches.create(REPO, target, "main"), errors.NameTakenError)
    await fails(engine.tags.create(REPO, target, "main"), errors.NameTakenError)
    await fails(engine.tags.create(REPO, target[:12], "main"), errors.NameTakenError)
    await fails(engine.branches.create(REPO, target[:13], "main"), errors.NameTakenError)
    like = "a" * 64  # no commit has this id: a branch may, and can be read
    await engine.branches.create(REPO, like, "main")
    await put(engine, "new", "x", like)
    assert (await engine.objects.stat(REPO, like, "new")).size == 1


@pytest.mark.parametrize("bad", ["", "x" * 1025, "é" * 513, LONE])
async def test_a_push_refuses_a_bad_path_among_good_ones(bad: str) -> None:
    engine = await make_engine()
    for others in (["a", "b"], ["a", "é"]):
        await fails(
            engine.branches.push(REPO, "main", [(path, None) for path in [*others, bad]]), errors.InvalidPathError
        )
    await engine.branches.push(REPO, "main", [("x" * 1024, None), ("é" * 512, None), ("a", None)])
