"""TLS of the listeners: the SDK, the command and S3 clients over it, a new certificate on SIGHUP, and wrong files."""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import shutil
import signal
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import psutil
import pytest
import uvicorn
from lakebed_server.bounds.connections import Connections
from lakebed_server.network.listeners import clear_text, listen
from lakebed_server.network.tls import open_tls
from lakebed_server.process.server import Server
from lakebed_server.settings.listeners import TlsSettings
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.transport.protocol import Protocol
from lakebed_server.vocabulary import SettingError

from tests.server.serving import Process
from tests.server.support import make_app
from tests.support.certificates import Pair, make_pair
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, running_server
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("certificates"), "first")


@contextlib.contextmanager
def secured(data_dir: Path, pair: Pair, *flags: str, **environment: str) -> Iterator[RunningServer]:
    with running_server(data_dir, flags=flags, environment={**pair.environment, **environment}) as server:
        assert server.endpoint.startswith("https://127.0.0.1:")
        yield server


def connect(server: RunningServer, **more: Any) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, **more)


def certificate_of(server: RunningServer) -> str:
    host, port = server.endpoint.removeprefix("https://").split(":")
    return ssl.get_server_certificate((host, int(port)), timeout=PATIENCE)


def test_the_sdk_reads_and_writes_over_tls(tmp_path: Path, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_CA_FILE", str(pair.certificate))
    with secured(tmp_path / "data", pair) as server, connect(server) as lake:
        main = lake.repository("lake").create("local://lake").branch("main")
        assert lake.settings.sources["ca_file"] == "environment LAKEBED_CA_FILE"
        content = os.urandom(3 << 20)  # large enough for sendfile, which TLS cannot use
        for path, data in (("small", b"1"), ("large", content)):
            main.put(path, data)
            assert main.get(path) == data
        main.commit("one")
        assert [row.path for row in main.list()] == ["large", "small"]
        url = f"{server.endpoint}/api/v1/repositories/lake/refs/main/objects?path=large"
        with httpx.Client(
            verify=ssl.create_default_context(cafile=str(pair.certificate)),
            auth=(server.access_key_id, server.secret_access_key),
        ) as client:
            assert client.get(url).content == content
            assert client.get(url, headers={"Range": "bytes=7-9"}).content == content[7:10]
            assert f"lakebed login {server.endpoint} " in client.get(server.endpoint).text


def test_a_certificate_that_is_not_trusted_has_a_next_step(tmp_path: Path, pair: Pair) -> None:
    with secured(tmp_path / "data", pair) as server:
        with connect(server) as lake, pytest.raises(lakebed.ServerUnavailableError, match="LAKEBED_CA_FILE"):
            lake.user()
        with (
            httpx.Client(verify=ssl.create_default_context(cafile=str(pair.certificate))) as client,
            pytest.raises(httpx.RemoteProtocolError),
        ):
            client.get(server.endpoint.replace("https:", "http:") + "/_health")


def test_a_server_without_tls_has_a_next_step(server: RunningServer) -> None:
    endpoint = server.endpoint.replace("http:", "https:")
    with lakebed.connect(endpoint, "k", "s") as lake, pytest.raises(lakebed.ServerUnavailableError) as refused:
        lake.user()
    assert "write http:// before the endpoint" in str(refused.value)


def test_both_listeners_speak_tls_to_s3_clients(tmp_path: Path, pair: Pair) -> None:
    with (
        reserved_ports(1) as (port,),
        secured(tmp_path / "data", pair, LAKEBED_GATEWAY_S3_LISTEN=f"127.0.0.1:{port}") as server,
    ):
        assert f"S3 alone: https://127.0.0.1:{port}" in server.log
        for endpoint in (server.endpoint, f"https://127.0.0.1:{port}"):
            s3 = boto3.client(
                "s3",
                endpoint_url=endpoint,
                region_name="us-east-1",
                aws_access_key_id=server.access_key_id,
                aws_secret_access_key=server.secret_access_key,
                verify=str(pair.certificate),
            )
            assert s3.list_buckets()["Buckets"] == []
            s3.close()


def test_the_minimum_version_is_tls_1_2(pair: Pair) -> None:
    tls = open_tls(TlsSettings(certificate=str(pair.certificate), key=str(pair.key)))
    assert tls is not None
    assert tls.context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sighup_reads_a_new_certificate_and_keeps_connections(tmp_path: Path, workers: str) -> None:
    first, second = make_pair(tmp_path, "first"), make_pair(tmp_path, "second")
    used = Pair(tmp_path / "used.pem", tmp_path / "used.key")
    _copy(first, used)
    with secured(tmp_path / "data", used, "--workers", workers) as server:
        assert certificate_of(server) == first.certificate.read_text()
        port = int(server.endpoint.rsplit(":", 1)[1])
        open_one = http.client.HTTPSConnection(
            "127.0.0.1", port, context=ssl.create_default_context(cafile=str(first.certificate)), timeout=PATIENCE
        )
        assert _health(open_one) == 200
        used.certificate.write_text(second.certificate.read_text())  # without its key: nothing changes
        os.kill(server.process.pid, signal.SIGHUP)
        wait_until(
            lambda: server.log.count("the old one stays in use") == int(workers),
            "each process says that they do not fit",
        )
        assert certificate_of(server) == first.certificate.read_text()
        _copy(second, used)
        os.kill(server.process.pid, signal.SIGHUP)
        wait_until(lambda: server.log.count(f"reloaded the certificate {used.certificate}") == int(workers), "read")
        assert certificate_of(server) == second.certificate.read_text()
        assert _health(open_one) == 200
        open_one.close()


def _copy(pair: Pair, to: Pair) -> None:
    for source, target in zip(pair, to, strict=True):
        shutil.copy(source, target)


def _health(connection: http.client.HTTPSConnection) -> int:
    connection.request("GET", "/_health")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_a_handshake_that_does_not_come_is_ended(tmp_path: Path, pair: Pair) -> None:
    with secured(tmp_path / "data", pair, LAKEBED_LIMITS_HEAD_TIME="1s") as server:
        host, port = server.endpoint.removeprefix("https://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as silent:
            assert silent.recv(1) == b""


def test_connections_in_a_handshake_are_counted_and_make_room(tmp_path: Path, pair: Pair) -> None:
    """Half-open TLS connections are closed for newer ones, long before their deadline, and a client is answered."""
    limits = {"LAKEBED_LIMITS_CONNECTIONS": "20", "LAKEBED_LIMITS_HEAD_TIME": "10m"}
    with secured(tmp_path / "data", pair, **limits) as server, contextlib.ExitStack() as stack:
        port = int(server.endpoint.rsplit(":", 1)[1])
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(60)]
        for one in silent[:40]:
            assert one.recv(1) == b""
        client = http.client.HTTPSConnection(
            "127.0.0.1", port, context=ssl.create_default_context(cafile=str(pair.certificate)), timeout=PATIENCE
        )
        assert _health(client) == 200
        opened = [one for one in psutil.Process(server.process.pid).net_connections("tcp") if one.raddr]
        assert len(opened) <= 20
        client.close()


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_connections_in_a_handshake_are_counted_per_address(pair: Pair, loop: str) -> None:
    connections = Connections(LimitSettings(connections_per_address=3))
    with serving_tls(connections, pair, loop) as port, contextlib.ExitStack() as stack:
        context = ssl.create_default_context(cafile=str(pair.certificate))
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(3)]
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as late:
            assert late.recv(1) == b""
        silent.pop().close()
        wait_until(lambda: len(connections) == 2, "the server sees that a client has left")
        for _ in range(3):  # a handshake that ends passes its place on to the connection
            client = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE)
            assert _health(client) == 200
            assert len(connections) == 3
            client.close()
            wait_until(lambda: len(connections) == 2, "the connection is closed")
        stack.close()  # before the server ends: asyncio would leave these sockets open
        wait_until(lambda: len(connections) == 0, "the server sees that all clients have left")


