"""Sign-in with a directory: passwords, injection, guesses, and a directory that does not answer. With slapd."""

from __future__ import annotations

import base64
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import lakebed
import lakebed_testing
import pytest
from lakebed_server.settings.auth import LdapSettings
from lakebed_server.signin import ldap
from lakebed_server.vocabulary import SettingError
from lakebed_testing import LakebedServer

from tests.cli.support import Command
from tests.support.certificates import make_pair
from tests.support.services.slapd import BASE, SERVICE, SERVICE_PASSWORD, Slapd, running_slapd

pytestmark = pytest.mark.slow

PASSWORD = "a password of ana: ü"


def person(dn: str, uid: str, password: str = PASSWORD) -> str:
    return f"""dn: {dn},{BASE}
objectClass: inetOrgPerson
uid: {uid}
cn: Ana Ruiz
sn: Ruiz
mail: ana@example.com
userPassword:: {base64.b64encode(password.encode()).decode()}
"""


ENTRIES = "\n".join(
    (
        person("uid=ana,ou=people", "ana"),
        person("cn=Star\\2A (x),ou=people", "st*r(x)"),
        person("cn=one,ou=people", "twice"),
        person("cn=two,ou=people", "twice"),
        person("uid=admin,ou=people", "admin"),
        f"""dn: cn=readers,ou=groups,{BASE}
objectClass: groupOfNames
cn: readers
member: uid=ana,ou=people,{BASE}
""",
        f"""dn: cn=stars,ou=groups,{BASE}
objectClass: groupOfNames
cn: stars
member: cn=Star\\2A (x),ou=people,{BASE}
""",
        f"""dn: ou=elsewhere,ou=people,{BASE}
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://127.0.0.1:1/ou=people,{BASE}
""",
    )
)


def settings_of(slapd: Slapd) -> dict[str, object]:
    return {
        "auth.mode": "rbac",
        "auth.ldap.server": slapd.url,
        "auth.ldap.bind_dn": SERVICE,
        "auth.ldap.bind_password": SERVICE_PASSWORD,
        "auth.ldap.user_base_dn": f"ou=people,{BASE}",
        "auth.ldap.group_base_dn": f"ou=groups,{BASE}",
        "auth.ldap.groups_map": "readers=Viewers,stars=Developers",
        "auth.ldap.groups_sync": "always",
        "auth.ldap.timeout": "2s",
        "auth.ldap.connect_timeout": "2s",
    }


@pytest.fixture(scope="module")
def slapd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    with running_slapd(tmp_path_factory.mktemp("slapd"), ENTRIES) as running:
        yield running


@pytest.fixture
def server(slapd: Slapd) -> Iterator[LakebedServer]:
    with lakebed_testing.server(settings_of(slapd)) as running:
        yield running


def log_in(server: LakebedServer, name: str, password: str) -> httpx.Response:
    body = {"access_key_id": name, "secret_access_key": password}
    return httpx.post(f"{server.endpoint}/api/v1/auth/login", json=body, timeout=30)


def test_a_person_signs_in_with_name_and_password(server: LakebedServer) -> None:
    answer = log_in(server, "ana", PASSWORD)
    assert answer.status_code == 200, answer.text
    assert "internal_auth_session=" in answer.headers["set-cookie"]
    with lakebed.connect(server.endpoint, token=answer.json()["token"]) as lake, server.connect() as admin:
        user = lake.user()
        assert (user.id, user.email, user.friendly_name) == ("ana", "ana@example.com", "Ana Ruiz")
        assert [group.id for group in admin.users.groups("ana")] == ["Viewers"]
        assert [session.source for session in lake.users.sessions("ana")] == ["ldap"]
        assert lake.session_token().token
    assert log_in(server, "ANA", PASSWORD).status_code == 200, "the directory compares names without case"
    config = httpx.get(f"{server.endpoint}/api/v1/setup_lakefs").json()["login_config"]
    assert config["username_ui_placeholder"] == "User name"


def test_access_keys_come_first(server: LakebedServer) -> None:
    assert log_in(server, server.access_key_id, server.secret_access_key).status_code == 200
    assert log_in(server, server.access_key_id, PASSWORD).status_code == 401


def test_a_special_name_is_escaped_in_both_searches(server: LakebedServer) -> None:
    assert log_in(server, "st*r(x)", PASSWORD).status_code == 200
    with server.connect() as admin:
        assert [group.id for group in admin.users.groups("st*r(x)")] == ["Developers"]


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ana", "wrong"),
        ("ana", ""),
        ("", PASSWORD),
        ("nobody", PASSWORD),
        ("*", PASSWORD),
        ("an*", PASSWORD),
        ("*)(uid=*", PASSWORD),
        ("ana)(objectClass=*", PASSWORD),
        ("ana\x00", PASSWORD),
        ("twice", PASSWORD),
        ("ana", PASSWORD + "\x00"),
        ("x" * 300, PASSWORD),
    ],
)
def test_a_wrong_name_or_password_is_refused(server: LakebedServer, name: str, password: str) -> None:
    answer = log_in(server, name, password)
    assert answer.status_code == 401, answer.text
    assert answer.json()["message"] == "the user name or the password is wrong"


