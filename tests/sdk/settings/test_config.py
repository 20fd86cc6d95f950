"""Where settings come from, what wins, and what a message says about it."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import lakebed
import lakebed_testing
import pytest
from lakebed._settings.config import normalise_endpoint
from lakebed._settings.sources import misspelled

OURS = {"LAKEBED_ENDPOINT": "http://ours", "LAKEBED_ACCESS_KEY_ID": "ok", "LAKEBED_SECRET_ACCESS_KEY": "os"}
THEIRS = {
    "LAKECTL_SERVER_ENDPOINT_URL": "http://theirs/api/v1",
    "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": "tk",
    "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "ts",
}
LAKEFS = {"LAKEFS_HOST": "https://fs/api/v1", "LAKEFS_USERNAME": "fk", "LAKEFS_PASSWORD": "fs"}


pytestmark = pytest.mark.filterwarnings("ignore::lakebed.ClearTextWarning")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def shown(lake: lakebed.Lake) -> tuple[str, str, str]:
    settings = lake.settings
    return settings.endpoint, settings.access_key_id, settings.secret_access_key


def test_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    lake = lakebed.connect("http://given", "k", "s")
    assert shown(lake) == ("http://given", "k", "s")
    assert set(lake.settings.sources.values()) == {"argument"}
    assert shown(lakebed.connect("http://given")) == ("http://given", "ok", "os")


def test_sources_in_their_order(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".lakectl.yaml").write_text(
        "server:\n  endpoint_url: http://theirs-file\ncredentials:\n  access_key_id: tfk\n  secret_access_key: tfs\n"
    )
    assert shown(lakebed.connect()) == ("http://theirs-file", "tfk", "tfs")
    for name, value in LAKEFS.items():
        monkeypatch.setenv(name, value)
    lake = lakebed.connect()
    assert shown(lake) == ("https://fs", "fk", "fs")
    assert [lake.settings.sources[name] for name in ("endpoint", "access_key_id", "secret_access_key")] == [
        f"environment {name}" for name in LAKEFS
    ]
    for name, value in THEIRS.items():
        monkeypatch.setenv(name, value)
    assert shown(lakebed.connect()) == ("http://theirs", "tk", "ts")
    (home / ".lakebed.yaml").write_text("endpoint: ours-file:8000\naccess_key_id: ofk\nsecret_access_key: ofs\n")
    lake = lakebed.connect()
    assert shown(lake) == ("https://ours-file:8000", "ofk", "ofs")
    assert lake.settings.sources["endpoint"] == f"file {home / '.lakebed.yaml'}"
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    lake = lakebed.connect()
    assert shown(lake) == ("http://ours", "ok", "os")
    assert lake.settings.sources["endpoint"] == "environment LAKEBED_ENDPOINT"
    assert lake.settings.sources["access_key_id"] == "environment LAKEBED_ACCESS_KEY_ID"
    other = home / "other.yaml"
    other.write_text("secret_access_key: x2\naccess_key_id: k2\n")
    for name in list(OURS)[1:]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LAKEBED_CONFIG_FILE", str(other))
    assert shown(lakebed.connect()) == ("http://ours", "k2", "x2")


def test_key_is_not_sent_to_a_server_of_another_alias_family(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in THEIRS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LAKEBED_ENDPOINT", "http://ours")
    with pytest.raises(lakebed.ConfigurationError, match=r"no credentials .* environment LAKEBED_ENDPOINT"):
        lakebed.connect()


def test_a_key_of_one_alias_is_not_sent_to_a_server_of_the_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".lakectl.yaml").write_text("credentials:\n  access_key_id: tfk\n  secret_access_key: tfs\n")
    monkeypatch.setenv("LAKEFS_HOST", "http://fs")
    with pytest.raises(lakebed.ConfigurationError, match=r"no credentials .* environment LAKEFS_HOST"):
        lakebed.connect()
    monkeypatch.setenv("LAKEFS_PASSWORD", "fs")
    with pytest.raises(lakebed.ConfigurationError, match=r"environment LAKEFS_PASSWORD has half .* access_key_id is"):
        lakebed.connect()


@pytest.mark.medium
def test_authentication_error_names_the_source_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with lakebed_testing.server() as server:
        for name, value in {**server.environment, "LAKEBED_SECRET_ACCESS_KEY": "wrong"}.items():
            monkeypatch.setenv(name, value)
        with lakebed.connect() as lake, pytest.raises(lakebed.AuthenticationError) as refused:
            lake.user()
        reported = f"access key {server.access_key_id!r} from environment LAKEBED_ACCESS_KEY_ID"
        assert reported in str(refused.value)
        assert reported in str(pickle.loads(pickle.dumps(refused.value)))
        assert "HTTP" not in str(refused.value)
        assert refused.value.status == 401
    with lakebed.connect(retries=0) as lake, pytest.raises(lakebed.ServerUnavailableError) as gone:
        lake.user()
    assert f"cannot connect to {server.endpoint} (from environment LAKEBED_ENDPOINT)" in str(gone.value)
    monkeypatch.setenv("LAKEBED_ENDPOINT", "ftp://x")
    with pytest.raises(lakebed.ConfigurationError, match=r"'ftp://x' \(from environment LAKEBED_ENDPOINT\)"):
        lakebed.connect()


def test_misspelled_setting_names_raise_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".lakebed.yaml").write_text("endpoint: http://h\nacces_key: k\n")
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    wrong = {"ENDPONT": "ENDPOINT", "URL": "ENDPOINT", "ACCESS_KEY": "ACCESS_KEY_ID", "SECRET_KEY": "SECRET_ACCESS_KEY"}
    for name in (*wrong, "LISTEN_PORT", "CONFIG", "DATA_DIR", "KILLS", "REPO"):
        monkeypatch.setenv(f"LAKEBED_{name}", "x")
    with pytest.warns(lakebed.ConfigurationWarning) as caught:
        lakebed.connect()
    reported = [
        f"the variable LAKEBED_{name} is not read by Lakebed; did you mean LAKEBED_{wrong[name]}?" for name in wrong
    ]
    reported.append(
        f"the key 'acces_key' in {home / '.lakebed.yaml'} is not read by Lakebed; did you mean 'access_key_id'?"
    )
    assert sorted(str(one.message) for one in caught) == sorted(reported)
    assert {one.filename for one in caught} == {__file__}
    assert misspelled(OURS) == [reported[-1]]


def test_no_warning_without_a_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (OURS | THEIRS | LAKEFS).items():
        monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shown(lakebed.connect()) == ("http://ours", "ok", "os")


def test_missing_and_half_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(lakebed.ConfigurationError, match="LAKEBED_ENDPOINT"):
        lakebed.connect()
    with pytest.raises(lakebed.ConfigurationError, match="LAKEBED_ACCESS_KEY_ID"):
        lakebed.connect("http://x")
    with pytest.raises(lakebed.ConfigurationError, match="secret_access_key= is missing"):
        lakebed.connect("http://x", "key")
    monkeypatch.setenv("LAKEBED_ENDPOINT", " ")
    monkeypatch.setenv("LAKEBED_ACCESS_KEY_ID", "key")
    with pytest.raises(lakebed.ConfigurationError, match="half of the credentials: secret_access_key"):
        lakebed.connect("http://x")
    with pytest.raises(lakebed.ConfigurationError):
        lakebed.connect("http://x", "k", "s", timeout=0)


@pytest.mark.parametrize("text", ["a: [", "- 1", "endpoint: 7", "\x00"])
def test_unusable_file_error_names_the_file(home: Path, text: str) -> None:
    (home / ".lakebed.yaml").write_text(text)
    with pytest.raises(lakebed.ConfigurationError, match=r"\.lakebed\.yaml"):
        lakebed.connect()


def test_a_named_file_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_CONFIG_FILE", "/nowhere.yaml")
    with pytest.raises(lakebed.ConfigurationError, match=r"/nowhere\.yaml.*LAKEBED_CONFIG_FILE"):
        lakebed.connect("http://x", "k", "s")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("lake.localhost", "http://lake.localhost"),
        ("127.0.0.9:8000/api/v1", "http://127.0.0.9:8000"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("lake.example.com", "https://lake.example.com"),
        ("10.0.0.7:8000", "https://10.0.0.7:8000"),
        ("[2001:db8::1]:8000", "https://[2001:db8::1]:8000"),
        ("127.0.0.1.example.com:8000", "https://127.0.0.1.example.com:8000"),
        ("http://lake.example.com", "http://lake.example.com"),
        ("HTTP://Host", "http://host"),
        ("https://h/", "https://h"),
        ("https://h/api/v1", "https://h"),
        ("https://h/api/v1/", "https://h"),
        ("http://h:80/lake/api/v1", "http://h:80/lake"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_endpoints(text: str, address: str) -> None:
    assert normalise_endpoint(text) == address
    assert normalise_endpoint(address) == address


@pytest.mark.parametrize("text", ["", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h:x", "http://h#f"])
def test_invalid_endpoints_are_refused(text: str) -> None:
    with pytest.raises(lakebed.ConfigurationError, match="file f"):
        normalise_endpoint(text, "file f")


def test_secrets_are_not_shown() -> None:
    lake = lakebed.connect("http://h", "key", "topsecret")
    for text in (repr(lake), repr(lake.settings), str(lake.settings.masked())):
        assert "topsecret" not in text
    assert pickle.loads(pickle.dumps(lake.settings)) == lake.settings


FROM_FILE = "endpoint: http://lake.example\ntoken: the-secret-token\n"


def test_a_token_is_found_and_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".lakebed.yaml").write_text(FROM_FILE)
    settings = lakebed.connect().settings
    assert (settings.token, settings.access_key_id) == ("the-secret-token", "")
    assert settings.sources["token"] == f"file {home / '.lakebed.yaml'}"
    monkeypatch.setenv("LAKEBED_TOKEN", "another-secret-token")
    settings = lakebed.connect().settings
    assert settings.token == "another-secret-token"
    shown = repr(settings) + str(settings.masked()) + settings.shown_credentials + repr(lakebed.connect())
    assert "secret-token" not in shown
    assert settings.shown_credentials == "token from environment LAKEBED_TOKEN"
    given = lakebed.connect("http://lake.example", token="third")
    assert (given.settings.token, given.settings.sources["token"]) == ("third", "argument")


def test_a_token_and_a_key_in_one_place_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(lakebed.ConfigurationError, match="token= and an access key are both given"):
        lakebed.connect("http://h", "k", "s", token="t")
    with pytest.raises(lakebed.ConfigurationError, match="token= must not be empty"):
        lakebed.connect("http://h", token="")
    for name, value in {**OURS, "LAKEBED_TOKEN": "t"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(lakebed.ConfigurationError, match="LAKEBED_TOKEN has a token and an access key"):
        lakebed.connect()
    monkeypatch.delenv("LAKEBED_TOKEN")
    (home / ".lakebed.yaml").write_text(FROM_FILE)
    assert shown(lakebed.connect()) == ("http://ours", "ok", "os")


def test_the_token_of_a_file_goes_to_the_server_of_the_file_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".lakebed.yaml").write_text(FROM_FILE)
    assert lakebed.connect("http://lake.example/api/v1").settings.token
    with pytest.raises(
        lakebed.ConfigurationError, match=r"is for http://lake.example: run `lakebed login http://evil`"
    ):
        lakebed.connect("http://evil")
    monkeypatch.setenv("LAKEBED_ENDPOINT", "http://evil")
    with pytest.raises(lakebed.ConfigurationError, match=r"is for http://lake.example"):
        lakebed.connect()