@contextlib.contextmanager
def serving_tls(connections: Connections, pair: Pair, loop: str) -> Iterator[int]:
    """A server with TLS in a thread; the port that it listens on."""
    tls = open_tls(TlsSettings(certificate=str(pair.certificate), key=str(pair.key)))
    assert tls is not None
    http: Any = functools.partial(Protocol, connections)
    config = uvicorn.Config(make_app(), http=http, loop=loop, lifespan="off", log_config=None)
    ready = threading.Event()
    server = Server(config, ready.set, tls=(tls, connections))
    with listen("127.0.0.1", 0, "--port") as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def test_wrong_files_are_one_sentence(tmp_path: Path, pair: Pair) -> None:
    other = make_pair(tmp_path, "other")
    locked = make_pair(tmp_path, "locked", password="right")
    missing, text = tmp_path / "missing.pem", tmp_path / "text.pem"
    text.write_text("no certificate")
    wrong = {
        "listen.tls.certificate: cannot read .*missing.pem: No such file": TlsSettings(certificate=str(missing)),
        "listen.tls.key: cannot read .*missing.pem": TlsSettings(certificate=str(pair.certificate), key=str(missing)),
        "other.key is not the key of the certificate .*first.pem": TlsSettings(
            certificate=str(pair.certificate), key=str(other.key)
        ),
        "expected a certificate in .*text.pem": TlsSettings(certificate=str(text), key=str(pair.key)),
        "encrypted with listen.tls.key_password": TlsSettings(
            certificate=str(locked.certificate), key=str(locked.key), key_password="wrong"
        ),
        "listen.tls.key is set but listen.tls.certificate is not": TlsSettings(key=str(pair.key)),
    }
    for sentence, settings in wrong.items():
        with pytest.raises(SettingError, match=sentence):
            open_tls(settings)
    right = TlsSettings(certificate=str(locked.certificate), key=str(locked.key), key_password="right")
    assert open_tls(right) is not None
    assert open_tls(TlsSettings()) is None


