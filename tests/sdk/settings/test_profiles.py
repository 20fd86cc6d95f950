"""Profiles of ~/.lakebed.yaml: which values are used, which key goes to which server, and writers at the same time."""

from __future__ import annotations

import pickle
import stat
import subprocess
import sys
from pathlib import Path

import fsspec
import lakebed
import lakebed.aio
import pytest
import yaml
from lakebed._settings import config, sign_in_file

pytestmark = pytest.mark.filterwarnings("ignore::lakebed.ClearTextWarning")

TEXT = """\
# mine
endpoint: http://flat
access_key_id: fk
secret_access_key: fs

profiles:
  prod:
    endpoint: https://prod.example
    access_key_id: pk
    secret_access_key: secret-of-prod
  signed:
    endpoint: https://signed.example
    token: a.b.c
  empty: {}
  loose:
    access_key_id: lk
    secret_access_key: ls
ca_file: ''  # behind the block
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    path = tmp_path / ".lakebed.yaml"
    path.write_text(TEXT)
    return path


def shown(lake: lakebed.Lake | lakebed.aio.Lake) -> tuple[str, str, str]:
    return lake.settings.endpoint, lake.settings.access_key_id, lake.settings.profile


@pytest.mark.usefixtures("file")
def test_file_without_profiles_is_read_as_before() -> None:
    assert shown(lakebed.connect()) == ("http://flat", "fk", "")


@pytest.mark.usefixtures("file")
def test_a_profile_by_argument_and_by_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(lakebed.connect(profile="prod")) == ("https://prod.example", "pk", "prod")
    assert shown(lakebed.aio.connect(profile="prod")) == ("https://prod.example", "pk", "prod")
    assert shown(lakebed.connect(profile="default")) == ("http://flat", "fk", "default")
    monkeypatch.setenv("LAKEBED_PROFILE", "prod")
    assert shown(lakebed.connect()) == ("https://prod.example", "pk", "prod")
    assert shown(lakebed.connect(profile="default")) == ("http://flat", "fk", "default")
    signed = lakebed.connect(profile="signed").settings
    assert (signed.endpoint, signed.token) == ("https://signed.example", "a.b.c")


def test_the_file_names_the_profile_in_use(file: Path) -> None:
    sign_in_file.use(file, "prod")
    assert shown(lakebed.connect()) == ("https://prod.example", "pk", "prod")
    sign_in_file.use(file, "default")
    assert shown(lakebed.connect()) == ("http://flat", "fk", "")
    assert file.read_text() == TEXT  # nothing is left of it, and the comments stay


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"profile": "prdo"}, "there is no profile 'prdo' in .*: did you mean 'prod'?"),
        ({"profile": "other"}, "`lakebed login ENDPOINT --profile other` creates it"),
        ({"profile": "a b"}, "a name has 1 to 64 ASCII letters"),
        ({"profile": ""}, "a name has 1 to 64 ASCII letters"),
        ({"profile": "empty"}, "no endpoint"),
        ({"profile": "loose", "endpoint": "http://x"}, "has credentials without an endpoint"),
        ({"profile": "prod", "endpoint": "http://other"}, "the access key from .* is for https://prod.example"),
        ({"profile": "signed", "endpoint": "http://other"}, "the token from .* is for https://signed.example"),
    ],
)
@pytest.mark.usefixtures("file")
def test_invalid_profiles_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(lakebed.ConfigurationError, match=said):
        lakebed.connect(**given)  # type: ignore[arg-type]


def test_key_is_sent_only_to_its_own_server(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever names the other server: an argument, a variable, with a profile that is named or in use."""
    sign_in_file.use(file, "prod")
    with pytest.raises(lakebed.ConfigurationError, match=r"is for https://prod\.example"):
        lakebed.connect("https://other.example")
    monkeypatch.setenv("LAKEBED_ENDPOINT", "https://other.example")
    with pytest.raises(lakebed.ConfigurationError, match=r"is for https://prod\.example"):
        lakebed.connect()
    monkeypatch.setenv("LAKEBED_PROFILE", "prod")
    with pytest.raises(lakebed.ConfigurationError, match="LAKEBED_PROFILE and LAKEBED_ENDPOINT are both set"):
        lakebed.connect()
    assert shown(lakebed.connect(profile="prod"))[0] == "https://prod.example"
    assert shown(lakebed.connect("http://any", "k", "s")) == ("http://any", "k", "")  # all arguments: no other place
    with pytest.raises(lakebed.ConfigurationError, match="no endpoint"):  # nor does a key of a variable go anywhere
        monkeypatch.setenv("LAKEBED_ACCESS_KEY_ID", "ek")
        monkeypatch.setenv("LAKEBED_SECRET_ACCESS_KEY", "es")
        lakebed.connect(profile="empty")


