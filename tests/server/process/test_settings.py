from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed._settings import sources
from lakebed_server.cli import commands, settings_report
from lakebed_server.settings.kinds import DURATION, FLAG, SIZE, TEXT
from lakebed_server.settings.load import CLIENT_ENV, PREFIX, load, rows
from lakebed_server.settings.schema import KEYS
from lakebed_server.vocabulary import StartError


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def file(tmp_path: Path, text: str, name: Any = "lakebed.yaml") -> Any:
    path = tmp_path / name
    path.write_text(text)
    return path


def refused(**more: Any) -> Any:
    with pytest.raises(StartError) as caught:
        load(**{"env": {}, **more})
    return str(caught.value)


def test_defaults(tmp_path: Path) -> None:
    loaded = load(env={})
    settings = loaded.settings
    assert (settings.listen.host, settings.listen.port) == ("127.0.0.1", 8000)
    assert settings.data_dir == str(tmp_path / "home" / ".lakebed" / "data")
    assert settings.kv.sqlite.path == settings.data_dir + "/lakebed.db"
    assert settings.objects.local.root == settings.data_dir + "/objects"
    assert settings.limits.json_body == 10 << 20
    assert settings.auth.login_duration == 12 * 3600
    assert set(loaded.sources.values()) == {"default"}


def test_flags_win_over_environment_over_file(tmp_path: Path) -> None:
    path = file(tmp_path, "listen: {host: a, port: 1}\nlogging.level: warn\ncache:\n  memory: 64MiB\n")
    env = {"LAKEBED_LISTEN_HOST": "b", "LAKEBED_LISTEN_PORT": "2"}
    loaded = load(flags={"listen.port": 3, "listen.host": None}, env=env)
    assert (loaded.settings.listen.port, loaded.sources["listen.port"]) == (3, "flag")
    assert (loaded.settings.listen.host, loaded.sources["listen.host"]) == ("b", "environment LAKEBED_LISTEN_HOST")
    assert (loaded.settings.logging.level, loaded.sources["logging.level"]) == ("WARN", f"file {path.name}")
    assert loaded.settings.cache.memory == 64 << 20


def test_config_file_precedence(tmp_path: Path) -> None:
    given = file(tmp_path, "listen: {port: 1}", "given.yaml")
    named = file(tmp_path, "listen: {port: 2}", "named.yaml")
    (tmp_path / "home").mkdir()
    file(tmp_path / "home", "listen: {port: 4}", ".lakebed-server.yaml")
    env = {"LAKEBED_CONFIG": str(named)}
    assert load(env={}).settings.listen.port == 4
    file(tmp_path, "listen: {port: 3}")
    assert load(env={}).settings.listen.port == 3
    assert load(env=env).settings.listen.port == 2
    assert load(env=env, config=str(given)).settings.listen.port == 1
    assert "does not exist" in refused(config="nope.yaml")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("listen: {prot: 1}", "unknown key listen.prot in lakebed.yaml; did you mean listen.port"),
        ("nonsense: 1", "unknown key nonsense in lakebed.yaml; `lakebed config show` lists all keys"),
        ("listen: 8000", "listen in lakebed.yaml is a section"),
        (
            "listen: {port: many}",
            "listen.port (file lakebed.yaml): expected a whole number from 0 to 65535, got 'many'",
        ),
        ("listen: {port: 70000}", "got 70000"),
        ("listen: {port: true}", "got True"),
        ("listen: {host: [a]}", "listen.host (file lakebed.yaml): expected text"),
        ("objects: {memory: perhaps}", "expected true or false"),
        ("kv: {type: oracle}", "expected one of sqlite, postgres, memory, got 'oracle'"),
        ("durability: none", "durability (file lakebed.yaml): expected one of disk, process, got 'none'"),
        ("durability: {kv: process}", "durability (file lakebed.yaml): expected one of disk, process"),
        ("cache: {memory: much}", "expected a size in bytes"),
        ("auth: {login_duration: long}", "expected a duration"),
        ("auth: {secret_key: [hunter2]}", "got a value"),
        ("[1, 2]", "must hold keys and values"),
        ("a: [", "is not YAML"),
    ],
)
def test_mistakes_in_a_file_name_key_and_source(tmp_path: Path, text: str, reported: Any) -> None:
    file(tmp_path, text)
    message = refused()
    assert reported in message
    assert "hunter2" not in message


