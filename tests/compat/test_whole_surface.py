"""The whole public surface of `lakefs`, `lakefs_sdk` and `lakefs-spec`, driven against a real server.

Which names there are is asked of the packages themselves, and which were run is watched: a name that a newer release
brings, and that nothing here drives, fails the test.
"""

# mypy: disable-error-code="attr-defined, call-arg, arg-type, no-untyped-call, no-untyped-def"
# what these packages export and leave out, they do not say to mypy
from __future__ import annotations

import inspect
import io
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from uuid import uuid4

import lakefs
import lakefs_sdk
import pytest
from lakefs.client import Client
from lakefs.exceptions import ConflictException
from lakefs.import_manager import ImportManager
from lakefs.object import ObjectReader, ObjectWriter, StoredObject, WriteableObject
from lakefs_spec import LakeFSFileSystem, LakeFSTransaction

from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def feeding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may read below `local://feed`."""
    with running_server(tmp_path_factory, environment={"LAKEBED_INGEST_ALLOW": "local://feed/"}) as started:
        folder = started.data_dir / "objects" / "feed"
        folder.mkdir(parents=True)
        for name in ("a", "b"):
            (folder / name).write_text(name)
        yield started


@pytest.fixture
def client(feeding: RunningServer) -> Client:
    return Client(host=feeding.endpoint, username=feeding.access_key_id, password=feeding.secret_access_key)


@pytest.fixture
def repo(client: Client) -> lakefs.Repository:
    name = f"s-{uuid4().hex[:16]}"
    return lakefs.Repository(name, client=client).create(storage_namespace=f"local://{name}")


# what is watched


def code_of(value: Any) -> set[CodeType]:
    """The code behind a function, a property or a decorated one."""
    if isinstance(value, property):
        return {code for one in (value.fget, value.fset) if one is not None for code in code_of(one)}
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    value = inspect.unwrap(value) if callable(value) else value
    return {value.__code__} if inspect.isfunction(value) else set()


def surface(*classes: type) -> dict[str, set[CodeType]]:
    """Public members whose code is in the package or in the package below it."""
    found = {}
    for cls in classes:
        for name, value in inspect.getmembers_static(cls):
            if not name.startswith("_") and (codes := code_of(value)):
                found[f"{cls.__name__}.{name}"] = codes
    return found


@contextmanager
def watched() -> Iterator[set[CodeType]]:
    """All code that this thread runs inside the block."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def left_out(wanted: dict[str, set[CodeType]], seen: set[CodeType]) -> list[str]:
    return sorted(name for name, codes in wanted.items() if not codes & seen)


# the wrapper


def drive_repository(client: Client, repo: lakefs.Repository) -> None:
    assert repo.id in [one.id for one in lakefs.repositories(client=client)]
    assert repo.properties.id == repo.id
    assert repo.metadata == {}
    main = repo.branch("main")
    main.object("a").upload(b"1", mode="wb")
    first = main.commit("first")
    assert repo.commit(first.id).get_commit().message == "first"
    assert repo.ref("main~1").get_commit().message == "Repository created"
    repo.tag("v1").create("main")
    assert [one.id for one in repo.tags()] == ["v1"]
    assert [one.id for one in repo.branches()] == ["main"]
    lakefs.Repository(f"{repo.id}-x", client=client).create(storage_namespace=f"local://{repo.id}-x").delete()
    assert client.version
    assert client.storage_config.blockstore_type == "local"
    assert client.storage_config_by_id().blockstore_type == "local"
    assert client.config.host.startswith("http")
    client.reset_time = datetime.now(UTC) + timedelta(hours=1)
    assert client.reset_time is not None
    assert client.sdk_client.repositories_api.get_repository(repo.id).id == repo.id


