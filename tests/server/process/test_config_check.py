"""`lakebed config check`: it reports every problem of a file of settings, without a start and without a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from lakebed.cli.main import root
from lakebed_server.process.check_settings import check_file
from lakebed_server.settings.load import FILE_SUFFIX, SECRET_FILES, load, rows
from lakebed_server.settings.schema import KEYS
from lakebed_server.vocabulary import StartError

from tests.support.certificates import make_pair

SECRET = "a-secret-of-at-least-32-characters-"


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("LAKEBED_DATA_DIR", "LAKEBED_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "server.yaml"
    path.write_text(text)
    return str(path)


def found(tmp_path: Path, text: str, env: dict[str, str] | None = None) -> dict[str, list[str]]:
    _, problems = check_file(written(tmp_path, text), env or {})
    return {
        level: [problem.message for problem in problems if problem.level == level] for level in ("error", "warning")
    }


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["config", "check", *arguments])


def test_a_check_of_a_valid_file_creates_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, f"data_dir: {tmp_path}/data\nlisten.port: 0\n")
    before = sorted(tmp_path.rglob("*"))
    result = run(path)
    assert result.exit_code == 0, result.output
    assert result.output == f"{path}: good\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_one_run_reports_all_problems(tmp_path: Path) -> None:
    path = written(tmp_path, "listen: {hots: x, port: 70000}\nkv: {type: postgres}\nnope: 1\n")
    result = run(path, "--json")
    assert result.exit_code == 2
    report: Any = json.loads(result.output)
    assert report["ok"] is False
    messages = [problem["message"] for problem in report["problems"]]
    assert any("unknown key listen.hots" in one and "did you mean listen.host" in one for one in messages)
    assert any("unknown key nope" in one for one in messages)
    assert any(one.startswith("listen.port") and "0 to 65535" in one for one in messages)
    assert any("kv.postgres.dsn" in one for one in messages)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("listen.trusted_proxies: 1.2.3", "expected addresses or networks"),
        ("gateway.s3.listen: '9000'", "gateway.s3.listen: expected address:port"),
        ("gateway.s3.aliases: x", "gateway.s3.aliases"),
        ("listen.tls.certificate: /no/such.pem", "cannot read /no/such.pem"),
        ("hooks.actions: /no/such.yaml", "hooks.actions: cannot read /no/such.yaml"),
        ("auth.secret_key: short", "auth.secret_key is too short"),
        (f"auth.previous_secret_key: {SECRET}", "auth.secret_key is not"),
        ("admin: {access_key_id: A, secret_access_key: short}", "admin.secret_access_key is too short"),
        ("kv: {type: postgres, postgres: {dsn: 'mysql://x'}}", "expected postgresql://"),
        ("kv: {type: postgres, postgres: {dsn: 'postgresql://a:p/w@h:x/d'}}", "%-escapes"),
        ("objects.s3.endpoint: http://minio:9000", "objects.s3.allow_http"),
        ("objects: {cloud: false, local: {root: ''}}", "no repository could have a store"),
        ("ingest.allow: nonsense", "ingest.allow"),
        ("tables.memory: 1MiB", "at least 1GiB"),
        ("auth.oidc.issuer: https://id.example.com", "auth.oidc.client_id is not"),
        (
            "auth: {oidc: {issuer: 'https://a.example.com', client_id: x}, saml: {idp_metadata: /m.xml}}",
            "browsers sign in with one of them",
        ),
        ("listen.port: 9000\ngateway.s3.listen: 127.0.0.1:9000", "are the same port 9000"),
        ("auth.ldap.ca_file: /no/ca.pem", "auth.ldap.ca_file: cannot read"),
        ("objects.s3.credentials_file: /no/credentials", "objects.s3.credentials_file: cannot read"),
        ("data_dir: /dev/null/data", "/dev/null is a file"),
        ("logging.output: /dev/null/log", "logging.output: /dev/null is a file"),
    ],
)
def test_errors(tmp_path: Path, text: str, reported: str) -> None:
    errors = found(tmp_path, text)["error"]
    assert any(reported in message for message in errors), errors


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("durability: process", "durability is process"),
        ("listen.host: 0.0.0.0", "without TLS"),
        ("kv.postgres.dsn: postgresql://h/d", "has no effect"),
        ("kv.type: memory", "forgets"),
        ("auth: {mode: single, oidc: {issuer: 'https://a.example.com', client_id: x}}", "auth.mode is single"),
    ],
)
def test_warnings(tmp_path: Path, text: str, reported: str) -> None:
    problems = found(tmp_path, text)
    assert any(reported in message for message in problems["warning"]), problems
    assert not problems["error"]


def test_a_file_in_place_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    errors = found(tmp_path, f"data_dir: {tmp_path}/data\n")["error"]
    assert any("is a file, not a directory" in message for message in errors), errors


def test_a_certificate_and_the_key_of_another(tmp_path: Path) -> None:
    one, other = make_pair(tmp_path, "one"), make_pair(tmp_path, "other")

    def text(key: Path) -> str:
        return f"listen.tls: {{certificate: {one.certificate}, key: {key}}}\n"

    assert not found(tmp_path, text(one.key))["error"]
    assert any("is not the key of the certificate" in message for message in found(tmp_path, text(other.key))["error"])


def test_a_missing_file(tmp_path: Path) -> None:
    result = run(str(tmp_path / "absent.yaml"))
    assert result.exit_code == 2
    assert "does not exist" in str(result.exception) + result.output


def test_no_message_has_a_secret(tmp_path: Path) -> None:
    text = "auth.secret_key: [hunter2]\nkv: {type: postgres, postgres: {dsn: 'mysql://u:hunter2@h/d'}}\n"
    assert "hunter2" not in str(found(tmp_path, text))


@pytest.mark.parametrize("name", SECRET_FILES)
def test_each_secret_can_come_from_a_file(tmp_path: Path, name: str) -> None:
    key = SECRET_FILES[name]
    (tmp_path / "secret").write_text(SECRET + "\n")
    pair = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "A"} if key.name.startswith("admin.") else {}
    path = written(tmp_path, f"{name}: {tmp_path}/secret\n")
    by_file = load(env=pair, config=path)
    by_variable = load(env=pair | {f"{key.env}_FILE": str(tmp_path / "secret")}, files=False)
    for loaded in (by_file, by_variable):
        assert loaded.values[key.name] == SECRET
        assert name in loaded.sources[key.name]
        assert SECRET not in str(rows(loaded))


def test_the_environment_wins_over_a_secret_file_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    path = written(tmp_path, f"auth.secret_key_file: {tmp_path}/secret\n")
    assert load(env={"LAKEBED_AUTH_SECRET_KEY": SECRET * 2}, config=path).settings.auth.secret_key == SECRET * 2


@pytest.mark.parametrize("content", [None, b"", b"\n", b"hunter2\nlines\n", b"\xff\xfe", b"x" * (65 << 10)])
def test_a_bad_secret_file(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    with pytest.raises(StartError, match=r"auth\.secret_key_file") as caught:
        load(env={"LAKEBED_AUTH_SECRET_KEY_FILE": str(tmp_path / "secret")}, files=False)
    assert "hunter2" not in str(caught.value).replace(str(tmp_path), "")


def test_a_secret_and_its_file_in_one_source(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    path = written(tmp_path, f"auth: {{secret_key: x, secret_key_file: {tmp_path}/secret}}\n")
    with pytest.raises(StartError, match=r"auth\.secret_key and auth\.secret_key_file"):
        load(env={}, config=path)
    env = {"LAKEBED_AUTH_SECRET_KEY": SECRET, "LAKEBED_AUTH_SECRET_KEY_FILE": str(tmp_path / "secret")}
    with pytest.raises(StartError, match="both set"):
        load(env=env, files=False)


def test_a_secret_of_a_named_store_can_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    text = f"stores.eu: {{type: s3, access_key_id: A, secret_access_key_file: {tmp_path}/secret}}\n"
    loaded = load(env={}, config=written(tmp_path, text))
    assert loaded.settings.stores["eu"].secret_access_key == SECRET
    env = {"LAKEBED_STORES_EU_TYPE": "s3", "LAKEBED_STORES_EU_SECRET_ACCESS_KEY_FILE": str(tmp_path / "secret")}
    loaded = load(env=env, files=False)
    assert loaded.settings.stores["eu"].secret_access_key == SECRET
    assert not loaded.warnings


def test_mistakes_in_named_stores_are_reported_with_the_others(tmp_path: Path) -> None:
    errors = found(tmp_path, "stores: {eu: {type: ftp, regon: x}}\nlisten.port: 70000\n")["error"]
    assert any("did you mean stores.eu.region" in message for message in errors), errors
    assert any("expected one of s3, gs, az, local" in message for message in errors)
    assert any(message.startswith("listen.port") for message in errors)


def test_no_key_is_also_the_file_of_a_secret() -> None:
    assert not KEYS.keys() & SECRET_FILES.keys()
    assert {key.name + FILE_SUFFIX for key in KEYS.values() if key.secret} == SECRET_FILES.keys()