def test_mistakes_in_environment_and_flags() -> None:
    assert refused(env={"LAKEBED_LISTEN_PORT": "x"}).startswith("listen.port (environment LAKEBED_LISTEN_PORT): ")
    assert refused(env={"LAKEBED_DURABILITY": "off"}).endswith("expected one of disk, process, got 'off'")
    assert refused(flags={"logging.format": "xml"}).startswith("logging.format (flag): expected one of text, json")


def test_empty_environment_variables_are_not_set() -> None:
    assert load(env={"LAKEBED_LISTEN_PORT": ""}).settings.listen.port == 8000


def test_half_a_pair_is_refused() -> None:
    env = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIA"}
    assert "admin.secret_access_key is not" in refused(env=env)
    env = {"LAKEBED_ADMIN_SECRET_ACCESS_KEY": "hunter2"}
    message = refused(env=env)
    assert "admin.access_key_id is not" in message
    assert "hunter2" not in message


def test_environment_names_are_distinct() -> None:
    assert len({key.env for key in KEYS.values()}) == len(KEYS)
    assert not {key.env for key in KEYS.values()} & {
        "LAKEBED_ENDPOINT",
        "LAKEBED_ACCESS_KEY_ID",
        "LAKEBED_SECRET_ACCESS_KEY",
        "LAKEBED_CONFIG",
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("1024", 1024), ("64MiB", 64 << 20), ("1GB", 10**9), ("1.5 KiB", 1536), ("2g", 2 * 10**9)],
)
def test_sizes(text: str, size: int) -> None:
    assert SIZE.read(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("7d", 604800), ("0.5s", 0.5), (12, 12)],
)
def test_durations(text: str, seconds: float) -> None:
    assert DURATION.read(text) == seconds


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (DURATION, 900.0, "15m"),
        (DURATION, 604800.0, "7d"),
        (DURATION, 5430.0, "1h30m30s"),
        (DURATION, 0.5, "0.5s"),
        (DURATION, 1e-7, "0.0000001s"),
        (DURATION, 0.0, "0"),
        (SIZE, 256 << 20, "256MiB"),
        (SIZE, 10**9, "1GB"),
        (SIZE, 1500, "1500"),
        (SIZE, 0, "0"),
        (FLAG, True, "true"),
        (TEXT, "a b", "a b"),
    ],
)
def test_values_are_shown_as_they_are_written(kind: Any, value: Any, text: str) -> None:
    assert kind.written(value) == text
    assert kind.read(text) == value


@given(st.one_of(st.floats(0, 1e12), st.integers(0, 10**12)))
def test_durations_and_sizes_are_read_as_written(value: float) -> None:
    assert DURATION.read(DURATION.written(value)) == value
    assert SIZE.read(SIZE.written(int(value))) == int(value)


def test_config_show_prints_what_a_person_would_write() -> None:
    shown = {row.key: row.shown for row in rows(load(env={"LAKEBED_OBJECTS_PRESIGN_EXPIRY": "15m"}))}
    assert shown["objects.presign_expiry"] == "15m"
    assert shown["auth.login_duration"] == "12h"
    assert shown["cache.memory"] == "256MiB"
    assert shown["objects.presign"] == "true"


@pytest.mark.parametrize("kind", [SIZE, DURATION])
@pytest.mark.parametrize("raw", ["", "x", "-1", "1 apple", None, True, [], -1])
def test_no_size_and_no_duration(kind: Any, raw: Any) -> None:
    with pytest.raises(ValueError):
        kind.read(raw)


SECRETS = {
    "LAKEBED_AUTH_SECRET_KEY": "hunter2hunter2hunter2",
    "LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIAJSHOWN",
    "LAKEBED_ADMIN_SECRET_ACCESS_KEY": "hunter3",
}