def drive_references(repo: lakefs.Repository) -> None:
    main = repo.branch("main")
    dev = repo.branch("dev").create("main")
    assert (dev.id, dev.repo_id, dev.head.id) == ("dev", repo.id, main.get_commit().id)
    dev.object("b").upload(b"2", mode="wb")
    assert [one.path for one in dev.uncommitted()] == ["b"]
    added = dev.commit("b")
    assert [one.path for one in main.diff("dev")] == ["b"]
    assert main.cherry_pick(added).message == "b"
    assert main.revert("main").message.startswith("Revert")
    dev.object("c").upload(b"3", mode="wb")
    dev.reset_changes()
    dev.object("c").upload(b"3", mode="wb")
    dev.commit("c")
    assert dev.merge_into(main) == main.head.id
    assert [one.message for one in main.log(max_amount=1)] == ["Merge 'dev' into 'main'"]
    with main.transact(commit_message="together", tag="together") as branch:
        branch.object("d").upload(b"4", mode="wb")
    assert [one.path for one in main.objects(prefix="d")] == ["d"]
    tag = repo.tag("together")
    assert tag.get_commit().id == main.head.id
    main.delete_objects(["d"])
    main.reset_changes()
    repo.tag("again").create("main").delete()
    repo.branch("gone").create("main").delete()
    ref = repo.ref("v1")
    assert (ref.id, ref.repo_id) == ("v1", repo.id)
    assert [one.path for one in ref.objects()] == ["a"]
    assert ref.object("a").reader(mode="rb").read() == b"1"
    assert [one.type for one in ref.diff("main")]
    assert next(iter(ref.log())).message == "first"


def drive_objects(repo: lakefs.Repository) -> None:
    main = repo.branch("main")
    thing = main.object("text")
    with thing.writer(mode="w") as writer:
        assert (writer.writable(), writer.readable(), writer.seekable(), writer.isatty()) == (True, False, False, False)
        assert writer.mode == "w"
        writer.write("one\ntwo\nthree\n")
        writer.flush()
        assert writer.tell() == 14
        assert writer.name
        assert writer.pre_sign is not None
        writelines = partial(writer.writelines, ["x"])
        refused(writer.read, writer.readline, writer.readlines, writer.fileno, writer.truncate, writelines)
        refused(lambda: writer.seek(0))
    assert writer.closed
    lost = thing.writer(mode="w")
    lost.write("lost")
    lost.discard()
    lost.close()
    with thing.reader(mode="r") as reader:
        assert (reader.writable(), reader.readable(), reader.seekable(), reader.isatty()) == (False, True, True, False)
        assert reader.mode == "r"
        assert reader.readline() == "one\n"
        assert reader.tell() == 4
        reader.seek(0)
        assert reader.read() == "one\ntwo\nthree\n"
        assert reader.name
        reader.flush()
        assert reader.pre_sign is not None
        refused(lambda: reader.write("x"), lambda: reader.writelines(["x"]), reader.fileno, reader.truncate)
        refused(reader.readlines)
    assert reader.closed
    stored = repo.ref("main").object("text")
    assert (stored.repo, stored.ref, stored.path, stored.storage_id()) == (repo.id, "main", "text", "")
    assert stored.exists()
    assert stored.stat().size_bytes == 14
    copied = stored.copy("main", "copy")
    assert copied.reader(mode="rb").read() == b"one\ntwo\nthree\n"
    copied.delete()
    assert not copied.exists()


def refused(*calls: Callable[[], Any]) -> None:
    for call in calls:
        with pytest.raises(io.UnsupportedOperation):
            call()


def drive_import(repo: lakefs.Repository) -> None:
    importer = repo.branch("main").import_data("imported", {"k": "v"})
    importer.prefix("local://feed/", "in/").object("local://feed/a", "one")
    begun = importer.start()
    assert importer.import_id == begun
    status = importer.wait(timedelta(milliseconds=20))
    assert (status.completed, status.ingested_objects, importer.status().completed) == (True, 3, True)
    with pytest.raises(ConflictException):
        importer.cancel()  # it is over
    again = repo.branch("main").import_data("again").prefix("local://feed/", "other/")
    assert again.run(timedelta(milliseconds=20)).completed


