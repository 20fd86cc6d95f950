# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="IngestRequest")


@_attrs_define
class IngestRequest:
    """Objects of another store, and the folder where they appear.

    Attributes:
        source (str): The folder of the objects: `s3://bucket/folder/`.
        prefix (str | Unset): The folder in the repository. The root when absent or empty.
        include (list[str] | Unset): Globs with the syntax of .gitignore files, for the part of the address after
            `source`. All objects when absent or empty.
        exclude (list[str] | Unset): Globs of objects, and of paths below `prefix`, to skip. They override `include`.
        settle (int | Unset): Skip objects that are younger than this number of seconds.
        keep_removed (bool | Unset): Keep paths that do not exist in `source`. Default: False.
        after (str | Unset): The `next_offset` of the previous page.
        amount (int | Unset): Compare at most this many paths. 100000 when absent.
        changes_amount (int | Unset): List at most this many changes, then end the page. None when absent.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    source: str
    prefix: str | Unset = UNSET
    include: list[str] | Unset = UNSET
    exclude: list[str] | Unset = UNSET
    settle: int | Unset = UNSET
    keep_removed: bool | Unset = False
    after: str | Unset = UNSET
    amount: int | Unset = UNSET
    changes_amount: int | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source = self.source

        prefix = self.prefix

        include: list[str] | Unset = UNSET
        if not isinstance(self.include, Unset):
            include = self.include

        exclude: list[str] | Unset = UNSET
        if not isinstance(self.exclude, Unset):
            exclude = self.exclude

        settle = self.settle

        keep_removed = self.keep_removed

        after = self.after

        amount = self.amount

        changes_amount = self.changes_amount

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
            }
        )
        if prefix is not UNSET:
            field_dict["prefix"] = prefix
        if include is not UNSET:
            field_dict["include"] = include
        if exclude is not UNSET:
            field_dict["exclude"] = exclude
        if settle is not UNSET:
            field_dict["settle"] = settle
        if keep_removed is not UNSET:
            field_dict["keep_removed"] = keep_removed
        if after is not UNSET:
            field_dict["after"] = after
        if amount is not UNSET:
            field_dict["amount"] = amount
        if changes_amount is not UNSET:
            field_dict["changes_amount"] = changes_amount
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        source = d.pop("source")

        prefix = d.pop("prefix", UNSET)

        include = cast(list[str], d.pop("include", UNSET))

        exclude = cast(list[str], d.pop("exclude", UNSET))

        settle = d.pop("settle", UNSET)

        keep_removed = d.pop("keep_removed", UNSET)

        after = d.pop("after", UNSET)

        amount = d.pop("amount", UNSET)

        changes_amount = d.pop("changes_amount", UNSET)

        force = d.pop("force", UNSET)

        ingest_request = cls(
            source=source,
            prefix=prefix,
            include=include,
            exclude=exclude,
            settle=settle,
            keep_removed=keep_removed,
            after=after,
            amount=amount,
            changes_amount=changes_amount,
            force=force,
        )

        ingest_request.additional_properties = d
        return ingest_request

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