def test_secrets_are_masked_wherever_settings_are_shown() -> None:
    loaded = load(env=SECRETS)
    for text in (repr(loaded), repr(loaded.settings), str(rows(loaded))):
        assert "hunter" not in text
    shown = {row.key: row for row in rows(loaded)}
    assert set(shown) == set(KEYS)
    assert shown["auth.secret_key"].value == "********"
    assert shown["admin.access_key_id"].value == "AKIAJSHOWN"


def test_secrets_are_not_in_the_repr_of_a_section() -> None:
    settings = load(env=SECRETS).settings
    assert "hunter" not in repr(settings.auth) + repr(settings.admin)


def test_config_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    rows = settings_report(None)
    assert [row["key"] for row in rows] == list(KEYS)
    assert {"environment LAKEBED_ADMIN_ACCESS_KEY_ID", "default"} <= {row["source"] for row in rows}
    assert "hunter" not in str(rows)
    Path("lakebed.yaml").write_text("nope: 1")
    with pytest.raises(click.ClickException, match=r"^unknown key nope"):
        settings_report(None)


def test_misspelled_variables_are_reported() -> None:
    wrong = {"LAKEBED_LISTEN_PROT": "1", "LAKEBED_KV_TYP": "x", "LAKEBED_CONFG": "y"}
    others = {
        "LAKEBED_ENDPOINT": "x",
        "LAKEBED_ENDPONT": "x",
        "LAKEBED_KILLS": "3",
        "LISTEN_PROT": "1",
        "LAKEBED_": "1",
    }
    assert load(env={**wrong, **others, "LAKEBED_LISTEN_PORT": "2"}, files=False).warnings == [
        "the variable LAKEBED_CONFG is not a setting of the server; did you mean LAKEBED_CONFIG?",
        "the variable LAKEBED_KV_TYP is not a setting of the server; did you mean LAKEBED_KV_TYPE?",
        "the variable LAKEBED_LISTEN_PROT is not a setting of the server; did you mean LAKEBED_LISTEN_PORT?",
    ]


def test_client_and_server_know_each_others_variables() -> None:
    assert {f"{PREFIX}{name}" for name in sources._OURS} == CLIENT_ENV
    for key in KEYS.values():
        name = key.env.removeprefix(PREFIX)
        alone = name in sources._SERVER_ALONE
        assert alone or name.startswith(tuple(f"{section}_" for section in sources._SERVER)), name


def test_the_verbs() -> None:
    assert [command.name for command in commands] == ["serve", "fsck", "rebuild", "sweep", "keys", "upgrade", "systemd"]


def test_named_stores_from_file_and_environment(tmp_path: Path) -> None:
    file(
        tmp_path,
        "stores:\n  eu: {type: s3, endpoint: https://s3.eu, region: eu}\n  nas-2: {type: local, root: /mnt/nas}\n"
        "stores.us: {type: gs}\n",
    )
    secret = "hunter2hunter2"
    env = {
        "LAKEBED_STORES_EU_SECRET_ACCESS_KEY": secret,
        "LAKEBED_STORES_EU_REGION": "eu-2",
        "LAKEBED_STORES_NAS_2_DESCRIPTION": "the old one",
        "LAKEBED_STORES_FROM_ENV_TYPE": "az",
    }
    loaded = load(env=env)
    stores = loaded.settings.stores
    assert {name: one.type for name, one in stores.items()} == {
        "eu": "s3",
        "nas-2": "local",
        "us": "gs",
        "from-env": "az",
    }
    assert (stores["eu"].endpoint, stores["eu"].region, stores["eu"].secret_access_key) == (
        "https://s3.eu",
        "eu-2",
        secret,
    )
    assert stores["nas-2"].description == "the old one"
    assert loaded.sources["stores.eu.region"] == "environment LAKEBED_STORES_EU_REGION"
    shown = {row.key: row for row in rows(loaded)}
    assert shown["stores.eu.secret_access_key"].shown == "********"
    assert shown["stores.eu.type"].source == "file lakebed.yaml"
    assert secret not in repr(loaded.settings) + repr(stores["eu"])
    assert loaded.warnings == []


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("stores: {EU: {type: s3}}", "stores.EU (file lakebed.yaml): the name of a store has 1 to 32"),
        ("stores: {eu: {region: x}}", "stores.eu.type is not set: give one of s3, gs, az, local"),
        (
            "stores: {eu: {type: ftp}}",
            "stores.eu.type (file lakebed.yaml): expected one of s3, gs, az, local, got 'ftp'",
        ),
        (
            "stores: {eu: {type: s3, regon: x}}",
            "unknown key stores.eu.regon in lakebed.yaml; did you mean stores.eu.region",
        ),
        ("stores: {eu: {type: gs, region: x}}", "stores.eu.region does not apply to a store of type gs"),
        ("stores: {eu: {type: s3, root: /x}}", "stores.eu.root does not apply to a store of type s3"),
        ("stores: {eu: {type: local}}", "stores.eu.root is not set"),
        ("stores: {eu: {type: s3, prefixes: 'gs://x'}}", "stores.eu.prefixes: 'gs://x' does not begin with s3://"),
        ("stores: {eu: s3}", "stores.eu in lakebed.yaml is a section"),
        ("stores: s3", "stores in lakebed.yaml is a section"),
        (
            "stores: {a: {type: local, root: /x/y}, b: {type: local, root: /x}}",
            "stores.b.root is /x, which overlaps stores.a.root",
        ),
        (
            "data_dir: /d\nstores: {a: {type: local, root: /d/objects/a}}",
            "stores.a.root is /d/objects/a, which overlaps objects.local.root",
        ),
    ],
)
def test_mistakes_in_named_stores(tmp_path: Path, text: str, reported: Any) -> None:
    file(tmp_path, text)
    assert reported in refused()