@pytest.mark.usefixtures("file")
def test_storage_options(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fsspec.filesystem("lakebed", profile="prod", skip_instance_cache=True)
    assert one.connection.settings.endpoint == "https://prod.example"
    two = fsspec.filesystem("lakebed", profile="signed", skip_instance_cache=True)
    assert two.connection.settings.token == "a.b.c"
    assert one != two
    again = pickle.loads(pickle.dumps(one))
    assert again.connection.settings == one.connection.settings
    with lakebed.connect(profile="signed").as_default():  # an option wins over the lake that is bound
        bound = fsspec.filesystem("lakebed", profile="prod", skip_instance_cache=True)
        assert bound.connection.settings.access_key_id == "pk"


@pytest.mark.usefixtures("file")
def test_a_handle_without_a_secret_finds_its_profile_in_another_process() -> None:
    """The other process finds the key of this server and this user in the profiles, and no other key."""
    found = config.recalled("https://prod.example", "pk", timeout=60.0, retries=5)
    assert (found.access_key_id, found.profile) == ("pk", "prod")
    token = config.resolve(None, None, None, profile="signed")
    found = config.recalled("https://signed.example", token.identity, timeout=60.0, retries=5)
    assert (found.token, found.profile) == ("a.b.c", "signed")
    assert config.recalled("http://flat", "fk", timeout=60.0, retries=5).profile == ""


def test_writing_keeps_other_profiles_comments_and_mode(file: Path) -> None:
    file.chmod(0o644)
    sign_in_file.store_key(file, "http://new", "nk", "ns", "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    tree = yaml.safe_load(file.read_text())
    assert tree["profiles"]["new"] == {"endpoint": "http://new", "access_key_id": "nk", "secret_access_key": "ns"}
    assert tree["profiles"]["prod"]["access_key_id"] == "pk"
    assert tree["endpoint"] == "http://flat"
    assert "# mine" in file.read_text()
    assert "# behind the block" in file.read_text()
    sign_in_file.remove_profile(file, "new")
    assert yaml.safe_load(file.read_text()) == yaml.safe_load(TEXT)
    with pytest.raises(lakebed.ConfigurationError, match=r"is for https://prod\.example, not http://new"):
        sign_in_file.store_key(file, "http://new", "nk", "ns", "prod")
    with pytest.raises(lakebed.ConfigurationError, match="has an access key"):
        sign_in_file.store(file, "https://prod.example", "t", "prod")


def test_a_renewed_token_goes_to_its_profile(file: Path) -> None:
    sign_in_file.renew(file, "a.b.c", "a.b.c", "signed")
    before = yaml.safe_load(file.read_text())
    sign_in_file.renew(file, "x.y.z", "new", "signed")  # of another session
    sign_in_file.renew(file, "a.b.c", "new", "prod")
    assert yaml.safe_load(file.read_text()) == before
    settings = config.resolve(None, None, None, profile="signed")
    assert (sign_in_file.of(settings), settings.profile) == (file, "signed")
    sign_in_file.remove(file, "signed")
    assert yaml.safe_load(file.read_text())["profiles"]["signed"] == {"endpoint": "https://signed.example"}


WRITER = """
import sys
from pathlib import Path
from lakebed._settings import sign_in_file
for number in range(10):
    sign_in_file.store_key(Path(sys.argv[1]), "http://host", "k", "s", f"p-{sys.argv[2]}-{number}")
"""


@pytest.mark.slow
def test_writers_at_the_same_time_lose_nothing(file: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), str(number)]) for number in range(4)]
    assert [one.wait() for one in writers] == [0] * 4
    found = yaml.safe_load(file.read_text())["profiles"]
    assert len([name for name in found if name.startswith("p-")]) == 40
    assert "prod" in found


def test_a_misspelled_key_still_warns(file: Path) -> None:
    file.write_text(TEXT.replace("profiles:", "profile: prod\nprofiles:") + "endpont: x\n")
    with pytest.warns(lakebed.ConfigurationWarning, match="endpont") as caught:
        lakebed.connect()
    assert len(caught) == 1
