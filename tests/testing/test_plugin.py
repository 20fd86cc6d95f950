"""The pytest plugin, in small separate suites: its fixtures, and that it does nothing without them."""

from __future__ import annotations

import subprocess
import sys

import pandas  # noqa: F401 - numpy cannot be loaded twice in a process
import pytest
from lakebed_format.installation import install_command

pytestmark = pytest.mark.medium  # an HTTP server in a thread

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _strict(pytester: pytest.Pytester) -> None:
    pytester.makefile(".ini", pytest="[pytest]\nfilterwarnings = error\n")


def run_here(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    """Run a suite in this process, with no other plugin: they take seconds to load."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester.runpytest_inprocess("-p", "lakebed_testing.plugin", "-p", "no:cacheprovider")


def test_tests_start_with_a_clean_lake(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("round", [1, 2, 3])
        def test_repo(repo, lake, lakebed_server, round):
            assert [one.id for one in lake.repositories()] == ["repo"]
            main = repo.branch("main")
            assert main.list().all() == []
            main.put("a.txt", b"1")
            main.commit("c")
            lakebed_server.faults.drop_answer("getBranch")
            main.info()

        def test_lake(lake, lakebed_server):
            assert lake.repositories().all() == []
            assert lake.settings.endpoint == lakebed_server.endpoint

        def test_that_leaves_something(lakebed_server):
            with lakebed_server.connect() as lake:
                lake.repository("left").create("mem://left")
            lakebed_server.faults.drop_answer("commit")

        def test_after_it(lake):
            assert lake.repositories().all() == []
        """
    )
    run_here(pytester, monkeypatch).assert_outcomes(passed=6)


def test_unused_faults_fail_their_test(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        """
        def test_arms(repo, lakebed_server):
            lakebed_server.faults.drop_answer("commit")

        def test_next(repo):
            repo.branch("main").put("a.txt", b"1")
            repo.branch("main").commit("c")
        """
    )
    result = run_here(pytester, monkeypatch)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_arms*", "*UnusedFaultsError: *drop_answer('commit', 1 of 1*"]
    )


def test_code_under_test_finds_the_server(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        """
        import lakebed

        def test_it(repo, lakebed_environment, lakebed_server):
            with lakebed.connect() as lake:
                assert lake.settings.endpoint == lakebed_server.endpoint == lakebed_environment["LAKEBED_ENDPOINT"]
                assert [one.id for one in lake.repositories()] == ["repo"]
        """
    )
    run_here(pytester, monkeypatch).assert_outcomes(passed=1)


def test_settings_can_be_chosen(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def lakebed_server_settings(tmp_path_factory):
            return {"objects.local.root": str(tmp_path_factory.mktemp("objects"))}
        """
    )
    pytester.makepyfile(
        """
        def test_it(lake):
            main = lake.repository("files").create("local://files").branch("main")
            main.put("a.txt", b"1")
            assert main.get("a.txt") == b"1"
        """
    )
    run_here(pytester, monkeypatch).assert_outcomes(passed=1)


@pytest.mark.soak
def test_with_xdist_each_worker_has_its_own_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, pathlib, pytest

        @pytest.mark.parametrize("round", range(6))
        def test_it(repo, lakebed_server, round):
            repo.branch("main").put("a.txt", b"1")
            assert repo.branch("main").commit("c").message == "c"
            with open("servers.txt", "a") as seen:
                seen.write(f"{os.environ['PYTEST_XDIST_WORKER']} {lakebed_server.endpoint}\\n")
        """
    )
    result = pytester.runpytest_subprocess("-n", "2", "-p", "no:asyncio", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=6)
    seen = set((pytester.path / "servers.txt").read_text().splitlines())
    workers, endpoints = zip(*(line.split() for line in seen), strict=True)
    assert len(seen) == len(set(workers)) == len(set(endpoints)) == 2


@pytest.mark.slow
def test_with_pytest_asyncio_and_anyio(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import asyncio, pytest

        async def use(server):
            async with server.connect_async() as lake:
                main = lake.repository("repo").branch("main")
                server.faults.drop_answer("commit")
                await asyncio.gather(*(main.put(f"{n}.txt", b"1") for n in range(20)))
                await main.commit("c")
                assert len(await main.list().all()) == 20

        @pytest.mark.asyncio
        async def test_asyncio(repo, lakebed_server):
            await use(lakebed_server)

        @pytest.mark.anyio
        async def test_anyio(repo, lakebed_server, anyio_backend):
            await use(lakebed_server)

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        def test_plain(repo):
            assert repo.branch("main").list().all() == []
        """
    )
    options = ["-W", "error", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function"]
    result = pytester.run(sys.executable, "-W", "error", "-m", "pytest", *options)
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("*warning*")
    assert result.stderr.str() == ""


@pytest.mark.slow
def test_plugin_imports_nothing_without_its_fixtures(pytester: pytest.Pytester) -> None:
    """A suite without the fixtures: not even the SDK is imported, and no thread is started."""
    pytester.makepyfile(
        """
        import sys, threading

        def test_it():
            loaded = [name for name in sys.modules if name.split(".")[0] in
                      ("lakebed", "lakebed_engine", "lakebed_server", "lakebed_wire", "pyarrow", "httpx", "uvicorn")]
            assert loaded == []
            assert "lakebed_testing.plugin" in sys.modules
            assert threading.active_count() == 1
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:asyncio", "-p", "no:respx")
    result.assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_missing_extra_is_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(lake): pass")
    code = (
        "import sys, pytest\n"
        "sys.modules['msgspec'] = None\n"  # as when it is not installed
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:asyncio']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert f"needs msgspec, which is missing: {install_command('testing')}" in done.stdout