def test_the_lakefs_wrapper_works_on_its_whole_surface(client: Client, repo: lakefs.Repository) -> None:
    classes = (
        *(Client, lakefs.Repository, lakefs.Branch, lakefs.Tag, lakefs.Reference, StoredObject, WriteableObject),
        *(ObjectReader, ObjectWriter, ImportManager),
    )
    with watched() as seen:
        drive_repository(client, repo)
        drive_references(repo)
        drive_objects(repo)
        drive_import(repo)
    assert left_out(surface(*classes), seen) == []


# the generated client


PLACES = {
    **dict.fromkeys(("branch", "ref", "source_ref", "left_ref", "commit_id", "destination_branch"), "main"),
    "right_ref": "main~1",
    "path": "a",
    "dest_path": "b",
    "tag": "v1",
    "user_id": "admin",
    "group_id": "Viewers",
    "policy_id": "AuditReadAll",
    "type": "range",
    "pull_request": "0" * 20,
}
"""What arguments are called in the generated client, and what is there."""

MODELS: dict[str, dict[str, Any]] = {
    "BranchCreation": {"name": "dev", "source": "main"},
    "TagCreation": {"id": "v2", "ref": "main"},
    "RevertCreation": {"ref": "main", "parent_number": 0, "allow_empty": True},
    "CherryPickCreation": {"ref": "main"},
    "ResetCreation": {"type": "reset"},
    "CommitCreation": {"message": "m", "allow_empty": True},
    "Merge": {"allow_empty": True},
    "ObjectCopyCreation": {"src_path": "a"},
    "BranchProtectionRule": {"pattern": "protected"},
    "UpdateObjectUserMetadata": {"set": {}},
    "RepositoryMetadataSet": {"metadata": {"k": "v"}},
    "RepositoryCreation": {"name": "whole-surface", "storage_namespace": "local://whole-surface"},
    "ImportLocation": {"type": "object", "path": "s3://x/a", "destination": "a"},
    "PullRequestCreation": {"title": "t", "source_branch": "dev", "destination_branch": "main"},
    "ObjectStageCreation": {"physical_address": "s3://x/a", "checksum": "x", "size_bytes": 1},
}

NOT_HERE = {
    "ExternalApi": None,
    "AuthApi": "principal",
    "ExperimentalApi": "principal sts_login create_presign",
    "InternalApi": "garbage",
    "RepositoriesApi": "gc_rules",
}
"""Which methods are answered with 501: all of a class, or those with one of these words."""

REFUSED = {
    "ActionsApi.get_run": 404,  # no hook has run
    "ActionsApi.get_run_hook_output": 404,
    "AuthApi.login": 401,  # another key than this one
    "AuthApi.create_policy": 400,  # statements that are made up
    "AuthApi.update_policy": 400,
    "AuthApi.delete_user": 409,  # the last administrator
    "AuthApi.delete_group_membership": 404,  # after `delete_group`, which comes before
    "AuthApi.get_group": 404,
    "AuthApi.list_group_members": 404,
    "AuthApi.list_group_policies": 404,
    "AuthApi.detach_policy_from_group": 404,
    "AuthApi.detach_policy_from_user": 404,  # after `delete_policy`
    "AuthApi.get_policy": 404,
    "AuthApi.get_credentials": 404,
    "AuthApi.delete_credentials": 404,
    "BranchesApi.delete_branch": 403,  # the default branch
    "ExperimentalApi.abort_presign_multipart_upload": 400,  # of an address that was not given out, and so on
    "ExperimentalApi.complete_presign_multipart_upload": 400,
    "ExperimentalApi.upload_part": 400,
    "ExperimentalApi.upload_part_copy": 404,
    "ImportApi.import_start": 403,
    "ImportApi.import_status": 404,
    "ImportApi.import_cancel": 404,
    "InternalApi.create_commit_record": 400,
    "InternalApi.get_metadata_object": 404,
    "InternalApi.get_usage_report_summary": 403,  # after `AuthApi.delete_policy`
    "InternalApi.internal_delete_branch_protection_rule": 404,
    "InternalApi.restore_refs": 400,
    "InternalApi.setup": 409,
    "InternalApi.setup_comm_prefs": 409,
    "InternalApi.stage_object": 403,
    "MetadataApi.get_meta_range": 404,
    "MetadataApi.get_range": 404,
    **{
        f"{api}.{verb}_pull_request": 404  # there is no branch `dev`, and no pull request
        for api in ("ExperimentalApi", "PullsApi")
        for verb in ("create", "get", "merge", "update")
    },
    "RepositoriesApi.dump_status": 404,
    "RepositoriesApi.restore_status": 404,
    "RepositoriesApi.restore_submit": 400,
    "StagingApi.link_physical_address": 400,
}
"""What is rightly refused of a call with made-up arguments."""