def test_the_command_says_what_is_wrong_and_ends_with_2(tmp_path: Path, pair: Pair) -> None:
    other = make_pair(tmp_path, "other")
    flags = ["--data-dir", str(tmp_path / "data"), "--port", "0"]
    process = Process(*flags, **{**pair.environment, "LAKEBED_LISTEN_TLS_KEY": str(other.key)})
    assert process.wait() == 2
    assert "is not the key of the certificate" in process.said[0]
    assert "Traceback" not in process.said[0]


def test_a_public_address_without_tls_is_warned_of(tmp_path: Path, pair: Pair) -> None:
    with running_server(tmp_path / "open", flags=["--host", "0.0.0.0"]) as server:
        assert "0.0.0.0 port" in server.log
        assert "open to other machines without TLS" in server.log
    with running_server(tmp_path / "secured", flags=["--host", "0.0.0.0"], environment=pair.environment) as server:
        assert "without TLS" not in server.log
    with listen("127.0.0.1", 0, "--port") as local:
        assert clear_text([local]) == []


def test_a_key_in_clear_text_to_another_machine_is_warned_of_once() -> None:
    with pytest.warns(
        lakebed.ClearTextWarning, match="the access key is sent to http://lake.example without TLS"
    ) as one:
        lakebed.connect("http://lake.example", "k", "s")
    assert one[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for endpoint in ("http://lake.example", "lake.example", "http://127.0.0.1:1", "localhost", "http://[::1]:8000"):
            lakebed.aio.connect(endpoint, "k", "s")


def test_a_file_of_certificates_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_CA_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(lakebed.ConfigurationError, match=r"none\.pem \(from environment LAKEBED_CA_FILE\) does not"):
        lakebed.connect("https://lake.example", "k", "s")
    (tmp_path / "none.pem").write_text("text")
    with (
        lakebed.connect("https://lake.example", "k", "s") as lake,
        pytest.raises(lakebed.ConfigurationError, match="cannot read certificates"),
    ):
        lake.user()
