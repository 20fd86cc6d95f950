"""`lakebed serve --workers N`: several processes, one port, one lake; a dead one is replaced; a stop is clean."""

from __future__ import annotations

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import psutil
import pytest

from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, running_server, workers_of
from tests.support.sampling import sampled
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


def connect(server: RunningServer) -> lakebed.Branch:
    lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)
    return lake.repository("lake").branch("main")


def test_several_processes_serve_one_lake(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", flags=["--workers", "3"]) as server:
        assert len(workers_of(server)) == 3
        connect(server).repository.create("local://lake")

        def work(number: int) -> int:
            main = connect(server)  # a connection of its own: any of the processes may answer it
            made = 0
            for step in range(5):
                main.put(f"{number}/{step}", f"{number} {step}".encode())
                try:
                    main.commit(f"{number} {step}")
                    made += 1
                except lakebed.NothingToCommitError:
                    pass  # another committed it
            return made

        with ThreadPoolExecutor(6) as pool:
            made = sum(pool.map(work, range(6)))
        main = connect(server)
        assert sorted(main.get(item.path) for item in main.list()) == sorted(
            f"{number} {step}".encode() for number in range(6) for step in range(5)
        )
        assert main.uncommitted().first() is None
        assert len(main.log().all()) == made + 1


def test_a_dead_worker_is_replaced(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", flags=["--workers", "2"]) as server:
        connect(server).repository.create("local://lake")
        before = workers_of(server)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: workers_of(server) - before, "a worker in the place of the dead one")
        assert len(workers_of(server) - before) == 1
        for number in range(20):
            connect(server).put(f"after/{number}", b"x")
        assert len(connect(server).list().all()) == 20


def test_every_worker_listens_on_the_gateway_port(tmp_path: Path) -> None:
    """Both processes answer on it, all that comes there is S3, and a process that died is replaced there, too."""
    with (
        reserved_ports(1) as (port,),
        running_server(
            tmp_path / "data",
            flags=["--workers", "2"],
            environment={"LAKEBED_GATEWAY_S3_LISTEN": f"127.0.0.1:{port}"},
        ) as server,
    ):
        connect(server).repository.create("local://lake")
        before = workers_of(server)
        answered: set[int] = set()
        while answered < before:  # however busy one of them is: then the other answers
            answered.add(answering(server, port))
        assert answered == before
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: answering(server, port) not in before, "a request came to the new process")
        assert httpx.get(f"http://127.0.0.1:{port}/_health").status_code == 403
        assert [row.path for row in connect(server).list()] == ["1"]


def answering(server: RunningServer, port: int) -> int:
    """The process that takes one more connection and writes an object by S3."""
    s3 = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id=server.access_key_id,
        aws_secret_access_key=server.secret_access_key,
        region_name="us-east-1",
    )
    try:
        s3.put_object(Bucket="lake", Key="main/1", Body=b"1")
        ours = psutil.Process().net_connections("tcp")
        (local,) = {
            one.laddr.port for one in ours if one.raddr and one.raddr.port == port and one.status == "ESTABLISHED"
        }
        holders = [
            pid for pid in workers_of(server) for one in connections_of(pid) if one.raddr and one.raddr.port == local
        ]
        assert len(holders) == 1
        return holders[0]
    finally:
        s3.close()


def connections_of(pid: int) -> list[Any]:
    """None when the process has ended since it was listed: a killed process stays in the list for a moment."""
    try:
        return list(psutil.Process(pid).net_connections("tcp"))
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize("moment", sampled([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.2], 3))
def test_a_signal_reaches_a_worker_that_is_just_starting(tmp_path: Path, moment: float) -> None:
    with running_server(tmp_path / "data", flags=["--workers", "2"]) as server:
        before = workers_of(server)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: workers_of(server) - before, "a worker in the place of the dead one")
        time.sleep(moment)  # random moments of its start: a worker does not report its progress
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0


def test_the_file_of_the_admin_key_is_named_once(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", flags=["--workers", "2"], environment={"LAKEBED_ADMIN_ACCESS_KEY_ID": "",
                        "LAKEBED_ADMIN_SECRET_ACCESS_KEY": ""}) as server:  # fmt: skip
        said = (server.data_dir.parent / "data.log").read_text()
        assert len(re.findall(r"lakebed login --from-file \S+admin\.env", said)) == 1
        assert "SECRET" not in said
        assert "2 processes" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all(tmp_path: Path, number: signal.Signals) -> None:
    with running_server(tmp_path / "data", flags=["--workers", "2"]) as server:
        workers = workers_of(server)
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        assert not any(psutil.pid_exists(pid) for pid in workers)
