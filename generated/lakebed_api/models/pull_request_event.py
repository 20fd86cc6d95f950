# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pull_request_comment import PullRequestComment
    from ..models.pull_request_review import PullRequestReview


T = TypeVar("T", bound="PullRequestEvent")


@_attrs_define
class PullRequestEvent:
    """An entry of a timeline.

    Attributes:
        id (int): The number of the entry. 0 for a computed entry.
        type_ (str): The type of the entry. `text` contains the changed fields for `edited`, the name and state for
            `check`, and the reason for `auto_merge_stopped`. `reviewed` entries have `review`, and `commented` entries have
            `comment`.
        date (datetime.datetime): The time of the entry.
        actor (str): The id of the user. Empty for a push and for actions of the server.
        text (str | Unset): Details. The content depends on the type.
        commit_id (str | Unset): The merge commit for `merged`. Otherwise the head of the source at that time.
        review (PullRequestReview | Unset): A review of a pull request.
        comment (PullRequestComment | Unset): A comment.
    """

    id: int
    type_: str
    date: datetime.datetime
    actor: str
    text: str | Unset = UNSET
    commit_id: str | Unset = UNSET
    review: PullRequestReview | Unset = UNSET
    comment: PullRequestComment | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_

        date = self.date.isoformat()

        actor = self.actor

        text = self.text

        commit_id = self.commit_id

        review: dict[str, Any] | Unset = UNSET
        if not isinstance(self.review, Unset):
            review = self.review.to_dict()

        comment: dict[str, Any] | Unset = UNSET
        if not isinstance(self.comment, Unset):
            comment = self.comment.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
                "date": date,
                "actor": actor,
            }
        )
        if text is not UNSET:
            field_dict["text"] = text
        if commit_id is not UNSET:
            field_dict["commit_id"] = commit_id
        if review is not UNSET:
            field_dict["review"] = review
        if comment is not UNSET:
            field_dict["comment"] = comment

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pull_request_comment import PullRequestComment
        from ..models.pull_request_review import PullRequestReview

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        date = datetime.datetime.fromisoformat(d.pop("date"))

        actor = d.pop("actor")

        text = d.pop("text", UNSET)

        commit_id = d.pop("commit_id", UNSET)

        _review = d.pop("review", UNSET)
        review: PullRequestReview | Unset
        if isinstance(_review, Unset):
            review = UNSET
        else:
            review = PullRequestReview.from_dict(_review)

        _comment = d.pop("comment", UNSET)
        comment: PullRequestComment | Unset
        if isinstance(_comment, Unset):
            comment = UNSET
        else:
            comment = PullRequestComment.from_dict(_comment)

        pull_request_event = cls(
            id=id,
            type_=type_,
            date=date,
            actor=actor,
            text=text,
            commit_id=commit_id,
            review=review,
            comment=comment,
        )

        pull_request_event.additional_properties = d
        return pull_request_event

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
