"""The file of a sign-in: what is changed, what is kept, and its permissions."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import jwt
import lakebed
import pytest
import yaml
from lakebed._settings import sign_in_file

KEY = "a key of the test, long enough for HS256"


def token(session: str, issued: int = 0) -> str:
    return jwt.encode({"jti": session, "iat": issued}, KEY, "HS256")


def test_other_lines_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "lakebed.yaml"
    path.write_text("# mine\nca_file: /certificates.pem  # of the company\nendpoint: http://old\n")
    sign_in_file.store(path, "https://lake.example", "t: #1")
    assert path.read_text().startswith("# mine\nca_file: /certificates.pem  # of the company\n")
    assert yaml.safe_load(path.read_text()) == {
        "ca_file": "/certificates.pem",
        "endpoint": "https://lake.example",
        "token": "t: #1",
    }
    sign_in_file.remove(path)
    assert yaml.safe_load(path.read_text()) == {"ca_file": "/certificates.pem", "endpoint": "https://lake.example"}


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lakebed.yaml"
    sign_in_file.store(path, "https://lake.example", "t")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    sign_in_file.store(path, "https://lake.example", "u")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["lakebed.yaml"]


def test_a_link_to_the_file_stays(tmp_path: Path) -> None:
    path, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    path.write_text("ca_file: x\n")
    link.symlink_to(path)
    sign_in_file.store(link, "https://lake.example", "t")
    assert link.is_symlink()
    assert yaml.safe_load(path.read_text())["token"] == "t"


def test_file_in_another_yaml_style_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "lakebed.yaml"
    path.write_text('{"endpoint": "http://old",\n "token": "old", "ca_file": "x"}\n')
    sign_in_file.store(path, "https://lake.example", "new")
    assert yaml.safe_load(path.read_text()) == {"endpoint": "https://lake.example", "token": "new", "ca_file": "x"}


def test_an_access_key_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "lakebed.yaml"
    path.write_text("access_key_id: k\nsecret_access_key: s\n")
    with pytest.raises(lakebed.ConfigurationError, match="has an access key"):
        sign_in_file.store(path, "https://lake.example", "t")
    assert path.read_text() == "access_key_id: k\nsecret_access_key: s\n"


def test_a_renewal_does_not_replace_another_sign_in(tmp_path: Path) -> None:
    path = tmp_path / "lakebed.yaml"
    sign_in_file.store(path, "https://lake.example", token("one"))
    sign_in_file.renew(path, token("one"), token("one", 5))
    assert yaml.safe_load(path.read_text())["token"] == token("one", 5)
    sign_in_file.renew(path, token("two"), token("two", 5))
    assert yaml.safe_load(path.read_text())["token"] == token("one", 5)
    sign_in_file.remove(path)
    sign_in_file.renew(path, token("one"), token("one", 9))
    assert "token" not in yaml.safe_load(path.read_text())


def test_a_pipe_or_a_device_is_not_replaced(tmp_path: Path) -> None:
    """LAKEBED_CONFIG=/dev/null says that there is no file. A login as root must not replace it."""
    path = tmp_path / "lakebed.yaml"
    os.mkfifo(path)
    with pytest.raises(lakebed.InvalidRequestError, match="a device or a pipe"):
        sign_in_file.store(path, "https://lake.example", "t")
    assert path.is_fifo()
