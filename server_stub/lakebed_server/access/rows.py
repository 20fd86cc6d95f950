"""Groups, policies and their relations as rows in partition `auth` of the KV store.

Rows are JSON, keys are text. Ids contain no slash (`check_id`), so a slash separates them:

    users/U, groups/G, policies/P      one row for each (a user's row is `auth.records.User`)
    members/G/U, groups-of/U/G         a membership, from both sides
    attached/user/U/P, used-by/P/user/U, and the same with group/G
                                       an attachment, from both sides
    keys-of/U/ACCESS_KEY_ID            an access key of a user (`auth.records`)
    external/HASH, external-of/U/HASH  the identity of a user at a provider (`signin.identity`), from both sides
    changes/ID                         a change of any of these (`auth.records.Change`). ID is its epoch, with 16 digits
    epoch                              the number of changes. Each change checks and increments it, except those of keys
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

import msgspec

from lakebed_server.vocabulary import bad_request

LONGEST_ID: Final = 256
"""The largest number of bytes of the id of a user, group or policy."""

_NOT_IN_IDS: Final = re.compile(r"[/%\x00-\x1f\x7f]")


class Group(msgspec.Struct, frozen=True):
    """A group. `created` is in Unix seconds. A group that is `deleting` gives nothing to its members."""

    id: str
    created: int
    description: str = ""
    deleting: bool = False


class StoredPolicy(msgspec.Struct, frozen=True):
    """A policy. `statement` is JSON as it was sent. `created` is in Unix seconds."""

    id: str
    created: int
    statement: msgspec.Raw
    deleting: bool = False


class Holder(NamedTuple):
    """What a policy is attached to."""

    kind: Literal["user", "group"]
    id: str

    @property
    def row(self) -> str:
        """The key of the user's or group's own row."""
        return f"{self.kind}s/{self.id}"

    def attached(self, policy: str = "") -> str:
        """The key of an attachment. Without a policy, the prefix of all attachments."""
        return f"attached/{self.kind}/{self.id}/{policy}"


def used_by(policy: str, holder: Holder | None = None) -> str:
    """The key of an attachment from the side of the policy. Without a holder, the prefix of all."""
    return f"used-by/{policy}/" + ("" if holder is None else f"{holder.kind}/{holder.id}")


def check_id(what: str, id: str) -> str:
    """The id of a user, group or policy. Raises RequestError (400)."""
    if not id or id != id.strip():
        raise bad_request(f"the id of a {what} must not be empty, and must not begin or end with a space: got {id!r}")
    if len(id.encode()) > LONGEST_ID:
        raise bad_request(f"the id of a {what} has {len(id.encode())} bytes: at most {LONGEST_ID}")
    if _NOT_IN_IDS.search(id) is not None or id in (".", ".."):
        raise bad_request(f"the id of a {what} must not contain a slash, % or control characters: got {id!r}")
    return id
