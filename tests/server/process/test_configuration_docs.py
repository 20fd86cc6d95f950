"""docs/configuration.md has a row for each of our keys and each key of the first design; none is made up."""

import re
from pathlib import Path
from typing import Any

import pytest
from lakebed_server.process.wiring import version
from lakebed_server.settings.kinds import FIRST_RELEASE
from lakebed_server.settings.load import SECRET_FILES
from lakebed_server.settings.schema import KEYS, Key, store_keys

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text()
ROW = re.compile(r"^\| `([^`]+)` \| (.*) \|$", re.MULTILINE)

# The table at the end of the first design document (seeds/001_design_0.1.md), key by key.
SEED_KEYS = [
    "logging.format",
    "logging.level",
    "logging.output",
    "metadata.db.type",
    "metadata.badger.path",
    "blockstore.type",
    "blockstore.local.path",
    "blockstore.s3.region",
    "blockstore.s3.profile",
    "blockstore.s3.credentials_file",
    "blockstore.s3.credentials.access_key_id",
    "blockstore.s3.credentials.access_secret_key",
    "blockstore.s3.credentials.session_token",
    "gateways.s3.listen_address",
    "gateways.s3.domain_name",
    "gateways.s3.region",
    "api.listen_address",
]


def section(title: Any) -> Any:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(("title", "keys"), [("Keys", KEYS), ("Named stores", store_keys("NAME"))])
def test_every_key_of_ours_has_a_true_row(title: str, keys: dict[str, Key]) -> None:
    rows = {key: rest.split(" | ") for key, rest in ROW.findall(section(title))}
    assert list(rows) == list(keys)
    for name, key in keys.items():
        env, default, doc = rows[name]
        assert env == f"`{key.env}`", name
        assert default == (f"`{key.kind.written(key.default)}`" if key.default != "" else "empty"), name
        assert doc == key.doc, name


def test_every_key_has_the_version_that_added_it() -> None:
    named: dict[str, list[str]] = {}
    for key in KEYS.values():
        if key.since != FIRST_RELEASE:
            named.setdefault(key.since, []).append(key.name)
    rows = dict(re.findall(r"^\| (\d+\.\d+) \| (.*) \|$", section("Versions"), re.MULTILINE))
    assert rows.pop(FIRST_RELEASE) == "all others"
    assert {release: re.findall(r"`([^`]+)`", keys) for release, keys in rows.items()} == named

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".")[:2]]

    assert all(numbers(release) <= numbers(version()) for release in (FIRST_RELEASE, *named))


def test_every_secret_has_a_row_with_its_file() -> None:
    rows = [tuple(re.findall(r"`([^`]+)`", row)) for row in re.findall(r"^\| `.*$", section("Secrets"), re.MULTILINE)]
    assert rows == [(key.name, name, f"{key.env}_FILE") for name, key in SECRET_FILES.items()]


def test_every_key_of_the_first_design_has_a_counterpart() -> None:
    rows = dict(ROW.findall(section("The keys of the first design")))
    assert list(rows) == SEED_KEYS
    for seed, answer in rows.items():
        named = re.findall(r"`([a-z0-9_.]+)`", answer)
        assert named, seed
        for name in named:
            assert name in KEYS, f"{seed} names {name}"