def test_a_variable_of_an_unknown_store_is_reported() -> None:
    (warning,) = load(env={"LAKEBED_STORES_XX_ENDPOINT": "https://x"}).warnings
    assert "LAKEBED_STORES_XX_ENDPOINT names no store: set stores.NAME.type" in warning
    (warning,) = load(env={"LAKEBED_STORES_A_TYPE": "s3", "LAKEBED_STORES_A_REGON": "x"}).warnings
    assert warning.endswith("did you mean LAKEBED_STORES_A_REGION?")


def test_none_switches_the_local_store_off() -> None:
    assert load(env={"LAKEBED_OBJECTS_LOCAL_ROOT": "none"}, files=False).settings.objects.local.root == ""
    assert load(env={}, files=False, flags={"objects.local.root": "none"}).settings.objects.local.root == ""
    assert load(env={"LAKEBED_OBJECTS_LOCAL_ROOT": ""}, files=False).settings.objects.local.root.endswith("/objects")
    assert load(env={"LAKEBED_OBJECTS_LOCAL_ROOT": "./none"}, files=False).settings.objects.local.root.endswith("/none")


@pytest.mark.parametrize("section", ["objects.s3", "stores.eu"])
@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("kms_key: x", "kms_key is set but {}.encryption is not sse-kms"),
        ("encryption: aes", "encryption (file lakebed.yaml): expected one of bucket, sse-s3, sse-kms, got 'aes'"),
        ("storage_class: deep_archive", "storage_class is deep_archive: its objects must be restored before a read"),
        ("external_id: x", "external_id is set but {}.role_arn is not"),
        ("sts_endpoint: x", "sts_endpoint is set but {}.role_arn is not"),
        (
            "role_arn: a, web_identity_token_file: b, external_id: c",
            "external_id does not apply to a role by web identity",
        ),
    ],
)
def test_settings_of_s3_that_belong_together(tmp_path: Path, section: str, given: str, reported: str) -> None:
    more = ", type: s3" if section.startswith("stores") else ""
    file(tmp_path, f"{section}: {{{given}{more}}}")
    assert f"{section}.{reported.format(section)}" in refused()


def test_secrets_of_named_stores_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hunter2hunter2\n")
    (tmp_path / "key").chmod(0o600)
    env = {"LAKEBED_STORES_EU_TYPE": "s3", "LAKEBED_STORES_EU_SECRET_ACCESS_KEY_FILE": str(tmp_path / "key")}
    assert load(env=env).settings.stores["eu"].secret_access_key == "hunter2hunter2"
    file(tmp_path, f"stores: {{az: {{type: az, account_key_file: {tmp_path / 'key'}}}}}")
    assert load(env={}).settings.stores["az"].account_key == "hunter2hunter2"