SUFFIXES = ("_with_http_info", "_without_preload_content")


def made_up(hint: Any, name: str) -> Any:
    """A value for an argument or a field."""
    if typing.get_origin(hint) is typing.Union:
        hint = next(one for one in typing.get_args(hint) if one is not type(None))
    hint = getattr(hint, "__origin__", hint) if typing.get_origin(hint) is typing.Annotated else hint
    if typing.get_origin(hint) is list:
        return [made_up(typing.get_args(hint)[0], name)]
    if hasattr(hint, "item_type"):  # a list with bounds
        return [made_up(hint.item_type, name)]
    if inspect.isclass(hint) and hasattr(hint, "__fields__"):
        given = MODELS.get(hint.__name__, {})
        fields = {key: field for key, field in hint.__fields__.items() if field.required and key not in given}
        return hint.construct(**{key: _field(field, key) for key, field in fields.items()}, **given)
    if typing.get_origin(hint) is dict:
        return {}
    kinds = {"bool": False, "int": 1, "bytes": b"x"}
    return next((value for kind, value in kinds.items() if kind in str(hint).lower()), PLACES.get(name, "x"))


def _field(field: Any, name: str) -> Any:
    """A value for a field of a model, of pydantic's older kind."""
    listed = str(field.outer_type_).startswith(("typing.List", "typing.Annotated[list")) or field.shape == 2
    return [made_up(field.type_, name)] if listed else made_up(field.type_, name)


def call(api: Any, name: str, repository: str) -> int | None:
    """Call a method with made-up arguments; the status that it was refused with, or None."""
    method = inspect.unwrap(getattr(type(api), name))
    hints = typing.get_type_hints(method)
    wanted = [one for one in inspect.signature(method).parameters.values() if one.name not in ("self", "kwargs")]
    arguments = {
        one.name: repository if one.name == "repository" else made_up(hints[one.name], one.name)
        for one in wanted
        if one.default is inspect.Parameter.empty or hasattr(_plain(hints[one.name]), "__fields__")
    }
    try:
        getattr(api, name)(**arguments)
    except lakefs_sdk.ApiException as error:
        return int(error.status)
    return None


def _plain(hint: Any) -> Any:
    return next((one for one in typing.get_args(hint) if one is not type(None)), hint)


def test_the_generated_client(client: Client, feeding: RunningServer) -> None:
    """Every method is answered by the operation that it means: with what it can read, or refused rightly."""
    found: dict[str, int | None] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for api_name in sorted(one for one in vars(lakefs_sdk) if one.endswith("Api")):
            api = getattr(lakefs_sdk, api_name)(client.sdk_client._api)
            for name, value in inspect.getmembers_static(type(api)):
                if code_of(value) and not name.startswith("_") and not name.endswith(SUFFIXES):
                    found[f"{api_name}.{name}"] = call(api, name, _fresh(client))
    wrong = {}
    for name, status in found.items():
        api_name, _, verb = name.partition(".")
        words = NOT_HERE.get(api_name, "") if api_name in NOT_HERE else ""
        absent = words is None or any(word in verb for word in words.split())
        mine = verb in ("get_current_user", "list_user_credentials")
        wanted = 501 if absent and not mine else REFUSED.get(name)
        if status != wanted:
            wrong[name] = (status, wanted)
    assert not wrong, "\n".join(f"{name}: {pair}" for name, pair in wrong.items())


