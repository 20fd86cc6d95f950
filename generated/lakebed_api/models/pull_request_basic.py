# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.pull_request_status import PullRequestStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pull_request_auto_merge import PullRequestAutoMerge


T = TypeVar("T", bound="PullRequestBasic")


@_attrs_define
class PullRequestBasic:
    """New values of some fields of a pull request.

    Attributes:
        title (str | Unset): The title.
        description (str | Unset): The text, in CommonMark.
        status (PullRequestStatus | Unset): `open` or `closed`. The server refuses `merged`.
        draft (bool | Unset): Whether the pull request is a draft, which cannot be merged. Lakebed only.
        reviewers (list[str] | Unset): Ids of users, and ids of groups with a leading `@`.
        auto_merge (PullRequestAutoMerge | Unset): Auto-merge: the server merges the pull request on behalf of the user
            as soon as all requirements are met. Lakebed only.
    """

    title: str | Unset = UNSET
    description: str | Unset = UNSET
    status: PullRequestStatus | Unset = UNSET
    draft: bool | Unset = UNSET
    reviewers: list[str] | Unset = UNSET
    auto_merge: PullRequestAutoMerge | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        description = self.description

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        draft = self.draft

        reviewers: list[str] | Unset = UNSET
        if not isinstance(self.reviewers, Unset):
            reviewers = self.reviewers

        auto_merge: dict[str, Any] | Unset = UNSET
        if not isinstance(self.auto_merge, Unset):
            auto_merge = self.auto_merge.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if title is not UNSET:
            field_dict["title"] = title
        if description is not UNSET:
            field_dict["description"] = description
        if status is not UNSET:
            field_dict["status"] = status
        if draft is not UNSET:
            field_dict["draft"] = draft
        if reviewers is not UNSET:
            field_dict["reviewers"] = reviewers
        if auto_merge is not UNSET:
            field_dict["auto_merge"] = auto_merge

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pull_request_auto_merge import PullRequestAutoMerge

        d = dict(src_dict)
        title = d.pop("title", UNSET)

        description = d.pop("description", UNSET)

        _status = d.pop("status", UNSET)
        status: PullRequestStatus | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = PullRequestStatus(_status)

        draft = d.pop("draft", UNSET)

        reviewers = cast(list[str], d.pop("reviewers", UNSET))

        _auto_merge = d.pop("auto_merge", UNSET)
        auto_merge: PullRequestAutoMerge | Unset
        if isinstance(_auto_merge, Unset):
            auto_merge = UNSET
        else:
            auto_merge = PullRequestAutoMerge.from_dict(_auto_merge)

        pull_request_basic = cls(
            title=title,
            description=description,
            status=status,
            draft=draft,
            reviewers=reviewers,
            auto_merge=auto_merge,
        )

        pull_request_basic.additional_properties = d
        return pull_request_basic

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
