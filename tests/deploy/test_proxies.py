"""nginx and Caddy with the configuration of docs/deployment.md, before two servers."""

from __future__ import annotations

import re
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import pytest
from botocore.client import Config  # type: ignore[import-untyped]

from tests.deploy.pages import block, replaced
from tests.support.certificates import Pair, make_pair
from tests.support.processes.owned import owned_directory, owned_process
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server
from tests.support.services.debian import program
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

PAGE = "deployment.md"
BIG = bytes(range(256)) * (12 << 12)  # 12 MiB: more than proxies keep or allow by default


class Proxy(NamedTuple):
    """A proxy over two servers."""

    endpoint: str
    certificate: Path
    servers: list[RunningServer]


def nginx(directory: Path, port: int, pair: Pair, servers: list[RunningServer]) -> list[str]:
    first, second = (server.endpoint.removeprefix("http://") for server in servers)
    upstream = replaced(block(PAGE, "nginx", "upstream"), **{"10.0.0.11:8000": first, "10.0.0.12:8000": second})
    proxy = replaced(
        block(PAGE, "nginx", "server_name"),
        **{
            "443 ssl": f"127.0.0.1:{port} ssl",
            "lake.example.com": "localhost",
            "/etc/nginx/fullchain.pem": str(pair.certificate),
            "/etc/nginx/privkey.pem": str(pair.key),
            "proxy_pass http://127.0.0.1:8000;": "proxy_pass http://lakebed; proxy_next_upstream error;",
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {directory}/{kind};\n" for kind in kinds)
    main = f"daemon off; user root; pid {directory}/pid; error_log stderr;\nevents {{}}\n"
    (directory / "nginx.conf").write_text(f"{main}http {{ access_log off;\n{temporary}{upstream}{proxy}}}\n")
    return [program("nginx", "nginx"), "-p", str(directory), "-c", str(directory / "nginx.conf")]


def caddy(directory: Path, port: int, pair: Pair, servers: list[RunningServer]) -> list[str]:
    first, second = (server.endpoint.removeprefix("http://") for server in servers)
    text = replaced(
        block(PAGE, "caddyfile", "lb_try_duration"),
        **{
            "lake.example.com {": f"https://localhost:{port} {{\n    tls {pair.certificate} {pair.key}",
            "10.0.0.11:8000": first,
            "10.0.0.12:8000": second,
        },
    )
    options = "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n"
    (directory / "Caddyfile").write_text(options + text)
    return [program("caddy", "caddy"), "run", "--adapter", "caddyfile", "--config", str(directory / "Caddyfile")]


@contextmanager
def running(make: Callable[..., list[str]], root: Path) -> Iterator[Proxy]:
    pair = make_pair(root, "proxy")
    environment = {
        "LAKEBED_LISTEN_TRUSTED_PROXIES": "127.0.0.1",
        "LAKEBED_AUTH_SECRET_KEY": "a-secret-that-both-servers-have-0123456789",
    }
    with ExitStack() as stack:
        shared = ["--data-dir", str(root / "shared")]
        servers = [
            stack.enter_context(running_server(root / name, flags=shared, environment=environment))
            for name in ("first", "second")
        ]
        directory = stack.enter_context(owned_directory("proxy-"))
        (port,) = stack.enter_context(reserved_ports(1))
        command = make(directory, port, pair, servers)
        stack.enter_context(owned_process(command, directory, directory / "log"))
        endpoint = f"https://localhost:{port}"
        log = directory / "log"
        wait_until(lambda: healthy(endpoint, pair.certificate), log.read_text, every=0.1)
        yield Proxy(endpoint, pair.certificate, servers)


def healthy(endpoint: str, certificate: Path) -> bool:
    try:
        trusted = ssl.create_default_context(cafile=str(certificate))
        return httpx.get(f"{endpoint}/_health", verify=trusted, timeout=PATIENCE).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Proxy]:
    with running(request.param, tmp_path) as found:
        yield found


def test_the_configuration_of_the_page(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_CA_FILE", str(proxy.certificate))
    with lakebed.connect(proxy.endpoint, ADMIN_ID, ADMIN_SECRET, timeout=PATIENCE) as lake:
        main = lake.repository("proxied").create("local://proxied").branch("main")
        main.put("big.bin", BIG)
        events: list[Any] = []
        live = threading.Thread(target=feed, args=(lake, events), daemon=True)
        live.start()

        def commit() -> bool:  # again, until one comes after the feed is open
            main.commit("through the proxy", allow_empty=True)
            live.join(0.5)
            return bool(events)

        wait_until(commit, "an event comes through the proxy while its feed is open")
        assert main.get("big.bin") == BIG
        assert s3_of(proxy).get_object(Bucket="proxied", Key="main/big.bin")["Body"].read() == BIG
        s3_of(proxy).put_object(Bucket="proxied", Key="main/by-s3", Body=b"signed over Host")
        seen_address(proxy)
        proxy.servers[0].process.terminate()
        proxy.servers[0].process.wait(PATIENCE)
        for number in range(20):
            assert main.stat("big.bin").size == len(BIG), number


def feed(lake: lakebed.Lake, events: list[Any]) -> None:
    events.extend(lake.repository("proxied").events(follow=True, limit=1))


def s3_of(proxy: Proxy) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=proxy.endpoint,
        aws_access_key_id=ADMIN_ID,
        aws_secret_access_key=ADMIN_SECRET,
        region_name="us-east-1",
        verify=str(proxy.certificate),
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


def seen_address(proxy: Proxy) -> None:
    """A client that sends the header of a proxy itself gets no other address in the log: the proxy replaces it."""
    headers = {"X-Forwarded-For": "203.0.113.7", "Authorization": "Bearer no-token"}
    trusted = ssl.create_default_context(cafile=str(proxy.certificate))
    answer = httpx.post(f"{proxy.endpoint}/api/v1/repositories", headers=headers, verify=trusted)
    assert answer.status_code == 401

    def log() -> str:
        return "".join(server.log for server in proxy.servers)

    wait_until(lambda: re.search(r" status=401 ", log()), log, every=0.1)
    assert "203.0.113.7" not in log()


def test_the_block_for_one_server_is_valid(tmp_path: Path) -> None:
    pair = make_pair(tmp_path, "one")
    text = replaced(
        block(PAGE, "nginx", "server_name"),
        **{
            "/etc/nginx/fullchain.pem": str(pair.certificate),
            "/etc/nginx/privkey.pem": str(pair.key),
            "listen 443": "listen 127.0.0.1:0",
        },
    ).replace("127.0.0.1:0", "127.0.0.1:18443")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{ access_log off;\n{text}}}\n")
    tests = [
        program("nginx", "nginx"),
        "-t",
        "-q",
        "-e",
        "stderr",
        "-p",
        str(tmp_path),
        "-c",
        str(tmp_path / "nginx.conf"),
    ]
    done = subprocess.run(tests, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (tmp_path / "Caddyfile").write_text(block(PAGE, "caddyfile", "read_timeout"))
    valid = [program("caddy", "caddy"), "adapt", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    done = subprocess.run(valid, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
