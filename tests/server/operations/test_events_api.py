"""The event log over HTTP: pages, and live feeds of real servers that end, resume and stop."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.vocabulary.events import Event
from lakebed_server.event_feed import feed as event_feed
from lakebed_server.event_feed.feed import Listener, Message

from tests.auth.people import REPO as OF_PEOPLE
from tests.auth.people import People, allow
from tests.server.lake import REPO, Lake
from tests.server.serving import PAIR, Process, request
from tests.support.waiting import PATIENCE, wait_until

LAKE = "/repositories/lake"


@pytest.fixture
def lake() -> Iterator[Lake]:
    made = Lake()
    made("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield made
    made.close()


def test_pages_have_every_event_in_the_documented_form(lake: Lake) -> None:
    lake.put("a", b"1")
    made = lake.commit("one")
    lake("POST", f"{REPO}/tags", {"id": "v1", "ref": "main"}, 201)
    page = lake("GET", f"{REPO}/events")
    created, committed, tagged = page["results"]
    assert [one["type"] for one in page["results"]] == ["repository.created", "branch.committed", "tag.created"]
    assert (committed["branch"], committed["commit_id"], committed["after"]) == ("main", made["id"], made["id"])
    assert (committed["before"], committed["user"], committed["repository"]) == (created["after"], "admin", "lake")
    assert committed["request_id"]
    assert tagged["data"] == {"tag": "v1", "source": "main"}
    assert "logical_timestamp" not in committed
    assert (page["pagination"]["has_more"], page["pagination"]["next_offset"]) == (False, "")
    lake.runner.run(lake.engine.events.drain("lake"))
    first = lake("GET", f"{REPO}/events?amount=2")
    assert first["pagination"]["has_more"]
    assert first["pagination"]["next_offset"] == first["results"][1]["logical_timestamp"]
    second = lake("GET", f"{REPO}/events?after={first['pagination']['next_offset']}")
    assert [one["id"] for one in first["results"] + second["results"]] == [one["id"] for one in page["results"]]
    assert [one["type"] for one in lake("GET", f"{REPO}/events?type=tag")["results"]] == ["tag.created"]
    assert lake("GET", f"{REPO}/events?branch=other")["results"] == []
    assert lake("GET", f"{REPO}/events?after={2**63}", expect=400)["kind"] == "invalid_request"
    assert lake("GET", "/repositories/none/events", expect=404)["kind"] == "repository_not_found"


def test_a_branch_needs_the_right_to_read_it_and_all_events_that_of_an_auditor() -> None:
    people = People()
    try:
        people.add("auditor", allow("audit:ReadEvents"))
        people.add("reader", allow("fs:ReadBranch", on="arn:lakefs:fs:::repository/lake/branch/main"))
        statuses = {
            (user, query): people(user, "GET", f"{OF_PEOPLE}/events{query}").status
            for user in ("auditor", "reader")
            for query in ("", "?branch=main", "?branch=dev")
        }
    finally:
        people.close()
    assert statuses == {
        ("auditor", ""): 200,
        ("auditor", "?branch=main"): 200,
        ("auditor", "?branch=dev"): 200,
        ("reader", ""): 403,
        ("reader", "?branch=main"): 200,
        ("reader", "?branch=dev"): 403,
    }


def test_a_listener_that_does_not_read_is_dropped() -> None:
    listener = Listener(0)
    event = Event(id="1", type="a.b", time=0, repository="r", repository_uid="u", logical_timestamp=1)
    for _ in range(4):
        listener.give(Message(event, bytes(event_feed.MOST_BYTES // 4)))
    assert not listener.ended
    listener.give(Message(event, b"x"))
    assert listener.ended


class Feed:
    """A client of a live feed, with a thread that reads it."""

    def __init__(self, port: int, query: str = "", **headers: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.comments = 0
        self.ended = threading.Event()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        basic = base64.b64encode(":".join(PAIR.values()).encode()).decode()
        own = {"Authorization": f"Basic {basic}", "Accept": "text/event-stream"}
        self._connection.request("GET", f"/api/v1{LAKE}/events{query}", headers={**own, **headers})
        self._socket = self._connection.sock
        self.response = self._connection.getresponse()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        event: dict[str, Any] = {}
        while line := self._line():
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if line == b"\n":
                if "event" in event:
                    self.events.append(event)
                event = {}
            elif name == "data":
                event["data"] = json.loads(value)
            elif name in ("id", "event", "retry"):
                event[name] = value
            else:
                self.comments += 1
        self.ended.set()

    def _line(self) -> bytes:
        try:
            return self.response.readline()
        except (OSError, http.client.HTTPException):
            return b""

    @property
    def types(self) -> list[str]:
        return [one["event"] for one in self.events]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE)
        self.response.close()
        self._connection.close()


def create_branch(port: int, name: str) -> None:
    body = json.dumps({"name": name, "source": "main"}).encode()
    assert request(port, "POST", f"{LAKE}/branches", body)[0] == 201


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Process]:
    made = started(tmp_path)
    yield made
    made.end()


def started(place: Path) -> Process:
    return Process("--port", "0", "--data-dir", str(place / "data"), HOME=str(place), **PAIR)


def test_a_feed_shows_changes_resumes_after_a_restart_and_ends_when_the_server_stops(
    server: Process, tmp_path: Path, clients: ExitStack
) -> None:
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    everything, one_branch = (clients.enter_context(closing(Feed(port, query))) for query in ("", "?branch=b2"))
    assert everything.response.getheader("content-type") == "text/event-stream"
    assert everything.response.getheader("cache-control") == "no-store"
    for number in range(3):
        create_branch(port, f"b{number}")
    wait_until(lambda: len(everything.events) >= 3, "the feed shows the branches")
    wait_until(lambda: len(one_branch.events) >= 1, "the feed of the branch shows it")
    created = [one for one in everything.events if one["event"] == "branch.created"]
    assert [one["data"]["branch"] for one in created] == ["b0", "b1", "b2"]
    assert [one["data"]["branch"] for one in one_branch.events] == ["b2"]
    assert [one["id"] for one in created] == [one["data"]["logical_timestamp"] for one in created]
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 10, "feeds hold up a stop"
    assert everything.ended.wait(PATIENCE)
    again = started(tmp_path)
    try:
        port = again.ready()
        create_branch(port, "b3")
        with closing(Feed(port, **{"Last-Event-ID": created[0]["id"]})) as resumed:
            wait_until(lambda: len(resumed.events) >= 3, "the feed resumes")
            create_branch(port, "b4")
            wait_until(lambda: len(resumed.events) >= 4, "the feed goes on")
            names = [one["data"]["branch"] for one in resumed.events]
            assert names == ["b1", "b2", "b3", "b4"]
        with closing(Feed(port, **{"Last-Event-ID": "1048576"})) as late:
            wait_until(lambda: len(late.events) >= 7, "the feed begins with the oldest event")
            assert late.types[:2] == ["reset", "repository.created"]
        assert again.stop() == 0
    finally:
        again.end()


def test_a_feed_ends_with_its_repository(server: Process) -> None:
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    with closing(Feed(port)) as followed:
        assert request(port, "DELETE", LAKE)[0] == 204
        assert followed.ended.wait(PATIENCE)
