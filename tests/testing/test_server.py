"""The in-process server: independent of others, empty after a reset, and without leftovers after its end."""

from __future__ import annotations

import http.client
import multiprocessing
import subprocess
import sys
import textwrap
import threading
import unittest
from pathlib import Path

import lakebed
import lakebed_testing
import pytest
from lakebed_server.vocabulary import StartError
from lakebed_testing import LakebedServer

from tests.support.steady import steady
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.medium  # an HTTP server in a thread

FORK = multiprocessing.get_context("fork")


def write(lake: lakebed.Lake, data: bytes) -> lakebed.Branch:
    main = lake.repository("repo").create("mem://repo").branch("main")
    main.put("a.txt", data)
    main.commit("write")
    return main


def test_two_servers_know_nothing_of_each_other() -> None:
    with (
        lakebed_testing.server() as one,
        lakebed_testing.server() as two,
        one.connect() as here,
        two.connect() as there,
    ):
        write(here, b"one")
        write(there, b"two")
        one.faults.unavailable("getObject", times=None)
        assert there.repository("repo").ref("main").get("a.txt") == b"two"
        one.faults.clear()
        one.reset()
        assert here.repositories().all() == []
        assert [repo.id for repo in there.repositories()] == ["repo"]
        with (
            lakebed.connect(one.endpoint, two.access_key_id, two.secret_access_key) as stranger,
            pytest.raises(lakebed.AuthenticationError),
        ):
            stranger.user()


def test_a_reset_forgets_everything_and_clients_go_on() -> None:
    with lakebed_testing.server() as server, server.connect() as lake:
        for _ in range(3):
            assert lake.repositories().all() == []
            # the same names and content each time: whatever was remembered of the last round would be found
            repo = lake.repository("repo").create("mem://repo")
            main = repo.branch("main")
            assert main.list().all() == []
            main.put_many({f"{number:04}.txt": b"same" for number in range(200)})
            main.commit("same")
            repo.tag("v1").create("main")
            main.delete("0000.txt")
            assert len(main.list().all()) == 199
            assert len(repo.ref("v1").list().all()) == 200
            assert repo.ref("v1").get("0100.txt") == b"same"
            server.reset()
        server.reset()


@steady()  # the other test begins while the request is held up
def test_a_request_that_outlives_its_test_changes_nothing_of_the_next() -> None:
    with lakebed_testing.server() as server, server.connect(retries=0) as lake:
        main = write(lake, b"1")
        server.faults.delay("uploadObject", 1.0)
        errors: list[BaseException] = []

        def late() -> None:
            try:
                main.put("late.txt", b"late")
            except lakebed.LakebedError as error:
                errors.append(error)

        thread = threading.Thread(target=late)
        thread.start()
        while server.faults.armed:  # until the request is there
            threading.Event().wait(0.001)
        server.reset()
        again = write(lake, b"2")
        thread.join()
        assert isinstance(errors[0], lakebed.LakebedError)
        assert [info.path for info in again.list()] == ["a.txt"]


def test_a_wrong_setting_is_named() -> None:
    with (
        pytest.raises(StartError, match=r"unknown key listen\.prot; did you mean listen\.port"),
        lakebed_testing.server({"listen.prot": 1}),
    ):
        pass
    with pytest.raises(StartError, match=r"listen\.port \(flag\)"), lakebed_testing.server({"listen.port": "x"}):
        pass
    with lakebed_testing.server() as server:
        port = int(server.endpoint.rpartition(":")[2])
        with pytest.raises(StartError, match="in use"), lakebed_testing.server({"listen.port": port}):
            pass


def test_settings_of_this_machine_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_KV_TYPE", "nonsense")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "lakebed.yaml").write_text("nonsense: 1\n")
    (tmp_path / ".lakebed-server.yaml").write_text("nonsense: 1\n")
    monkeypatch.chdir(tmp_path)
    with lakebed_testing.server() as server, server.connect() as lake:
        assert lake.healthy()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lakebed-server.yaml", "lakebed.yaml"]


def test_files_on_disk_when_asked_for(tmp_path: Path) -> None:
    with lakebed_testing.server({"objects.local.root": str(tmp_path)}) as server, server.connect() as lake:
        lake.repository("files").create("local://files").branch("main").put("a.txt", b"on disk")
    assert any(path.read_bytes() == b"on disk" for path in tmp_path.rglob("*") if path.is_file())


class WithUnittest(unittest.TestCase):
    """As docs/testing.md shows it. Run below by unittest itself."""

    __test__ = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = cls.enterClassContext(lakebed_testing.server())

    def setUp(self) -> None:
        self.lake = self.enterContext(self.server.connect())
        self.addCleanup(self.server.reset)

    def test_one(self) -> None:
        assert write(self.lake, b"1").get("a.txt") == b"1"

    def test_two(self) -> None:
        assert write(self.lake, b"2").get("a.txt") == b"2"

    server: LakebedServer
    lake: lakebed.Lake


def test_unittest() -> None:
    suite = unittest.TestLoader().loadTestsFromTestCase(WithUnittest)
    result = unittest.TestResult()
    suite.run(result)
    assert (result.testsRun, result.errors, result.failures) == (2, [], [])


@pytest.mark.slow
def test_a_forked_child_is_a_client_and_no_more() -> None:
    with lakebed_testing.server() as server, server.connect(timeout=PATIENCE, retries=0) as lake:
        main = write(lake, b"1")
        here, there = FORK.Pipe()
        child = FORK.Process(target=_in_a_child, args=(server, main, there))
        child.start()
        there.close()
        assert here.recv() == (b"1", True)
        assert main.get("child.txt") == b"2"
        # the child holds copies of the server's sockets: what breaks, and what ends, must be seen all the same
        server.faults.drop_answer("getBranch")
        with pytest.raises(lakebed.ServerUnavailableError) as caught:
            main.info()
        assert "timed out" not in str(caught.value)
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection(server.endpoint.removeprefix("http://"), timeout=60).request("GET", "/")
    here.send("end")
    child.join()
    assert child.exitcode == 0
    here.close()


def _in_a_child(server: LakebedServer, main: lakebed.Branch, pipe: multiprocessing.connection.Connection) -> None:
    found = main.get("a.txt")
    main.put("child.txt", b"2")
    try:
        server.reset()
        refused = False
    except RuntimeError:
        refused = True
    pipe.send((found, refused))
    pipe.recv()


@pytest.mark.slow
def test_closed_server_leaves_no_files() -> None:
    """In a process of its own, where every warning is an error and unclosed sockets and files are reported."""
    code = """
    import gc, os, threading
    import lakebed_testing

    def descriptors():
        gc.collect()
        return sorted(os.readlink(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")
                      if os.path.exists(f"/proc/self/fd/{one}"))

    def use():
        with lakebed_testing.server() as server, server.connect() as lake:
            main = lake.repository("repo").create("mem://repo").branch("main")
            main.put_many({f"{n}.txt": b"x" for n in range(50)})
            server.faults.drop_answer("commit")
            main.commit("c")
            server.reset()
            with server.connect() as again:
                again.repository("repo").create("mem://repo").branch("main").put("a", b"1")

    use()  # what Python keeps for good, it keeps from here on
    before, threads = descriptors(), threading.enumerate()
    for _ in range(2):
        use()
    assert threading.enumerate() == threads == [threading.main_thread()], threading.enumerate()
    assert descriptors() == before, (descriptors(), before)
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
