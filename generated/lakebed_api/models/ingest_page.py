# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.diff import Diff


T = TypeVar("T", bound="IngestPage")


@_attrs_define
class IngestPage:
    """One page of an ingest.

    Attributes:
        base_commit_id (str): The commit that the objects were compared with.
        has_more (bool): Whether there is another page.
        next_offset (str): The value of `after` for the next page. Empty on the last page.
        listed (int): The number of objects in the source.
        added (int): The number of new paths.
        changed (int): The number of paths with other content.
        removed (int): The number of paths that do not exist in the source.
        unchanged (int): The number of unchanged objects.
        waiting (int): The number of objects that are younger than `settle`.
        ignored (int): The number of objects that the globs exclude.
        results (list[Diff]): The changes, if `changes_amount` is set.
    """

    base_commit_id: str
    has_more: bool
    next_offset: str
    listed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    waiting: int
    ignored: int
    results: list[Diff]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_commit_id = self.base_commit_id

        has_more = self.has_more

        next_offset = self.next_offset

        listed = self.listed

        added = self.added

        changed = self.changed

        removed = self.removed

        unchanged = self.unchanged

        waiting = self.waiting

        ignored = self.ignored

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "base_commit_id": base_commit_id,
                "has_more": has_more,
                "next_offset": next_offset,
                "listed": listed,
                "added": added,
                "changed": changed,
                "removed": removed,
                "unchanged": unchanged,
                "waiting": waiting,
                "ignored": ignored,
                "results": results,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.diff import Diff

        d = dict(src_dict)
        base_commit_id = d.pop("base_commit_id")

        has_more = d.pop("has_more")

        next_offset = d.pop("next_offset")

        listed = d.pop("listed")

        added = d.pop("added")

        changed = d.pop("changed")

        removed = d.pop("removed")

        unchanged = d.pop("unchanged")

        waiting = d.pop("waiting")

        ignored = d.pop("ignored")

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = Diff.from_dict(results_item_data)

            results.append(results_item)

        ingest_page = cls(
            base_commit_id=base_commit_id,
            has_more=has_more,
            next_offset=next_offset,
            listed=listed,
            added=added,
            changed=changed,
            removed=removed,
            unchanged=unchanged,
            waiting=waiting,
            ignored=ignored,
            results=results,
        )

        ingest_page.additional_properties = d
        return ingest_page

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
