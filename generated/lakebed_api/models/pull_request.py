# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pull_request_auto_merge import PullRequestAutoMerge


T = TypeVar("T", bound="PullRequest")


@_attrs_define
class PullRequest:
    """A pull request: a proposal to merge one branch into another.

    Attributes:
        id (str): The id: 20 characters, each from 0-9 or a-v.
        status (str): `open`, `closed` or `merged`.
        title (str): The title.
        description (str): The text, in CommonMark.
        author (str): The e-mail address of the author, or the id of the user.
        source_branch (str): The branch to merge.
        destination_branch (str): The branch to merge into.
        creation_date (datetime.datetime): When the pull request was opened.
        author_id (str | Unset): The id of the user. Lakebed only.
        closed_date (datetime.datetime | Unset): When the pull request was closed or merged.
        merged_commit_id (str | Unset): The id of the merge commit.
        source_commit_id (str | Unset): The head of the source when the pull request ended. Lakebed only.
        draft (bool | Unset): Whether the pull request is a draft, which cannot be merged. Lakebed only.
        reviewers (list[str] | Unset): Requested reviewers: ids of users, and of groups with a leading `@`. Lakebed
            only.
        auto_merge (PullRequestAutoMerge | Unset): Auto-merge: the server merges the pull request on behalf of the user
            as soon as all requirements are met. Lakebed only.
    """

    id: str
    status: str
    title: str
    description: str
    author: str
    source_branch: str
    destination_branch: str
    creation_date: datetime.datetime
    author_id: str | Unset = UNSET
    closed_date: datetime.datetime | Unset = UNSET
    merged_commit_id: str | Unset = UNSET
    source_commit_id: str | Unset = UNSET
    draft: bool | Unset = UNSET
    reviewers: list[str] | Unset = UNSET
    auto_merge: PullRequestAutoMerge | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        status = self.status

        title = self.title

        description = self.description

        author = self.author

        source_branch = self.source_branch

        destination_branch = self.destination_branch

        creation_date = self.creation_date.isoformat()

        author_id = self.author_id

        closed_date: str | Unset = UNSET
        if not isinstance(self.closed_date, Unset):
            closed_date = self.closed_date.isoformat()

        merged_commit_id = self.merged_commit_id

        source_commit_id = self.source_commit_id

        draft = self.draft

        reviewers: list[str] | Unset = UNSET
        if not isinstance(self.reviewers, Unset):
            reviewers = self.reviewers

        auto_merge: dict[str, Any] | Unset = UNSET
        if not isinstance(self.auto_merge, Unset):
            auto_merge = self.auto_merge.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "title": title,
                "description": description,
                "author": author,
                "source_branch": source_branch,
                "destination_branch": destination_branch,
                "creation_date": creation_date,
            }
        )
        if author_id is not UNSET:
            field_dict["author_id"] = author_id
        if closed_date is not UNSET:
            field_dict["closed_date"] = closed_date
        if merged_commit_id is not UNSET:
            field_dict["merged_commit_id"] = merged_commit_id
        if source_commit_id is not UNSET:
            field_dict["source_commit_id"] = source_commit_id
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
        id = d.pop("id")

        status = d.pop("status")

        title = d.pop("title")

        description = d.pop("description")

        author = d.pop("author")

        source_branch = d.pop("source_branch")

        destination_branch = d.pop("destination_branch")

        creation_date = datetime.datetime.fromisoformat(d.pop("creation_date"))

        author_id = d.pop("author_id", UNSET)

        _closed_date = d.pop("closed_date", UNSET)
        closed_date: datetime.datetime | Unset
        if isinstance(_closed_date, Unset):
            closed_date = UNSET
        else:
            closed_date = datetime.datetime.fromisoformat(_closed_date)

        merged_commit_id = d.pop("merged_commit_id", UNSET)

        source_commit_id = d.pop("source_commit_id", UNSET)

        draft = d.pop("draft", UNSET)

        reviewers = cast(list[str], d.pop("reviewers", UNSET))

        _auto_merge = d.pop("auto_merge", UNSET)
        auto_merge: PullRequestAutoMerge | Unset
        if isinstance(_auto_merge, Unset):
            auto_merge = UNSET
        else:
            auto_merge = PullRequestAutoMerge.from_dict(_auto_merge)

        pull_request = cls(
            id=id,
            status=status,
            title=title,
            description=description,
            author=author,
            source_branch=source_branch,
            destination_branch=destination_branch,
            creation_date=creation_date,
            author_id=author_id,
            closed_date=closed_date,
            merged_commit_id=merged_commit_id,
            source_commit_id=source_commit_id,
            draft=draft,
            reviewers=reviewers,
            auto_merge=auto_merge,
        )

        pull_request.additional_properties = d
        return pull_request

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
