# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestComment")


@_attrs_define
class PullRequestComment:
    """A comment.

    Attributes:
        id (int): The number of the comment in the timeline.
        body (str): The text, in CommonMark. Empty if the comment was deleted.
        author (str): The id of the user who wrote the comment.
        created_at (datetime.datetime): When the comment was written.
        resolved (bool): Whether the comment is marked as resolved.
        deleted (bool): Whether the comment was deleted.
        edited_at (datetime.datetime | Unset): When the text was last changed.
        path (str | Unset): The path that the comment is about.
        column (str | Unset): The column that the comment is about.
        row_key (str | Unset): The row that the comment is about.
        side (str | Unset): `left` or `right`.
        reply_to (int | Unset): The number of the comment that this comment replies to.
        commit_id (str | Unset): The id of the commit that the comment is about.
        resolved_by (str | Unset): The user who marked the comment as resolved.
    """

    id: int
    body: str
    author: str
    created_at: datetime.datetime
    resolved: bool
    deleted: bool
    edited_at: datetime.datetime | Unset = UNSET
    path: str | Unset = UNSET
    column: str | Unset = UNSET
    row_key: str | Unset = UNSET
    side: str | Unset = UNSET
    reply_to: int | Unset = UNSET
    commit_id: str | Unset = UNSET
    resolved_by: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        body = self.body

        author = self.author

        created_at = self.created_at.isoformat()

        resolved = self.resolved

        deleted = self.deleted

        edited_at: str | Unset = UNSET
        if not isinstance(self.edited_at, Unset):
            edited_at = self.edited_at.isoformat()

        path = self.path

        column = self.column

        row_key = self.row_key

        side = self.side

        reply_to = self.reply_to

        commit_id = self.commit_id

        resolved_by = self.resolved_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "body": body,
                "author": author,
                "created_at": created_at,
                "resolved": resolved,
                "deleted": deleted,
            }
        )
        if edited_at is not UNSET:
            field_dict["edited_at"] = edited_at
        if path is not UNSET:
            field_dict["path"] = path
        if column is not UNSET:
            field_dict["column"] = column
        if row_key is not UNSET:
            field_dict["row_key"] = row_key
        if side is not UNSET:
            field_dict["side"] = side
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if commit_id is not UNSET:
            field_dict["commit_id"] = commit_id
        if resolved_by is not UNSET:
            field_dict["resolved_by"] = resolved_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        body = d.pop("body")

        author = d.pop("author")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        resolved = d.pop("resolved")

        deleted = d.pop("deleted")

        _edited_at = d.pop("edited_at", UNSET)
        edited_at: datetime.datetime | Unset
        if isinstance(_edited_at, Unset):
            edited_at = UNSET
        else:
            edited_at = datetime.datetime.fromisoformat(_edited_at)

        path = d.pop("path", UNSET)

        column = d.pop("column", UNSET)

        row_key = d.pop("row_key", UNSET)

        side = d.pop("side", UNSET)

        reply_to = d.pop("reply_to", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        resolved_by = d.pop("resolved_by", UNSET)

        pull_request_comment = cls(
            id=id,
            body=body,
            author=author,
            created_at=created_at,
            resolved=resolved,
            deleted=deleted,
            edited_at=edited_at,
            path=path,
            column=column,
            row_key=row_key,
            side=side,
            reply_to=reply_to,
            commit_id=commit_id,
            resolved_by=resolved_by,
        )

        pull_request_comment.additional_properties = d
        return pull_request_comment

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
