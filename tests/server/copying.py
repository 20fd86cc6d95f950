"""Parts of an upload that are copied from objects, over whatever store signs uploads in parts."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import httpx

from tests.server.workspacing import Api
from tests.support.processes.server import RunningServer

MIB = 1 << 20
PMPU = "/branches/main/staging/pmpu"


def parts_are_copied(api: Api, server: RunningServer, namespace: Callable[[], str]) -> None:
    """Next to a part from the client: inside the store from an object of this repository, through the server from
    another one's.
    """
    data = bytes(range(256)) * (24 * 1024) + b"tail"
    api.put("main", "from.bin", data)
    made = api("POST", f"{PMPU}?path=big.bin", None, 201)
    upload, address = made["upload_id"], {"physical_address": made["physical_address"]}
    here = api.repo.rpartition("/")[2]
    there = _another(server, namespace())

    def copy(number: int, **source: str) -> httpx.Response:
        asked = {**address, "copy_source": {"repository": here, "ref": "main", "path": "from.bin", **source}}
        return api.send("PUT", f"{PMPU}/{upload}/parts/{number}/copy?path=big.bin", asked)

    signed = api("PUT", f"{PMPU}/{upload}/parts/1?path=big.bin", address)["presigned_url"]
    tags = [httpx.put(signed, content=data[: 5 * MIB]).raise_for_status().headers.get("etag", "none")]
    for number, source in enumerate(
        ({"range": f"bytes=0-{5 * MIB - 1}"}, {}, {"repository": there, "path": "far.bin"}), 2
    ):
        answer = copy(number, **source)
        assert (answer.status_code, answer.content) == (204, b""), answer.text
        assert answer.headers["etag"].strip('"')
        tags.append(answer.headers["etag"])
    for wrong, status in (
        ({"path": "none"}, 404),
        ({"repository": "none"}, 404),
        ({"range": "bytes=9-1"}, 400),
        ({"range": "all"}, 400),
        ({"range": "bytes=99999999-"}, 400),
    ):
        assert copy(5, **wrong).status_code == status, wrong
    parts = [{"part_number": n, "etag": tag} for n, tag in enumerate(tags, 1)]
    stats = api("PUT", f"{PMPU}/{upload}?path=big.bin", {**address, "parts": parts})
    whole = data[: 5 * MIB] * 2 + data + b"far"
    assert stats["size_bytes"] == len(whole)
    assert api.send("GET", "/refs/main/objects?path=big.bin").content == whole


def _another(server: RunningServer, namespace: str) -> str:
    """The name of a repository with one object."""
    with Api(server, f"r-{uuid4().hex[:16]}") as other:
        name = other.repo.rpartition("/")[2]
        other.http.post("/repositories", json={"name": name, "storage_namespace": namespace}).raise_for_status()
        other.put("main", "far.bin", b"far")
    return name
