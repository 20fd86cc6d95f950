"""Physical addresses that clients get and link, and replaced metadata, as clients of lakeFS use them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.direct_writes.physical_address import ADDRESS_SECONDS
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.process.app import create_app

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import Clock, services

BACKING = MAIN + "/staging/backing?path="
STAT = REPO + "/refs/main/objects/stat?path="
ABC = hashlib.md5(b"abc").hexdigest()


class Placed(Lake):
    """A lake whose store can be written past the server, as a client with credentials does."""

    def __init__(self) -> None:
        super().__init__()
        kv, self.stores, self.clock = MemoryKV(), Stores(None, memory=True), Clock()
        foreign = Foreign(self.stores.open, ["mem://elsewhere/allowed/", "mem://other/"])
        self.engine = Engine(kv, self.stores, clock=self.clock, foreign=foreign, address_key=b"key")
        self.app = create_app(services(self.engine, kv))
        self("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)

    def write(self, address: str, data: bytes) -> str:
        namespace, _, key = address.removeprefix("mem://").partition("/")
        self.runner.run(self.stores.open(f"mem://{namespace}").put(key, data))
        return address

    def given(self, path: str, data: bytes | None = b"abc") -> str:
        address = str(self("GET", BACKING + path)["physical_address"])
        return address if data is None else self.write(address, data)

    def link(self, path: str, address: str, expect: int = 200, checksum: str = ABC, size: int = 3, **more: Any) -> Any:
        headers = {name: more.pop(name) for name in ("if_none_match", "if_match") if name in more}
        body = {"staging": {"physical_address": address}, "checksum": checksum, "size_bytes": size, **more}
        return self("PUT", BACKING + path, body, expect, **headers)

    def read(self, path: str) -> bytes:
        return bytes(self("GET", f"{REPO}/refs/main/objects?path={path}").body)


@pytest.fixture
def lake() -> Iterator[Placed]:
    lake = Placed()
    yield lake
    lake.close()


def test_an_address_is_written_and_linked(lake: Placed) -> None:
    address = lake.given("a.csv")
    assert address.startswith("mem://lake/data/")
    assert lake("GET", BACKING + "a.csv") != {"physical_address": address}  # each one is new
    stats = lake.link("a.csv", address, content_type="text/csv", user_metadata={"k": "v"}, mtime=5)
    assert stats == {
        "path": "a.csv",
        "path_type": "object",
        "physical_address": address,
        "checksum": ABC,
        "size_bytes": 3,
        "mtime": 5,
        "metadata": {"k": "v"},
        "content_type": "text/csv",
    }
    assert lake("GET", STAT + "a.csv") == stats
    assert lake.read("a.csv") == b"abc"
    lake.link("a.csv", address, checksum=f' "{ABC}" ')  # as some clients send ETags; linking again is not an error


def test_only_addresses_given_out_for_the_path_can_be_linked(lake: Placed) -> None:
    address = lake.given("a.csv")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    place, _, signature = address.partition(",")
    ends, _, mac = signature.partition(".")
    forged = [
        place,
        lake.write(f"{place},{int(ends, 16) + 9:09x}.{mac}", b"abc"),
        lake.write(f"{place[:-1]}{'1' if place.endswith('0') else '0'},{signature}", b"abc"),
        lake.write("mem://lake/data/2026010100/" + "0" * 32, b"abc"),
        "mem://lake/_lakebed/repository.json",
        "data/x",
    ]
    for one in forged:
        assert lake.link("a.csv", one, 400)["kind"] == "invalid_address"
    assert lake.link("b.csv", address, 400)["kind"] == "invalid_address"
    body = {"staging": {"physical_address": address}, "checksum": ABC, "size_bytes": 3}
    refused = lake("PUT", f"{REPO}/branches/dev/staging/backing?path=a.csv", body, 400)
    assert refused["kind"] == "invalid_address"
    lake("GET", STAT + "a.csv", expect=404)


def test_an_address_ends(lake: Placed) -> None:
    address = lake.given("a.csv")
    lake.clock.time += ADDRESS_SECONDS + 1
    refused = lake.link("a.csv", address, 400)
    assert refused["kind"] == "invalid_address"
    assert "expired" in refused["message"]
    lake.clock.time -= 2
    lake.link("a.csv", address)


def test_link_with_false_size_or_checksum_is_refused(lake: Placed) -> None:
    empty = lake.given("a.csv", None)
    assert lake.link("a.csv", empty, 400)["kind"] == "invalid_address"  # nothing was written
    address = lake.given("a.csv")
    assert lake.link("a.csv", address, 400, size=4)["kind"] == "checksum_mismatch"
    wrong = lake.link("a.csv", address, 400, checksum=hashlib.md5(b"abd").hexdigest())
    assert wrong["kind"] == "checksum_mismatch"
    assert ABC in wrong["message"]
    stage = {"physical_address": address, "checksum": hashlib.md5(b"abd").hexdigest(), "size_bytes": 3}
    assert lake("PUT", f"{MAIN}/objects?path=a.csv", stage, 400)["kind"] == "checksum_mismatch"
    for checksum in ("", '""', " "):
        assert lake.link("a.csv", address, 400, checksum=checksum)["kind"] == "invalid_request"
    lake("GET", STAT + "a.csv", expect=404)


def test_conditions_of_a_link(lake: Placed) -> None:
    first, second = lake.given("a.csv"), lake.given("a.csv", b"abd")
    other = hashlib.md5(b"abd").hexdigest()
    assert lake.link("a.csv", first, 412, if_match=f'"{ABC}"')["kind"] == "precondition_failed"
    lake.link("a.csv", first, if_none_match="*")
    assert lake.link("a.csv", second, 412, checksum=other, if_none_match="*")["kind"] == "precondition_failed"
    refused = lake.link("a.csv", second, 412, checksum=other, if_none_match=f'"{ABC}"')
    assert refused["kind"] == "precondition_failed"
    assert lake.read("a.csv") == b"abc"
    lake.link("a.csv", second, checksum=other, if_match=f'"{ABC}"')
    assert lake.read("a.csv") == b"abd"


def test_an_object_elsewhere(lake: Placed) -> None:
    address = lake.write("mem://elsewhere/allowed/a.csv", b"abc")
    lake.link("a.csv", address, checksum="any-etag-1")
    assert lake.read("a.csv") == b"abc"
    stage = {"physical_address": address, "checksum": ABC, "size_bytes": 3}
    stats = lake("PUT", f"{MAIN}/objects?path=b.csv", stage, 201)
    assert (stats["physical_address"], stats["checksum"]) == (address, ABC)
    assert lake.read("b.csv") == b"abc"
    lake.write("mem://elsewhere/denied.csv", b"abc")
    assert lake.link("c.csv", "mem://elsewhere/denied.csv", 403)["kind"] == "permission_denied"
    assert lake.link("c.csv", "mem://elsewhere/allowed/none", 400)["kind"] == "invalid_address"
    assert lake.link("c.csv", address, 400, size=2)["kind"] == "checksum_mismatch"
    # data of another repository is its own, also where the administrator allows the bucket
    lake("POST", "/repositories", {"name": "other", "storage_namespace": "mem://other/repo"}, 201)
    theirs = lake.write("mem://other/repo/data/x", b"abc")
    assert lake.link("c.csv", theirs, 400)["kind"] == "invalid_request"


def test_no_address_is_given_for_what_cannot_be_written(lake: Placed) -> None:
    nowhere = f"{REPO}/branches/nope/staging/backing?path=a"
    assert lake("GET", nowhere, expect=404)["kind"] == "branch_not_found"
    assert lake("GET", BACKING + "a" * 1025, expect=400)["kind"] == "invalid_path"
    assert lake("GET", BACKING, expect=400)["kind"] == "invalid_request"
    assert lake("GET", BACKING + "a&presign=true", expect=400)["kind"] == "invalid_request"
    pmpu = MAIN + "/staging/pmpu"
    assert lake("POST", pmpu + "?path=a", expect=501)["kind"] == "not_implemented"
    assert lake("POST", pmpu + "?path=a&parts=10001", expect=400)["kind"] == "invalid_request"
    body = {"physical_address": "data/x"}
    assert lake("DELETE", pmpu + "/up?path=a", body, 400)["kind"] == "invalid_address"
    assert lake("PUT", pmpu + "/up?path=a", {**body, "parts": []}, 400)["kind"] == "invalid_request"
    source = {**body, "copy_source": {"repository": "lake", "ref": "main", "path": "a"}}
    assert lake("PUT", pmpu + "/up/parts/1/copy?path=a", source, 501)["kind"] == "not_implemented"


def test_user_metadata_is_replaced(lake: Placed) -> None:
    lake.put("a.csv", b"abc")
    lake.commit("with a")
    before = lake("GET", STAT + "a.csv")
    url = MAIN + "/objects/stat/user_metadata?path=a.csv"
    lake("PUT", url, {"set": {"k": "v", "ü": "ö"}}, 204)
    after = lake("GET", STAT + "a.csv")
    assert after == {**before, "metadata": {"k": "v", "ü": "ö"}}
    assert [row["path"] for row in lake("GET", MAIN + "/diff")["results"]] == ["a.csv"]
    lake("PUT", url, {"set": {"other": ""}}, 204)
    assert lake("GET", STAT + "a.csv")["metadata"] == {"other": ""}
    lake("PUT", url, {"set": {}}, 204)
    assert lake("GET", MAIN + "/diff")["results"] == []  # as it was committed
    assert lake("PUT", url + "x", {"set": {}}, 404)["kind"] == "object_not_found"
    assert lake("PUT", url, {}, 400)["kind"] == "invalid_request"
    assert lake("PUT", url, {"set": {"k": 1}}, 400)["kind"] == "invalid_request"


def test_preflight_and_underlying_properties(lake: Placed) -> None:
    lake("GET", f"{REPO}/branches/any/objects/stage_allowed?path=a", expect=204)
    lake("GET", "/repositories/nope/branches/any/objects/stage_allowed?path=a", expect=404)
    lake.put("a.csv", b"abc")
    properties = REPO + "/refs/main/objects/underlyingProperties?path="
    assert lake("GET", properties + "a.csv") == {"storage_class": None}
    assert lake("GET", properties + "b.csv", expect=404)["kind"] == "object_not_found"
