"""The SQLite file of the KV store: opens, creates and versions it, and maps SQLite's errors.

The layout belongs to the driver: nothing outside these three modules knows a table.

SQLite is not safe on file systems that several machines can mount: in WAL mode it uses memory that processes of one
machine share. Two servers on a network share would silently corrupt the database, and may notice it late. Linux reports
the type of each mounted file system, so the driver refuses these.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from lakebed_engine.vocabulary.errors import (
    CorruptDataError,
    SchemaTooNewError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

SCHEMA_VERSION: Final = 1
# "LKBD": the command `file` shows it, and the store uses it to recognise databases of other programs
APPLICATION_ID: Final = 0x4C4B4244
OLDEST_SQLITE: Final = "3.51.3"  # in older ones, two connections that write and reset the WAL together can corrupt it

SCHEMA: Final = """
    CREATE TABLE kv (
        partition TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, version INTEGER NOT NULL,
        PRIMARY KEY (partition, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sequence (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL) STRICT;
    INSERT INTO sequence VALUES (1, 0);
"""

# One statement reads one view: another process may be creating the tables at this moment.
_WHAT: Final = (
    "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), "
    "(SELECT count(*) FROM sqlite_schema)"
)

_POLL_SECONDS = 0.0007
_POLLS = 10_000  # with the time of the polls, about 8 to 10 seconds


def patience(waiting: Callable[[], None] | None = None) -> Callable[[int], bool]:
    """A busy handler: retries every 0.7 ms, for about ten seconds in total. Calls `waiting` when a wait begins.

    SQLite's own handler backs off to 100 ms, and would rarely find the lock of a busy process free.
    """

    def again(polls: int) -> bool:
        if polls == 0 and waiting is not None:
            waiting()
        time.sleep(_POLL_SECONDS)
        return polls < _POLLS

    return again


def require_sqlite(version: str) -> None:
    """Raise StoreUnavailableError if this version of the SQLite library is too old to be safe."""
    if [int(part) for part in version.split(".")] < [int(part) for part in OLDEST_SQLITE.split(".")]:
        raise StoreUnavailableError(
            f"SQLite {version} can corrupt a database that several processes write; "
            f"upgrade apsw so that it carries SQLite {OLDEST_SQLITE} or newer"
        )


def connect(path: Path, vfs: str | None = None, *, durable: bool = True) -> apsw.Connection:
    """Open another connection to a store that `open_store` has created. Raises apsw's errors.

    In WAL mode, FULL means an fsync at every commit, and OFF means none, not even around a checkpoint. Without
    `durable`, commits survive a crash of this process but not of the machine: after a power failure, the file itself
    may be damaged.
    """
    connection = apsw.Connection(str(path), vfs=vfs)
    connection.set_busy_handler(patience())
    connection.pragma("synchronous", "FULL" if durable else "OFF")
    connection.pragma("wal_autocheckpoint", 16_000)  # 64 MiB: fewer, longer checkpoints write hot pages once
    return connection


def open_store(path: Path, vfs: str | None = None, *, durable: bool = True) -> apsw.Connection:
    """Open the file for writing, and create it if it is missing. A file that cannot be written is opened for reading.

    `durable` as in `connect`. Raises SchemaTooNewError, CorruptDataError (not a store), StoreFullError (SQLite
    cannot even read it without writing files next to it) and StoreUnavailableError.
    """
    require_sqlite(apsw.sqlite_lib_version())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_network(path.parent)
        connection = connect(path, vfs, durable=durable)
        try:
            _make_or_check(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection
    except OSError as error:
        raise StoreUnavailableError(f"cannot create the KV store's directory: {error}") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if not os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise StoreFullError(
                f"the KV store's directory is read-only, and even a read needs a WAL file next to the database: {path}"
            ) from error
        raise store_error(error, path) from error
    except apsw.Error as error:
        raise store_error(error, path) from error


def _refuse_network(directory: Path) -> None:
    kind = network_file_system(directory)
    if kind:
        raise StoreUnavailableError(
            f"SQLite is not safe on a network file system ({kind}), where two machines can corrupt it: put the KV "
            f"store on a local disk, or use PostgreSQL: {directory}"
        )


def _make_or_check(connection: apsw.Connection, path: Path) -> None:
    fresh = _is_fresh(connection, path)
    if connection.readonly("main"):
        return
    if (mode := _switch_to_wal(connection)) != "wal":
        raise StoreUnavailableError(
            f"the file system cannot hold a WAL ({mode}); put the KV store on a local disk: {path}"
        )
    if not fresh:
        return
    connection.execute("BEGIN IMMEDIATE")
    if _is_fresh(connection, path):  # or another process was faster
        connection.execute(SCHEMA)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SCHEMA_VERSION)
    connection.execute("COMMIT")


def _is_fresh(connection: apsw.Connection, path: Path) -> bool:
    version, application, tables = connection.execute(_WHAT).get
    if (version, application, tables) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise CorruptDataError(f"the database is not a KV store of Lakebed; choose another path: {path}")
    if version > SCHEMA_VERSION:
        raise SchemaTooNewError(
            "the KV store was written by a newer Lakebed; upgrade this installation (it knows schema "
            f"{SCHEMA_VERSION}, the store has {version}): {path}"
        )
    return False


def _switch_to_wal(connection: apsw.Connection) -> object:
    again = patience()
    for attempt in range(_POLLS):
        try:
            return connection.pragma("journal_mode", "wal")
        except apsw.BusyError:  # two processes that open a new file: this switch does not ask the busy handler
            again(attempt)
    return "busy"


def store_error(error: Exception, path: Path) -> StoreError:
    """Map an error of SQLite, or of its file, to an error of the engine."""
    kind: type[StoreError] = StoreUnavailableError
    match error:
        case apsw.FullError() | apsw.ReadOnlyError():
            kind, text = (
                StoreFullError,
                "the KV store cannot be written, nothing was changed; free space or make it writable",
            )
        case apsw.BusyError() | apsw.LockedError():
            text = "another process held the KV store for too long, nothing was changed; try again"
        case apsw.CorruptError() | apsw.NotADBError():
            kind, text = CorruptDataError, "the KV store is damaged, or not a database; restore it"
        case apsw.SQLError() if "no such table" in str(error):
            kind, text = SchemaTooNewError, "a newer Lakebed has changed the KV store; upgrade this server"
        case apsw.ConnectionClosedError() | apsw.CursorClosedError():
            return StoreUnavailableError(f"the KV store is closed; open a new one: {path}")
        case _:
            text = "the KV store failed; check its file and disk, then try again"
    return kind(f"{text} ({type(error).__name__}: {error}): {path}", public_message=text)


MOUNTS: Final = Path("/proc/self/mountinfo")

# 9p and virtiofs are missing on purpose: they are the root file system of containers and virtual machines
_NETWORK: Final = frozenset({
    "afs", "beegfs", "ceph", "cifs", "davfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "orangefs", "pvfs2", "smb2", "smb3", "smbfs",
})  # fmt: skip
_NETWORK_FUSE: Final = frozenset({
    "blobfuse", "blobfuse2", "ceph-fuse", "curlftpfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "juicefs",
    "moosefs", "mount-s3", "rclone", "s3fs", "seaweedfs", "sshfs",
})  # fmt: skip


def network_file_system(directory: Path, mounts: Path | None = None) -> str:
    """The type of a file system that several machines mount, such as `nfs4`; empty for others and unknown ones."""
    try:
        lines = (mounts or MOUNTS).read_text(errors="replace").splitlines()
    except OSError:
        return ""  # not Linux
    device = os.stat(directory).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        # 36 35 98:0 /subtree /mountpoint rw,noatime shared:1 - nfs4 host:/export rw
        mount, _, what = line.partition(" - ")
        if mount.split(" ")[2:3] == [wanted]:
            kind = what.split(" ")[0]
            return kind if _is_network(kind) else ""
    return ""


def _is_network(kind: str) -> bool:
    name = kind.removeprefix("fuse.")
    return kind in _NETWORK or (name != kind and name in _NETWORK_FUSE)
