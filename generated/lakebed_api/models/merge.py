# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.merge_metadata import MergeMetadata
    from ..models.merge_rule import MergeRule


T = TypeVar("T", bound="Merge")


@_attrs_define
class Merge:
    """How to merge.

    Attributes:
        message (str | Unset): The commit message. The default names the source and the destination.
        author (str | Unset): The id of another user to record as the committer. Needs `fs:CommitAs` on the branch. The
            commit metadata records the caller as `lakebed.committed_by`. Lakebed only.
        metadata (MergeMetadata | Unset): Metadata keys and values.
        strategy (str | Unset): The side that wins every conflict: `dest-wins` or `source-wins`. When empty or absent,
            conflicts are errors.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
        allow_empty (bool | Unset): Commit even if nothing changed. Default: False.
        squash_merge (bool | Unset): Record the destination as the only parent. Default: False.
        resolve (list[MergeRule] | Unset): Rules that choose the winning side by path. The first matching rule applies.
            If no rule matches, `strategy` applies. Lakebed only.
    """

    message: str | Unset = UNSET
    author: str | Unset = UNSET
    metadata: MergeMetadata | Unset = UNSET
    strategy: str | Unset = UNSET
    force: bool | Unset = False
    allow_empty: bool | Unset = False
    squash_merge: bool | Unset = False
    resolve: list[MergeRule] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        author = self.author

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        strategy = self.strategy

        force = self.force

        allow_empty = self.allow_empty

        squash_merge = self.squash_merge

        resolve: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.resolve, Unset):
            resolve = []
            for resolve_item_data in self.resolve:
                resolve_item = resolve_item_data.to_dict()
                resolve.append(resolve_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if message is not UNSET:
            field_dict["message"] = message
        if author is not UNSET:
            field_dict["author"] = author
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if strategy is not UNSET:
            field_dict["strategy"] = strategy
        if force is not UNSET:
            field_dict["force"] = force
        if allow_empty is not UNSET:
            field_dict["allow_empty"] = allow_empty
        if squash_merge is not UNSET:
            field_dict["squash_merge"] = squash_merge
        if resolve is not UNSET:
            field_dict["resolve"] = resolve

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.merge_metadata import MergeMetadata
        from ..models.merge_rule import MergeRule

        d = dict(src_dict)
        message = d.pop("message", UNSET)

        author = d.pop("author", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: MergeMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = MergeMetadata.from_dict(_metadata)

        strategy = d.pop("strategy", UNSET)

        force = d.pop("force", UNSET)

        allow_empty = d.pop("allow_empty", UNSET)

        squash_merge = d.pop("squash_merge", UNSET)

        _resolve = d.pop("resolve", UNSET)
        resolve: list[MergeRule] | Unset = UNSET
        if _resolve is not UNSET:
            resolve = []
            for resolve_item_data in _resolve:
                resolve_item = MergeRule.from_dict(resolve_item_data)

                resolve.append(resolve_item)

        merge = cls(
            message=message,
            author=author,
            metadata=metadata,
            strategy=strategy,
            force=force,
            allow_empty=allow_empty,
            squash_merge=squash_merge,
            resolve=resolve,
        )

        merge.additional_properties = d
        return merge

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
