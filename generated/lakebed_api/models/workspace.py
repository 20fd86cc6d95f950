# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Workspace")


@_attrs_define
class Workspace:
    """A workspace.

    Attributes:
        id (str): The id: 32 lower-case hexadecimal digits.
        name (str): The name of the workspace as a branch and as a reference: `main+ID`.
        branch (str): The branch that the workspace commits to.
        base_commit_id (str): The commit that the workspace is based on.
        state (str): The state. All states except `open` are final.
        storage_prefix (str): The prefix below which other tools may write objects. It ends with a slash. Append the
            path of the object. Each partial commit changes the prefix.
        creator (str): The user who created the workspace.
        creation_date (int): Creation time (Unix seconds).
        expires (int): Expiration time (Unix seconds). Renewing the workspace extends it.
        data_paths (list[str]): The data paths of this server, best first: `direct` with the client's own credentials or
            a shared directory, `presigned` with `createUploadUrls`, `proxied` with `uploadObject`.
        local_path (str | Unset): The directory of `storage_prefix`, with a trailing slash, for clients on a machine
            that can access the directory. Absent if the namespace is not a directory, or if the server does not share it
            (see `Repository`).
        message (str | Unset): The default commit message.
        claims (list[str] | Unset): Prefixes below which a concurrent change of the branch is a conflict.
        closed (int | Unset): When the workspace was closed (Unix seconds). Absent while it is open.
        commit_id (str | Unset): The id of the commit of the workspace. Absent while it is open.
    """

    id: str
    name: str
    branch: str
    base_commit_id: str
    state: str
    storage_prefix: str
    creator: str
    creation_date: int
    expires: int
    data_paths: list[str]
    local_path: str | Unset = UNSET
    message: str | Unset = UNSET
    claims: list[str] | Unset = UNSET
    closed: int | Unset = UNSET
    commit_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        branch = self.branch

        base_commit_id = self.base_commit_id

        state = self.state

        storage_prefix = self.storage_prefix

        creator = self.creator

        creation_date = self.creation_date

        expires = self.expires

        data_paths = self.data_paths

        local_path = self.local_path

        message = self.message

        claims: list[str] | Unset = UNSET
        if not isinstance(self.claims, Unset):
            claims = self.claims

        closed = self.closed

        commit_id = self.commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "branch": branch,
                "base_commit_id": base_commit_id,
                "state": state,
                "storage_prefix": storage_prefix,
                "creator": creator,
                "creation_date": creation_date,
                "expires": expires,
                "data_paths": data_paths,
            }
        )
        if local_path is not UNSET:
            field_dict["local_path"] = local_path
        if message is not UNSET:
            field_dict["message"] = message
        if claims is not UNSET:
            field_dict["claims"] = claims
        if closed is not UNSET:
            field_dict["closed"] = closed
        if commit_id is not UNSET:
            field_dict["commit_id"] = commit_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        branch = d.pop("branch")

        base_commit_id = d.pop("base_commit_id")

        state = d.pop("state")

        storage_prefix = d.pop("storage_prefix")

        creator = d.pop("creator")

        creation_date = d.pop("creation_date")

        expires = d.pop("expires")

        data_paths = cast(list[str], d.pop("data_paths"))

        local_path = d.pop("local_path", UNSET)

        message = d.pop("message", UNSET)

        claims = cast(list[str], d.pop("claims", UNSET))

        closed = d.pop("closed", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        workspace = cls(
            id=id,
            name=name,
            branch=branch,
            base_commit_id=base_commit_id,
            state=state,
            storage_prefix=storage_prefix,
            creator=creator,
            creation_date=creation_date,
            expires=expires,
            data_paths=data_paths,
            local_path=local_path,
            message=message,
            claims=claims,
            closed=closed,
            commit_id=commit_id,
        )

        workspace.additional_properties = d
        return workspace

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
