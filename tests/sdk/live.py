"""A real server in a process of its own, for tests that must not know how it is made."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.processes.nursery import Born, born
from tests.support.waiting import PATIENCE

KEY, SECRET = "AKIAJSDKTESTSDKTESTQ", "sdk-test-secret-0"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Start `lakebed serve` on a free port; gives its endpoint."""
    log = folder / "server.log"
    environment = {**os.environ, "LAKEBED_ADMIN_ACCESS_KEY_ID": KEY, "LAKEBED_ADMIN_SECRET_ACCESS_KEY": SECRET}
    process = born(["serve", "--port", "0", "--data-dir", str(folder / "data")], environment, log)
    try:
        yield _endpoint(process, log)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


def _endpoint(process: Born, log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"ready at (https?://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


class Proxy:
    """A proxy in front of a server that can drop answers: the server executes the request, and the answer is lost.

    `cut` is called like `swallow`, but the proxy closes the client's connection while the server still works.
    """

    def __init__(self, endpoint: str) -> None:
        host, _, port = endpoint.removeprefix("http://").partition(":")
        self._server = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.swallow: Callable[[str], bool] = lambda line: False
        self.cut: Callable[[str], bool] = lambda line: False
        self.swallowed: list[str] = []
        self.uploaded = self.downloaded = 0  # bytes that went through, both ways
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Serve one connection in both directions. To lose a request, close both ends before its answer."""
        with client, socket.create_connection(self._server) as server:
            lost: list[str] = []
            back = threading.Thread(target=self._answers, args=(client, server, lost), daemon=True)
            back.start()
            try:
                while sent := client.recv(1 << 20):
                    self.uploaded += len(sent)
                    line = sent.split(b"\r\n", 1)[0].decode("latin-1")
                    if self.swallow(line):
                        lost.append(line)
                    cut = self.cut(line)
                    if cut:
                        lost.append(line)
                    server.sendall(sent)
                    if cut:
                        _shut(client)
                        back.join(PATIENCE)  # the server goes on, and its answer goes nowhere
            except OSError:
                pass
            _shut(server)
            back.join()

    def _answers(self, client: socket.socket, server: socket.socket, lost: list[str]) -> None:
        try:
            while answer := server.recv(1 << 20):
                self.downloaded += len(answer)
                if lost:
                    self.swallowed += lost
                    break
                client.sendall(answer)
        except OSError:
            pass
        _shut(client)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
