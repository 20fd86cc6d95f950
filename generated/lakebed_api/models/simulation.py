# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.simulation_context import SimulationContext


T = TypeVar("T", bound="Simulation")


@_attrs_define
class Simulation:
    """A permission to check.

    Attributes:
        action (str): An action such as `fs:WriteObject`.
        resource (str): The ARN of one resource, or `*` for actions without a single resource.
        user (str | Unset): The id of the user; the caller when absent.
        context (SimulationContext | Unset): Properties of a request that conditions can test.
    """

    action: str
    resource: str
    user: str | Unset = UNSET
    context: SimulationContext | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        resource = self.resource

        user = self.user

        context: dict[str, Any] | Unset = UNSET
        if not isinstance(self.context, Unset):
            context = self.context.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "resource": resource,
            }
        )
        if user is not UNSET:
            field_dict["user"] = user
        if context is not UNSET:
            field_dict["context"] = context

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.simulation_context import SimulationContext

        d = dict(src_dict)
        action = d.pop("action")

        resource = d.pop("resource")

        user = d.pop("user", UNSET)

        _context = d.pop("context", UNSET)
        context: SimulationContext | Unset
        if isinstance(_context, Unset):
            context = UNSET
        else:
            context = SimulationContext.from_dict(_context)

        simulation = cls(
            action=action,
            resource=resource,
            user=user,
            context=context,
        )

        simulation.additional_properties = d
        return simulation

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
