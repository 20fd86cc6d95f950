# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.merge_rule import MergeRule
    from ..models.pull_request_merge_metadata import PullRequestMergeMetadata


T = TypeVar("T", bound="PullRequestMerge")


@_attrs_define
class PullRequestMerge:
    """How to merge a pull request. Lakebed only.

    Attributes:
        source_commit_id (str | Unset): The expected head of the source. The response is 409 if the source has another
            head.
        message (str | Unset): The commit message. The default is the title and the names of the branches.
        metadata (PullRequestMergeMetadata | Unset): Metadata keys and values.
        strategy (str | Unset): The side that wins every conflict: `dest-wins` or `source-wins`. When empty or absent,
            conflicts are errors.
        squash_merge (bool | Unset): Record the destination as the only parent. Default: False.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
        resolve (list[MergeRule] | Unset): Rules that choose the winning side by path. The first matching rule applies.
            If no rule matches, `strategy` applies.
    """

    source_commit_id: str | Unset = UNSET
    message: str | Unset = UNSET
    metadata: PullRequestMergeMetadata | Unset = UNSET
    strategy: str | Unset = UNSET
    squash_merge: bool | Unset = False
    force: bool | Unset = False
    resolve: list[MergeRule] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source_commit_id = self.source_commit_id

        message = self.message

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        strategy = self.strategy

        squash_merge = self.squash_merge

        force = self.force

        resolve: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.resolve, Unset):
            resolve = []
            for resolve_item_data in self.resolve:
                resolve_item = resolve_item_data.to_dict()
                resolve.append(resolve_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if source_commit_id is not UNSET:
            field_dict["source_commit_id"] = source_commit_id
        if message is not UNSET:
            field_dict["message"] = message
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if strategy is not UNSET:
            field_dict["strategy"] = strategy
        if squash_merge is not UNSET:
            field_dict["squash_merge"] = squash_merge
        if force is not UNSET:
            field_dict["force"] = force
        if resolve is not UNSET:
            field_dict["resolve"] = resolve

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.merge_rule import MergeRule
        from ..models.pull_request_merge_metadata import PullRequestMergeMetadata

        d = dict(src_dict)
        source_commit_id = d.pop("source_commit_id", UNSET)

        message = d.pop("message", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: PullRequestMergeMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = PullRequestMergeMetadata.from_dict(_metadata)

        strategy = d.pop("strategy", UNSET)

        squash_merge = d.pop("squash_merge", UNSET)

        force = d.pop("force", UNSET)

        _resolve = d.pop("resolve", UNSET)
        resolve: list[MergeRule] | Unset = UNSET
        if _resolve is not UNSET:
            resolve = []
            for resolve_item_data in _resolve:
                resolve_item = MergeRule.from_dict(resolve_item_data)

                resolve.append(resolve_item)

        pull_request_merge = cls(
            source_commit_id=source_commit_id,
            message=message,
            metadata=metadata,
            strategy=strategy,
            squash_merge=squash_merge,
            force=force,
            resolve=resolve,
        )

        pull_request_merge.additional_properties = d
        return pull_request_merge

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
