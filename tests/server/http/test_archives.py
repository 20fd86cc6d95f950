"""getArchive: a folder of one commit as a tar or zip file that unpacks below the target directory only."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import FoundObject, ReadableEntry
from lakebed_server.http import responses
from lakebed_server.http.read_ahead import Memory
from lakebed_server.rest.archives import archived, file_name, safe_name

from tests.server.workspacing import Api
from tests.support.processes.server import RunningServer, running_server
from tests.support.waiting import PATIENCE

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as server:
        yield server


LARGE = os.urandom(2 * MIB + 3)
FILES = {
    "data/2026/a.csv": b"a,b\n1,2\n",
    "data/2026/" + "long" * 60 + "/ü 😀.csv": b"long",
    "data/empty": b"",
    "data/large.bin": LARGE,
    "data/marker/": b"",
}


@pytest.fixture(scope="module")
def api(server: RunningServer) -> Iterator[Api]:
    with Api(server, "archives") as api:
        creation = {"name": "archives", "storage_namespace": "local://archives"}
        api.http.post("/repositories", json=creation).raise_for_status()
        for path, data in {**FILES, "other": b"x"}.items():
            api.put("main", path, data)
        api("POST", "/branches/main/commits", {"message": "first"})
        api.put("main", "data/uncommitted", b"x")
        yield api


def download(api: Api, query: str, ref: str = "main") -> httpx.Response:
    answer = api.send("GET", f"/refs/{ref}/archive?{query}")
    assert answer.status_code == 200, answer.text
    return answer


def listed(content: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return archive.getnames()


def names(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WANTED = {path.removeprefix("data/"): data for path, data in FILES.items() if not path.endswith("/")}


@pytest.mark.parametrize("form", ["tar", "tar.gz"])
def test_a_folder_unpacks_by_the_program_tar(api: Api, tmp_path: Path, form: str) -> None:
    answer = download(api, f"prefix=data/&format={form}")
    flags = "xz" if form == "tar.gz" else "x"
    subprocess.run(["tar", flags, "-C", str(tmp_path)], input=answer.content, check=True)
    assert names(tmp_path) == WANTED
    assert (tmp_path / "marker").is_dir()
    name = f"archives-main-data.{form}"
    assert answer.headers["content-disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"


def test_a_folder_unpacks_from_zip(api: Api, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(download(api, "prefix=data/&format=zip").content)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    assert names(tmp_path) == WANTED
    assert (tmp_path / "marker").is_dir()


def test_names_are_relative_to_the_folder_of_the_prefix(api: Api) -> None:
    assert listed(download(api, "prefix=data/2026/a").content) == ["a.csv"]
    everything = listed(download(api, "").content)
    assert sorted(everything) == sorted([*(path.rstrip("/") for path in FILES), "other"])


def test_a_prefix_without_objects_and_uncommitted_changes_are_refused(api: Api) -> None:
    api.fails("GET", "/refs/main/archive?prefix=nothing", None, 404, "object_not_found")
    api.fails("GET", "/refs/main$/archive", None, 400, "invalid_ref")
    api.fails("GET", "/refs/nowhere/archive", None, 404, "ref_not_found")
    api.fails("GET", "/refs/main/archive?format=rar", None, 400, "invalid_request")


EVIL = [
    "../../evil",
    "/etc/evil",
    "a/../../evil",
    "a//b",
    "./a",
    "C:/evil",
    "a\\..\\..\\evil",
    "%../evil",
    "..\x00/evil",
    "data/..",
    "//",
]


def test_no_name_leaves_the_target_directory(server: RunningServer, tmp_path: Path) -> None:
    with Api(server, "evil") as api:
        creation = {"name": "evil", "storage_namespace": "local://evil"}
        api.http.post("/repositories", json=creation).raise_for_status()
        for path in EVIL:
            api.put("main", path, path.encode())
        api("POST", "/branches/main/commits", {"message": "first"})
        for form in ("tar", "zip"):
            target = tmp_path / form / "deep" / "target"
            target.mkdir(parents=True)
            content = download(api, f"format={form}").content
            if form == "tar":
                subprocess.run(["tar", "x", "-P", "-C", str(target)], input=content, check=True)
            else:
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    archive.extractall(target)
            assert sorted(names(target).values()) == sorted(path.encode() for path in EVIL)
            assert not names(target.parent).keys() - {f"target/{name}" for name in names(target)}


def test_different_paths_have_different_names() -> None:
    paths = [
        *EVIL,
        "..",
        "/",
        "%..",
        "%%..",
        "",
        "%",
        "%%",
        "a%5C\\b",
        "a\\\\b",
        "a%5C%5Cb",
        "%a%5C%5Cb",
        "C:x",
        "%C:x",
    ]
    assert len({safe_name(path, "", 1) for path in paths}) == len(set(paths))
    for path in paths:
        segments = safe_name(path, "", 1).split("/")
        assert not {"", ".", ".."} & set(segments)
        assert not any("\\" in segment or "\x00" in segment for segment in segments)
    assert safe_name("a:b/100%/..a/c", "", 1) == "%a:b/100%/..a/c"
    assert (safe_name("d/", "d/", 0), safe_name("d/", "d/", 1), safe_name("d/", "", 0)) == ("", "%", "d/")


def test_an_object_that_cannot_be_read_ends_the_archive(server: RunningServer) -> None:
    with Api(server, "broken") as api:
        creation = {"name": "broken", "storage_namespace": "local://broken"}
        api.http.post("/repositories", json=creation).raise_for_status()
        api.put("main", "a", bytes(4 * MIB))
        api.put("main", "b", b"b")
        api("POST", "/branches/main/commits", {"message": "first"})
        shutil.rmtree(server.data_dir / "objects" / "broken" / "data")
        api.fails("GET", "/refs/main/archive", None, 410, "object_gone")
        api.put("main", "a", b"x" * (4 * MIB))
        api("POST", "/branches/main/commits", {"message": "second"})
        for form in ("tar", "tar.gz", "zip"):
            with pytest.raises(httpx.RemoteProtocolError):
                api.send("GET", f"/refs/main/archive?format={form}")


# sizes beyond what fits into a test's store


async def _huge(size: int) -> AsyncIterator[FoundObject]:
    block = bytes(MIB)

    async def read(start: int, length: int) -> bytes:
        return block[:length]

    for path, length in (("huge", size), ("last", 5)):
        entry = Entry("data/" + path, "c", 0, length, 1_700_000_000, "text/csv", {}, b"")
        yield FoundObject(path, ReadableEntry(entry, read))


@pytest.mark.slow
async def test_an_object_of_more_than_8_gib_in_tar() -> None:
    size = 8 * GIB + 12345
    kept, at, tail = b"", 0, b""
    async with archived(_huge(size), "", "tar", Memory()) as chunks, aclosing(chunks):  # type: ignore[type-var]
        async for chunk in chunks:
            kept = kept or chunk[:4096]
            tail = (tail + chunk)[-4 * 1024 :]
            at += len(chunk)
    with tarfile.open(fileobj=io.BytesIO(kept)) as archive:
        member = archive.next()
    assert member is not None
    assert (member.name, member.size) == ("huge", size)
    assert b"last\x00" in tail
    assert at % 512 == 0


@pytest.mark.soak
async def test_an_object_of_more_than_4_gib_in_zip(tmp_path: Path) -> None:
    size = 4 * GIB + 12345
    file = tmp_path / "huge.zip"
    with file.open("wb") as out:
        async with archived(_huge(size), "", "zip", Memory()) as chunks:
            async for chunk in chunks:
                out.write(chunk)
    with zipfile.ZipFile(file) as archive:
        assert [(one.filename, one.file_size) for one in archive.infolist()] == [("huge", size), ("last", 5)]
        assert archive.read("last") == bytes(5)


def test_the_file_name_is_safe_on_every_system() -> None:
    assert file_name("sales", "main", "orders/2026/", "zip") == "sales-main-2026.zip"
    assert file_name("sales", "main", "ord", "tar.gz") == "sales-main.tar.gz"
    assert file_name("sales", "feature/x", '"a\r\nb\u202e"/', "zip") == "sales-feature_x-_a__b__.zip"
    assert file_name("sales", "m" * 200, "é😀/", "zip") == f"sales-{'m' * 60}-é😀.zip"
    name, value = responses.saved_as("sales-é😀.zip")
    assert name == b"content-disposition"
    assert value == b"attachment; filename=\"sales-__.zip\"; filename*=UTF-8''sales-%C3%A9%F0%9F%98%80.zip"


@pytest.mark.parametrize(
    ("name", "plain", "quoted"),
    [
        ('a"; x="\r\nSet-Cookie: b=c', "a_; x=___Set-Cookie: b=c", "a%22%3B%20x%3D%22%0D%0ASet-Cookie%3A%20b%3Dc"),
        ("..\\up/x.csv", ".._up_x.csv", "..%5Cup%2Fx.csv"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv", "x" * 196 + ".csv"),
        ("", "object", "object"),
    ],
)
def test_a_file_name_cannot_end_its_header(name: str, plain: str, quoted: str) -> None:
    value = responses.saved_as(name)[1].decode()
    assert value == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quoted}"
    found = re.search(r"filename=['\"]?([^'\"\s]+)['\"]?", value)  # as the clients of openapi-generator read it
    assert found is not None
    assert found.group(1) == plain.split(" ", maxsplit=1)[0]


def test_a_browser_downloads_a_folder_with_its_login_cookie(server: RunningServer, api: Api) -> None:
    """As a link on the web page does: the cookie, and no other credential."""
    with httpx.Client(base_url=f"{server.endpoint}/api/v1", trust_env=False, timeout=PATIENCE) as browser:
        key = {"access_key_id": server.access_key_id, "secret_access_key": server.secret_access_key}
        browser.post("/auth/login", json=key).raise_for_status()
        assert browser.cookies
        headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "User-Agent": "Mozilla/5.0"}
        target = f"{api.repo}/refs/main/archive?prefix=data/&format=zip"
        answer = browser.get(target, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith('attachment; filename="archives-main-data.zip"')
        assert answer.headers["x-content-type-options"] == "nosniff"
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.testzip() is None
            assert archive.read("large.bin") == LARGE
    assert httpx.get(f"{server.endpoint}/api/v1{target}", headers=headers, trust_env=False).status_code == 401
