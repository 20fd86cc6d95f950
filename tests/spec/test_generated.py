"""The generated packages equal the current output of the generators for openapi.yaml, and contain every operation."""

import inspect
from importlib import import_module
from pathlib import Path

import lakebed_api.models
import msgspec
import pytest
from lakebed_wire import models, operations

from tools import generate
from tools.openapi import spec

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = spec.load(ROOT / "openapi.yaml")
BINARY = {
    *("getObject", "getObjects", "getArchive", "headObject", "uploadObject", "uploadObjects", "pushLayer"),
    *("getMetadataObject", "getAccessHistory", "getServerAccessHistory", "getRunHookOutput"),
}
# What existing clients call, and so may never go missing.
PROMISED = {
    *("healthCheck", "getConfig", "getLakeFSVersion", "getSetupState", "login", "getCurrentUser"),
    *("listRepositories", "createRepository", "getRepository", "deleteRepository"),
    *("getRepositoryMetadata", "setRepositoryMetadata", "deleteRepositoryMetadata"),
    *("listBranches", "createBranch", "getBranch", "deleteBranch", "resetBranch"),
    *("listTags", "createTag", "getTag", "deleteTag"),
    *("commit", "getCommit", "logCommits", "mergeIntoBranch", "findMergeBase", "diffBranch", "diffRefs"),
    *("getObject", "headObject", "statObject", "listObjects", "uploadObject"),
    *("deleteObject", "deleteObjects", "copyObject"),
}
TABLE = {operation.operation_id: operation for operation in operations.OPERATIONS}
STRUCTS = [value for _, value in inspect.getmembers(models, inspect.isclass) if value.__module__ == models.__name__]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything, generated now."""
    folder = tmp_path_factory.mktemp("generated")
    assert generate.main(["--out", str(folder)]) == 0
    return folder


@pytest.mark.soak  # the job `generated` of `make check` and `make test` does the same
def test_generated_is_up_to_date(fresh: Path) -> None:
    assert generate.differences(fresh, generate.OUT) == []


def test_every_generated_file_says_so() -> None:
    files = [path for path in generate.OUT.rglob("*.py") if "__pycache__" not in path.parts]
    assert len(files) > 80
    assert [path for path in files if not path.read_text(encoding="utf-8").startswith(generate.HEADER + "\n")] == []


def test_differences_name_each_file_and_how_it_differs(tmp_path: Path) -> None:
    fresh, kept = tmp_path / "fresh", tmp_path / "kept"
    for folder, names in ((fresh, ("same", "new", "changed")), (kept, ("same", "old", "changed"))):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(folder.name if name == "changed" else name, encoding="utf-8")
    assert generate.differences(fresh, kept) == ["changed: differs", "new: missing", "old: not generated any more"]


@pytest.mark.slow
def test_output_that_lost_an_operation_is_refused(tmp_path: Path) -> None:
    generate.install(generate.OUT, tmp_path)
    (tmp_path / "lakebed_api/api/tags/get_tag.py").unlink()
    with pytest.raises(generate.GenerationError, match="operations per tag"):
        generate.verify(tmp_path)


@pytest.mark.slow
def test_output_that_does_not_compile_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate.install(generate.OUT, tmp_path)
    (tmp_path / "lakebed_api/errors.py").write_text("def f(a, a): ...\n", encoding="utf-8")
    with pytest.raises(generate.GenerationError, match="does not compile"):
        generate.verify(tmp_path)
    assert "duplicate argument" in capsys.readouterr().out


@pytest.mark.slow
def test_a_failing_generator_is_reported(tmp_path: Path) -> None:
    with pytest.raises(generate.GenerationError, match="ruff failed"):
        generate.run("ruff", "no-such-command", cwd=tmp_path)


def test_the_table_holds_every_operation_of_the_document() -> None:
    documented = {entry.name: (entry.method.upper(), entry.path) for entry in spec.entries(DOCUMENT)}
    assert {name: (row.method, row.path) for name, row in TABLE.items()} == documented
    assert len(operations.OPERATIONS) == len(documented) >= 37
    assert TABLE.keys() >= PROMISED


def test_only_operations_that_move_bytes_stay_out_of_the_client() -> None:
    api = Path(inspect.getfile(lakebed_api)).parent / "api"
    made = [path for path in api.glob("*/*.py") if path.name != "__init__.py"]
    assert {name for name, row in TABLE.items() if row.binary} == BINARY
    assert len(made) + len(BINARY) == len(TABLE)


@pytest.mark.parametrize("row", operations.OPERATIONS, ids=lambda row: row.operation_id)
def test_every_decoder_builds(row: operations.Operation) -> None:
    msgspec.json.Decoder(row.params)
    if row.body is not None:
        msgspec.json.Decoder(row.body)
    wire_names = {field.encode_name for field in msgspec.structs.fields(row.params)}
    assert wire_names == {parameter.name for parameter in row.parameters}


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_every_model_can_be_decoded(struct: type) -> None:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(struct)
    with pytest.raises(msgspec.ValidationError, match="Expected"):
        decoder.decode(b"7.5")


def test_path_parameters_match_the_path() -> None:
    for row in operations.OPERATIONS:
        in_path = {part[1:-1] for part in row.path.split("/") if part.startswith("{")}
        assert {parameter.name for parameter in row.parameters if parameter.place == "path"} == in_path


def test_a_row_says_what_the_document_says() -> None:
    row = TABLE["commit"]
    assert (row.success, row.tag, row.security, row.binary, row.body_required) == (201, "commits", True, False, True)
    assert (row.body, row.media_types) == (models.CommitCreation, ("application/json",))
    assert {name for name, row in TABLE.items() if not row.security} == {
        *(
            "healthCheck",
            "getSetupState",
            "login",
            "exchangeSignInCode",
            "setup",
            "setupCommPrefs",
            "getAuthCapabilities",
        )
    }
    assert {name for name, row in TABLE.items() if row.media_types and not row.body_required} == {
        *("login", "mergeIntoBranch", "uploadObject", "revertWorkspace", "popWorkspace", "stashBranch"),
        *("createCredentials", "createTemporaryKey", "mergePullRequest", "approvePullRequest"),
        "dismissPullRequestReview",
        "mergeIntoBranchAsync",
    }
    assert operations.API_PREFIX == "/api/v1"
    since = next(parameter for parameter in TABLE["logCommits"].parameters if parameter.name == "since")
    assert since == operations.Parameter("since", "query", is_array=False, is_bool=False, is_time=True)


def test_parameters_are_bound_by_wire_name_and_within_bounds() -> None:
    wire = {"repository": "lake", "ref": "main", "path": "a", "If-None-Match": '"x"', "presign": "true"}
    bound = msgspec.convert(wire, operations.GetObjectParams, strict=False)
    assert (bound.if_none_match, bound.presign, bound.range) == ('"x"', True, msgspec.UNSET)
    for bad in ("1001", "-2", "null", ""):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"amount": bad}, operations.ListRepositoriesParams, strict=False)


def test_unset_fields_are_left_out_and_null_is_refused() -> None:
    assert msgspec.json.encode(models.Error(message="no")) == b'{"message":"no"}'
    for body in (b'{"message":"m","metadata":null}', b'{"message":"m","date":9223372036854775808}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(body, type=models.CommitCreation)


def test_the_client_builds_requests_and_reads_answers() -> None:
    merge = import_module("lakebed_api.api.merges.merge_into_branch")
    sent = merge._get_kwargs("lake", "a/b", "main", body=lakebed_api.models.Merge(message="m"), conflicts_amount=3)
    assert (sent["method"], sent["url"]) == ("post", "/repositories/lake/refs/a%2Fb/merge/main")
    assert (sent["params"], sent["json"]["message"]) == ({"conflicts_amount": 3}, "m")
    error = lakebed_api.models.Error.from_dict({"message": "no", "conflicts": [{"path": "p", "base": "1"}]})
    assert not isinstance(error.conflicts, lakebed_api.types.Unset)
    assert error.conflicts[0].path == "p"


def test_all_lists_of_error_kinds_are_equal() -> None:
    kinds = DOCUMENT["x-error-kinds"]
    field = DOCUMENT["components"]["schemas"]["Error"]["properties"]["kind"]
    assert list(kinds) == field["x-known-values"]
    assert kinds == operations.ERROR_KINDS
    listed = {
        kind.strip(): int(line[:3])
        for line in field["description"].replace("\n  ", " ").split("\n- ")[1:]
        for kind in line[4:].split(",")
    }
    assert listed == kinds


def test_statuses_that_operations_declare_have_a_kind_and_the_other_way_round() -> None:
    declared = {int(code) for entry in spec.entries(DOCUMENT) for code in entry.operation["responses"] if code >= "400"}
    # 405 is answered before an operation is found.
    assert declared | {405} == set(operations.ERROR_KINDS.values())


def test_the_lock_and_the_table_hold_the_digest_of_the_document() -> None:
    assert f"sha256:{operations.SPEC_DIGEST}" in (generate.OUT / generate.LOCK).read_text(encoding="utf-8")
