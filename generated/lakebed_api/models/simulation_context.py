# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SimulationContext")


@_attrs_define
class SimulationContext:
    """Properties of a request that conditions can test.

    Attributes:
        source_ip (str | Unset): The IP address of the client. When absent, the address of the client of this request.
        source (str | Unset): How the user signed in (`key`, `token`). When absent, the sign-in method of this request.
        branch (str | Unset): The branch that the request reads or writes.
        ref (str | Unset): The reference exactly as the client sends it.
    """

    source_ip: str | Unset = UNSET
    source: str | Unset = UNSET
    branch: str | Unset = UNSET
    ref: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source_ip = self.source_ip

        source = self.source

        branch = self.branch

        ref = self.ref

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if source_ip is not UNSET:
            field_dict["source_ip"] = source_ip
        if source is not UNSET:
            field_dict["source"] = source
        if branch is not UNSET:
            field_dict["branch"] = branch
        if ref is not UNSET:
            field_dict["ref"] = ref

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        source_ip = d.pop("source_ip", UNSET)

        source = d.pop("source", UNSET)

        branch = d.pop("branch", UNSET)

        ref = d.pop("ref", UNSET)

        simulation_context = cls(
            source_ip=source_ip,
            source=source,
            branch=branch,
            ref=ref,
        )

        simulation_context.additional_properties = d
        return simulation_context

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
