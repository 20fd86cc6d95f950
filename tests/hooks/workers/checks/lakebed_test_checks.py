"""Python checks that tests run in processes of their own: good ones, and every kind of bad one."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse

Args = dict[str, Any]


def passes(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    print("checked", event.repository_id, args.get("what"))


def refuses(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse | None:
    rows = lake.read_table("orders/*.parquet", columns=["id"])
    before = lake.base.read_pandas("orders/a.parquet")
    changes = [(one.path, one.kind) for one in lake.changes()]
    with lake.open("notes.txt") as file:
        file.seek(-5, os.SEEK_END)
        end = file.read().decode()
    said = f"{rows.num_rows} rows, before {len(before)}, {changes}, {end}, {lake.read('notes.txt')[:5].decode()}"
    return Refuse(said, [{"file": file.path, "rows": file.size} for file in lake.list("orders/")])


def missing(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse | None:
    try:
        lake.read("orders/none.parquet")
    except FileNotFoundError as error:
        return Refuse(str(error))
    return None


def shows_its_surroundings(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse:
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in args["limits"]}
    status = Path("/proc/self/status").read_text()
    files = os.listdir("/proc/self/fd")
    found = {"environment": dict(os.environ), "path": sys.path, "cwd": os.getcwd(), "limits": limits, "files": files}
    return Refuse("", [{**found, "no_new_privs": "NoNewPrivs:\t1" in status}])


def raises(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    raise KeyError("the secret detail")


def returns_a_text(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> str:
    return "fine"


def hangs(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> NoReturn:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(1000)


def answers_late(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    time.sleep(args["seconds"])


def floods_its_log(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    os.write(1, b"first\n")
    for _ in range(320):
        os.write(2, b"x" * 65536)


def exhausts_memory(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def forks(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    for _ in range(20):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
            os._exit(0)


def forks_without_end(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    """Processes that end and leave two others, with other sessions, up to some hundred at a time."""
    if os.fork() == 0:
        while True:
            time.sleep(0.005)
            os.setsid() if os.getpid() != os.getsid(0) else None
            if os.fork():
                os._exit(0)
    time.sleep(args["seconds"])


def leaves_a_daemon(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            time.sleep(1000)
            os._exit(0)
        os._exit(0)
    os.wait()


def leaves_a_program(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


def leaves_a_thread(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    threading.Thread(target=time.sleep, args=(1000,)).start()


def exits(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    sys.exit(3)


def exits_at_once(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    os._exit(4)


def exits_as_if_done(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    os._exit(0)


def returns_much(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse:
    return Refuse("x" * args["bytes"])


def sends_much(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    _socket(lake).sendall(struct.pack(">I", 0xFFFFFFFF))
    for _ in range(10 << 10):
        _socket(lake).sendall(b"x" * (1 << 20))


def segfaults(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    lake.read("notes.txt")
    ctypes.string_at(0)


def closes_the_pipe(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    _socket(lake).shutdown(socket.SHUT_RDWR)
    time.sleep(1000)


def sends_garbage(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    text = args["text"].encode()
    _socket(lake).sendall(struct.pack(">I", len(text)) + text)
    time.sleep(1000)


def asks(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse:
    return Refuse(repr(lake._snapshot._connection.ask(**args)))  # type: ignore[attr-defined]


def reads_much(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    while True:
        lake.read("notes.txt")


def ends_its_group(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    os.killpg(0, signal.SIGKILL)


def ends_its_parent(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def computes(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    while True:
        pass


def writes_a_large_file(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> None:
    with open("large", "wb") as file:
        file.truncate(args["bytes"])


def writes_a_file(event: HookEvent, lake: ReadOnlyRepo, args: Args) -> Refuse:
    with open("small", "wb") as file:
        file.write(b"x" * 1000)
    return Refuse(os.getcwd())


def _socket(lake: ReadOnlyRepo) -> socket.socket:
    made: socket.socket = lake._snapshot._connection._socket  # type: ignore[attr-defined]
    return made
