"""`lakebed serve` as a process: start, first admin, graceful stop, and clear words when it cannot start."""

from __future__ import annotations

import base64
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.serving import PAIR, Process, request
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def start(tmp_path: Path) -> Iterator[type[Process]]:
    made: list[Process] = []

    class Started(Process):
        def __init__(self, *flags: str, **env: str) -> None:
            super().__init__("--data-dir", str(tmp_path / "data"), *flags, HOME=str(tmp_path), **env)
            made.append(self)

    yield Started
    for one in made:
        one.end()


def test_first_start_makes_an_admin_and_writes_it_to_a_file(start: type[Process], tmp_path: Path) -> None:
    server = start("--port", "0")
    port = server.ready()
    text = "".join(server.said)
    file = tmp_path / "data" / "admin.env"
    assert f"lakebed login --from-file {file}" in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = file.read_text().splitlines()
    values = dict(line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))
    assert values["LAKEBED_ENDPOINT"] == f"http://127.0.0.1:{port}"
    pair = values["LAKEBED_ACCESS_KEY_ID"], values["LAKEBED_SECRET_ACCESS_KEY"]
    assert str(tmp_path / "data") in text
    assert request(port, "GET", "/user", pair=pair)[0] == 200
    assert request(port, "GET", "/user")[0] == 401
    assert server.stop() == 0
    assert pair[1] not in "".join(server.said)  # neither on standard output nor in the log
    written = b"".join(p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file() and p != file)
    assert pair[1].encode() not in written

    second = start("--port", "0")
    second.ready()
    assert f"lakebed login --from-file {file}" in "".join(second.said)
    third = start("--port", "0")
    third.ready()
    assert "another server runs on the data directory" in "".join(third.said)
    assert [one.stop() for one in (second, third)] == [0, 0]
    file.unlink()
    bare = start("--port", "0")
    bare.ready()
    assert "lakebed keys reset-admin --data-dir" in "".join(bare.said)
    assert bare.stop() == 0

    again = start("--port", "0", **PAIR)
    port = again.ready()
    assert "export" not in "".join(again.said)
    assert "admin.env" not in "".join(again.said)
    assert request(port, "GET", "/user", pair=pair)[0] == 200  # the old pair stays
    assert request(port, "GET", "/user")[0] == 200  # the given pair works as well
    assert again.stop(signal.SIGINT) == 0
    assert PAIR["LAKEBED_ADMIN_SECRET_ACCESS_KEY"] not in "".join(again.said)


def test_acknowledged_writes_survive_a_restart(start: type[Process]) -> None:
    server = start("--port", "0", **PAIR)
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches/main/objects?path=a", b"hello")[0] == 201
    assert server.stop() == 0
    again = start("--port", "0", **PAIR)
    port = again.ready()
    assert request(port, "GET", "/repositories/lake/refs/main/objects?path=a") == (200, b"hello")
    assert again.stop() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_server_does_not_load_pandas(start: type[Process]) -> None:
    start.is_apart = True
    server = start("--port", "0", **PAIR)
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches/main/objects?path=a.csv", b"n\n1\n")[0] == 201
    body = b'{"message":"m"}'
    assert request(port, "POST", "/repositories/lake/branches/main/commits", body, json=True)[0] == 201
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "/pyarrow/" in loaded
    assert "/pandas/" not in loaded
    assert server.stop() == 0


def test_a_stop_lets_a_request_under_way_end(start: type[Process]) -> None:
    server = start("--port", "0", **PAIR)
    port = server.ready()
    request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')
    key, secret = PAIR.values()
    basic = base64.b64encode(f"{key}:{secret}".encode()).decode()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        wire.sendall(
            "POST /api/v1/repositories/lake/branches/main/objects?path=slow HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Basic {basic}\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert wire.recv(1000).startswith(b"HTTP/1.1 100")  # it is under way
        wire.sendall(b"slow")
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(port), "nobody else is let in")
        time.sleep(0.4)  # time for the server to end too early
        wire.sendall(b"done")
        assert wire.recv(1000).startswith(b"HTTP/1.1 201")
    assert server.wait() == 0


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_logs_as_json(start: type[Process]) -> None:
    start.is_apart = True
    server = start("--port", "0", "--log-format", "json", "--log-level", "DEBUG", **PAIR)
    port = server.ready()
    request(port, "GET", "/user")
    assert server.stop() == 0
    assert '"operation":"getCurrentUser"' in server.said[-1]


@pytest.mark.parametrize(
    ("flags", "env"),
    [
        (("--log-format", "xml"), {}),
        (("--port", "70000"), {}),
        (("--config", "nope.yaml"), {}),
        (("--port", "0"), {"LAKEBED_GATEWAY_S3_LISTEN": "nonsense"}),
        (("--port", "0"), {"LAKEBED_AUTH_SECRET_KEY": "short", **PAIR}),
        (("--port", "0"), {"LAKEBED_KV_TYPE": "postgres"}),
    ],
)
def test_wrong_settings(start: type[Process], flags: tuple[str, ...], env: dict[str, str]) -> None:
    server = start(*flags, **env)
    assert server.wait() == 2
    error = server.said[-2]
    assert error.startswith("lakebed: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("setting", ["--port", "metrics.listen", "gateway.s3.listen"])
def test_a_port_in_use(start: type[Process], setting: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        variable = f"LAKEBED_{setting.upper().replace('.', '_')}"
        env = {} if setting == "--port" else {variable: f"127.0.0.1:{port}"}
        server = start("--port", str(port) if setting == "--port" else "0", **env)
        assert server.wait() == 1
    expected = f"lakebed: port {port} on 127.0.0.1 is in use; stop what listens there or choose another {setting}"
    assert expected in server.said[-2]


def test_a_data_directory_that_cannot_be_made(start: type[Process], tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    server = start("--port", "0")
    assert server.wait() == 1
    assert "lakebed: cannot create the directory" in server.said[-2]
    assert "Traceback" not in server.said[-2]


def test_another_secret_key(start: type[Process]) -> None:
    server = start("--port", "0", **PAIR)
    server.ready()
    assert server.stop() == 0
    server = start("--port", "0", **PAIR, LAKEBED_AUTH_SECRET_KEY="quite another secret key, and a long one")
    assert server.wait() == 1
    assert "restore the old one" in server.said[-2]


def test_a_memory_server_keeps_nothing(start: type[Process], tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text('{kv: {type: memory}, objects: {local: {root: ""}}}')
    server = start("--port", "0", "--config", str(config), **PAIR)
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"mem://lake"}')[0] == 201
    assert server.stop() == 0
    assert not (tmp_path / "data").exists()