def test_a_user_of_another_source_is_not_taken_over(server: LakebedServer) -> None:
    answer = log_in(server, "admin", PASSWORD)
    assert answer.status_code == 409
    assert "without this identity" in answer.json()["message"]


def test_a_disabled_user_is_refused(server: LakebedServer) -> None:
    assert log_in(server, "ana", PASSWORD).status_code == 200
    with server.connect() as admin:
        admin.users.update("ana", disabled=True)
    assert log_in(server, "ana", PASSWORD).status_code == 401


def test_guesses_are_slowed_down(server: LakebedServer) -> None:
    answers = [log_in(server, "ana", f"guess {number}").status_code for number in range(12)]
    assert answers[:10] == [401] * 10
    assert answers[-1] == 429
    assert log_in(server, "ana", PASSWORD).status_code == 429


def test_guesses_at_the_same_time_are_slowed_down_too(server: LakebedServer) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: log_in(server, "ana", f"guess {number}").status_code, range(40)))
    assert set(answers) <= {401, 429}
    assert answers.count(401) <= 10


def test_a_directory_that_does_not_answer_is_reported(server: LakebedServer, slapd: Slapd) -> None:
    slapd.process.send_signal(signal.SIGSTOP)
    try:
        answer = log_in(server, "ana", PASSWORD)
        assert (answer.status_code, answer.json()["kind"]) == (503, "store_unavailable")
        assert log_in(server, server.access_key_id, server.secret_access_key).status_code == 200
    finally:
        slapd.process.send_signal(signal.SIGCONT)
    assert log_in(server, "ana", PASSWORD).status_code == 200


def test_a_directory_that_is_down_is_reported(tmp_path: Path) -> None:
    with running_slapd(tmp_path, ENTRIES) as slapd:
        settings = settings_of(slapd)
    with lakebed_testing.server(settings) as server:
        answer = log_in(server, "ana", PASSWORD)
    assert (answer.status_code, answer.json()["kind"]) == (503, "store_unavailable")
    assert PASSWORD not in answer.text


def test_a_referral_is_not_followed(slapd: Slapd) -> None:
    settings = {**settings_of(slapd), "auth.ldap.user_base_dn": f"ou=elsewhere,ou=people,{BASE}"}
    with lakebed_testing.server(settings) as server:
        assert log_in(server, "ana", PASSWORD).status_code == 503


def test_a_wrong_service_password_is_an_error_of_the_server(slapd: Slapd) -> None:
    with lakebed_testing.server({**settings_of(slapd), "auth.ldap.bind_password": "wrong"}) as server:
        assert log_in(server, "ana", PASSWORD).status_code == 503


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (LdapSettings(server="ldap://ldap.example.com", user_base_dn=BASE), "without TLS"),
        (LdapSettings(server="https://ldap.example.com", user_base_dn=BASE), "must begin with ldaps://"),
        (LdapSettings(server="ldaps://ldap.example.com"), "needs auth.ldap.user_base_dn"),
    ],
)
def test_settings_that_are_not_safe_are_refused(settings: LdapSettings, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        ldap.check(settings)


def test_tls_begins_before_the_password_and_checks_the_certificate(tmp_path: Path) -> None:
    pair, other = make_pair(tmp_path, "slapd"), make_pair(tmp_path, "other")
    tls = f"TLSCertificateFile {pair.certificate}\nTLSCertificateKeyFile {pair.key}\nsecurity simple_bind=128"
    with running_slapd(tmp_path / "slapd", ENTRIES, tls=tls) as slapd:
        clear = settings_of(slapd)
        trusted = {**clear, "auth.ldap.start_tls": True, "auth.ldap.ca_file": str(pair.certificate)}
        for settings, expected in (
            (trusted, 200),
            ({**trusted, "auth.ldap.ca_file": str(other.certificate)}, 503),
            (clear, 503),
        ):
            with lakebed_testing.server(settings) as server:
                assert log_in(server, "ana", PASSWORD).status_code == expected


def test_the_command_signs_in_with_a_password(server: LakebedServer, tmp_path: Path) -> None:
    file = tmp_path / "lakebed.yaml"
    run = Command({"LAKEBED_CONFIG_FILE": str(file), "HOME": str(tmp_path)})
    file.write_text("")
    wrong = run("login", server.endpoint, "--user", "ana", stdin=b"wrong\n", code=None)
    assert "the user name or the password is wrong" in wrong.err
    assert file.read_text() == ""
    said = run("login", server.endpoint, "--user", "ana", stdin=PASSWORD.encode() + b"\n")
    assert said.text == f"You are signed in to {server.endpoint} as ana.\n"
    assert PASSWORD not in file.read_text()
    assert "ldap  127.0.0.1" in run("session", "list").text