def _fresh(client: Client) -> str:
    name = f"g-{uuid4().hex[:16]}"
    repo = lakefs.Repository(name, client=client).create(storage_namespace=f"local://{name}")
    repo.branch("main").object("a").upload(b"1", mode="wb")
    repo.branch("main").commit("first")
    repo.tag("v1").create("main")
    return name


# the file system


def drive_files(fs: LakeFSFileSystem, root: str, folder: Path) -> None:
    fs.pipe(f"{root}/d/a", b"abc")
    with fs.open(f"{root}/d/b", "wb") as file:
        file.write(b"defg")
    assert fs.cat(f"{root}/d/a") == b"abc"
    assert fs.tail(f"{root}/d/b", 2) == b"fg"
    assert fs.head(f"{root}/d/b", 2) == b"de"
    assert fs.checksum(f"{root}/d/a") == "900150983cd24fb0d6963f7d28e17f72"
    assert fs.exists(f"{root}/d/a")
    assert fs.info(f"{root}/d/a")["size"] == 3
    assert len(fs.ls(f"{root}/d/")) == 2
    assert fs.created(f"{root}/d/a") == fs.modified(f"{root}/d/a")
    fs.cp_file(f"{root}/d/a", f"{root}/d/c")
    fs.touch(f"{root}/d/t")
    local = folder / "local"
    local.write_bytes(b"local")
    fs.put_file(str(local), f"{root}/d/p")
    fs.get_file(f"{root}/d/p", str(folder / "back"))
    assert (folder / "back").read_bytes() == b"local"
    fs.rm_file(f"{root}/d/t")
    names = [f"{root.removeprefix('lakefs://')}/d/{name}" for name in "abcp"]
    assert sorted(fs.find(f"{root}/d/")) == names
    assert sorted(fs.glob(f"{root}/d/*")) == names
    assert [sorted(files) for _, _, files in fs.walk(f"{root}/d/")] == [["a", "b", "c", "p"]]
    assert fs.du(f"{root}/d/") == 15
    assert (fs.isfile(f"{root}/d/a"), fs.isdir(f"{root}/d"), fs.size(f"{root}/d/a")) == (True, True, 3)
    assert fs.cat_ranges([f"{root}/d/b"], [1], [3]) == [b"ef"]
    fs.mv(f"{root}/d/c", f"{root}/d/m")
    fs.rm(f"{root}/d/", recursive=True)
    assert not fs.exists(f"{root}/d/a")
    with fs.wrapped_api_call(), pytest.raises(FileNotFoundError):
        fs.info(f"{root}/none")


def drive_transaction(fs: LakeFSFileSystem, name: str) -> None:
    with fs.transaction(name, "main", automerge=True) as tx:
        with fs.open(f"lakefs://{name}/{tx.branch.id}/t", "wb") as file:
            file.write(b"1")
        commit = tx.commit("one")
        assert tx.rev_parse(commit).id == commit.id
        tx.revert(tx.branch, commit, parent_number=0)
        with fs.open(f"lakefs://{name}/{tx.branch.id}/u", "wb") as file:
            file.write(b"2")
        tx.commit("two")
        tx.tag(tx.branch.head, "marked")
        tx.merge(tx.branch, "main")
    assert fs.cat(f"lakefs://{name}/main/u") == b"2"
    assert fs.exists(f"lakefs://{name}/marked/u")


def test_the_file_system(feeding: RunningServer, repo: lakefs.Repository, tmp_path: Path) -> None:
    LakeFSFileSystem.clear_instance_cache()
    fs = LakeFSFileSystem(
        host=feeding.endpoint,
        username=feeding.access_key_id,
        password=feeding.secret_access_key,
        skip_instance_cache=True,
    )
    own = {
        f"{cls.__name__}.{name}": codes
        for cls in (LakeFSFileSystem, LakeFSTransaction)
        for name, value in vars(cls).items()
        if not name.startswith("_") and (codes := code_of(value))
    }
    with watched() as seen:
        drive_files(fs, f"lakefs://{repo.id}/main", tmp_path)
        drive_transaction(fs, repo.id)
    assert left_out(own, seen) == []
