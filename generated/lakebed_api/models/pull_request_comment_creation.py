# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.pull_request_comment_side import PullRequestCommentSide
from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestCommentCreation")


@_attrs_define
class PullRequestCommentCreation:
    """A comment to add. Without `path`, it is about the whole pull request.

    Attributes:
        body (str): The text, in CommonMark.
        path (str | Unset): The path of an object or of a table.
        column (str | Unset): A column of the table at the path.
        row_key (str | Unset): A row of the table at the path, identified by its key. The client chooses the format of
            the key.
        side (PullRequestCommentSide | Unset): `left` for the destination, `right` for the source.
        reply_to (int | Unset): The number of the comment to reply to.
        commit_id (str | Unset): The id of the commit that the comment is about. The head of the source when absent.
    """

    body: str
    path: str | Unset = UNSET
    column: str | Unset = UNSET
    row_key: str | Unset = UNSET
    side: PullRequestCommentSide | Unset = UNSET
    reply_to: int | Unset = UNSET
    commit_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        body = self.body

        path = self.path

        column = self.column

        row_key = self.row_key

        side: str | Unset = UNSET
        if not isinstance(self.side, Unset):
            side = self.side.value

        reply_to = self.reply_to

        commit_id = self.commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "body": body,
            }
        )
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        body = d.pop("body")

        path = d.pop("path", UNSET)

        column = d.pop("column", UNSET)

        row_key = d.pop("row_key", UNSET)

        _side = d.pop("side", UNSET)
        side: PullRequestCommentSide | Unset
        if isinstance(_side, Unset):
            side = UNSET
        else:
            side = PullRequestCommentSide(_side)

        reply_to = d.pop("reply_to", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        pull_request_comment_creation = cls(
            body=body,
            path=path,
            column=column,
            row_key=row_key,
            side=side,
            reply_to=reply_to,
            commit_id=commit_id,
        )

        pull_request_comment_creation.additional_properties = d
        return pull_request_comment_creation

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
