"""Maps errors of PostgreSQL and of the connection to errors of the KV store.

A DSN contains a password, so no message quotes one. Messages name a store by `place_of` its DSN.
"""

from __future__ import annotations

import re
from typing import Final

import asyncpg

from lakebed_engine.vocabulary.errors import (
    CorruptDataError,
    SchemaTooNewError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

_HOST: Final = r"(?:[\w.\-]+|\[[\da-fA-F:]+\])(?::\d+)?"
_DSN: Final = re.compile(
    rf"postgres(?:ql)?://(?:[^@/?#]*@)?(?P<host>(?:{_HOST})?(?:,{_HOST})*)(?:/(?P<database>[\w.\-]*))?(?:\?[^#@]*)?"
)
_SOCKET: Final = re.compile(r"[?&]host=(?P<host>[\w./\-]+)")

_DEADLOCKED: Final = frozenset({"40001", "40P01"})  # serialization failure, deadlock
_TOO_MANY_LOCKS: Final = "53200"
_TOO_MANY_CONNECTIONS: Final = "53300"
_SHUTTING_DOWN: Final = frozenset({"57P01", "57P02", "57P03", "57P05"})  # the last: a connection was idle for too long
_LATE: Final = frozenset({"55P03", "57014"})  # a lock, or the whole statement, took too long
_CHANGED: Final = frozenset({"42P01", "42883"})  # no such table, no such function: a migration has renamed it
_UNWRITABLE: Final = frozenset({"53100", "25006"})  # disk full, read-only transaction

_NEXT: Final = {
    "28P01": "it refused the user or password; correct kv.postgres.dsn",
    "28000": "it refused the user or password; correct kv.postgres.dsn",
    "3D000": "the database does not exist; create it or correct kv.postgres.dsn",
    "42501": "the user may not do this; grant it CREATE on the database, or the schema of kv.postgres.schema",
    _TOO_MANY_CONNECTIONS: "it has no free connection; raise its max_connections or lower kv.postgres.pool",
    _TOO_MANY_LOCKS: "it is out of memory or locks; raise its max_locks_per_transaction",
    **dict.fromkeys(_LATE, "a lock was held for too long, nothing was changed; try again"),
    **dict.fromkeys(_DEADLOCKED, "concurrent transactions conflicted each time, nothing was changed; try again"),
}


def place_of(dsn: str, schema: str) -> str:
    """The database of a DSN, for messages. Never contains a part of the password.

    `postgresql://me:secret@db.example:5432/lake` is `db.example:5432/lake (schema lakebed)`.
    """
    found = _DSN.fullmatch(dsn)
    socket = _SOCKET.search(dsn) if found and not found["host"] else None
    host = (socket or found or {"host": ""})["host"]
    database = (found["database"] or "") if found else ""
    return f"PostgreSQL at {host or 'the host of kv.postgres.dsn'}/{database} (schema {schema})"


def sqlstate(error: BaseException) -> str:
    """PostgreSQL's code in an error that it sent, or an empty text."""
    return str(error.sqlstate or "") if isinstance(error, asyncpg.PostgresError) else ""


def is_lost(error: BaseException) -> bool:
    """Whether the connection or the server was lost. The server may have executed the statement."""
    if isinstance(error, asyncpg.PostgresError):
        code = sqlstate(error)
        ended = getattr(error, "severity_en", None) or getattr(error, "severity", None)
        return code.startswith("08") or code in _SHUTTING_DOWN or ended in ("FATAL", "PANIC")
    if isinstance(error, ValueError):  # asyncpg raises it for an argument that it cannot encode
        return False
    return isinstance(error, OSError | TimeoutError | asyncpg.InterfaceError | asyncpg.InternalClientError)


def is_unsent(error: BaseException) -> bool:
    """Whether the end of a lost statement never left this machine. The server waits for it, so it has done nothing."""
    return isinstance(error.__cause__, BrokenPipeError)


def is_passing(error: BaseException) -> bool:
    """Whether connecting may work soon: nothing listens, the server is starting, or all connections are taken."""
    code = sqlstate(error)
    if code in _NEXT and code != _TOO_MANY_CONNECTIONS:
        return False
    return code == _TOO_MANY_CONNECTIONS or is_lost(error)


def is_worth_repeating(error: BaseException) -> bool:
    """Whether other transactions caused the rollback: deadlock, serialization failure, no room for its locks."""
    return sqlstate(error) in _DEADLOCKED or is_out_of_locks(error)


def is_out_of_locks(error: BaseException) -> bool:
    """Whether the table of locks is full."""
    return sqlstate(error) == _TOO_MANY_LOCKS


def is_everybodys(error: BaseException) -> bool:
    """Whether the state of the store caused the failure, so that each batch would also fail alone."""
    code = sqlstate(error)
    return code in _LATE or code in _UNWRITABLE or code in _CHANGED or code in _NEXT


def store_error(error: BaseException, place: str) -> StoreError:
    """The error to raise. Not for a lost response: only the caller knows whether that is OutcomeUnknownError."""
    code = sqlstate(error)
    kind: type[StoreError] = StoreUnavailableError
    if code in _UNWRITABLE:
        kind, text = (
            StoreFullError,
            "the KV store cannot be written, nothing was changed; free space or make it writable",
        )
    elif code in _CHANGED:
        kind, text = SchemaTooNewError, "a newer Lakebed has changed the KV store; upgrade this server"
    elif code.startswith("XX00") and code != "XX000":
        kind, text = CorruptDataError, "the KV store is damaged; restore it"
    elif code in _NEXT:
        text = f"the KV store failed: {_NEXT[code]}"
    elif is_lost(error):
        text = "the KV store does not answer; check that it is running, then try again"
    else:
        text = "the KV store failed"
    return kind(f"{text} ({_first_line(error)}): {place}", public_message=text)


def wrong_dsn() -> StoreError:
    """The error for a DSN that asyncpg cannot read. It omits asyncpg's message, which may quote the DSN."""
    return StoreUnavailableError(
        "kv.postgres.dsn is invalid; write postgresql://user:password@host:5432/database, with %-escapes"
    )


def closed(place: str) -> StoreError:
    """The error of every call after `close`."""
    return StoreUnavailableError(f"the KV store is closed; open a new one: {place}")


def _first_line(error: BaseException) -> str:
    text = str(error.args[0]) if error.args else ""
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
