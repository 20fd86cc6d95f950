# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.statement_reference import StatementReference


T = TypeVar("T", bound="SimulationResult")


@_attrs_define
class SimulationResult:
    """The result of a permission check.

    Attributes:
        allowed (bool): Whether the user may perform the action.
        effect (str): `neutral` means that no statement applies. The server then refuses the action.
        reason (str): The reason in one sentence.
        statement (StatementReference | Unset): The statement that determines the result.
    """

    allowed: bool
    effect: str
    reason: str
    statement: StatementReference | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allowed = self.allowed

        effect = self.effect

        reason = self.reason

        statement: dict[str, Any] | Unset = UNSET
        if not isinstance(self.statement, Unset):
            statement = self.statement.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "allowed": allowed,
                "effect": effect,
                "reason": reason,
            }
        )
        if statement is not UNSET:
            field_dict["statement"] = statement

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement_reference import StatementReference

        d = dict(src_dict)
        allowed = d.pop("allowed")

        effect = d.pop("effect")

        reason = d.pop("reason")

        _statement = d.pop("statement", UNSET)
        statement: StatementReference | Unset
        if isinstance(_statement, Unset):
            statement = UNSET
        else:
            statement = StatementReference.from_dict(_statement)

        simulation_result = cls(
            allowed=allowed,
            effect=effect,
            reason=reason,
            statement=statement,
        )

        simulation_result.additional_properties = d
        return simulation_result

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
