# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.login_config import LoginConfig


T = TypeVar("T", bound="SetupState")


@_attrs_define
class SetupState:
    """Whether the installation has been set up.

    Attributes:
        state (str | Unset): The setup state.
        comm_prefs_missing (bool | Unset): Always false.
        login_config (LoginConfig | Unset): How users log in through a user interface.
    """

    state: str | Unset = UNSET
    comm_prefs_missing: bool | Unset = UNSET
    login_config: LoginConfig | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state = self.state

        comm_prefs_missing = self.comm_prefs_missing

        login_config: dict[str, Any] | Unset = UNSET
        if not isinstance(self.login_config, Unset):
            login_config = self.login_config.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if state is not UNSET:
            field_dict["state"] = state
        if comm_prefs_missing is not UNSET:
            field_dict["comm_prefs_missing"] = comm_prefs_missing
        if login_config is not UNSET:
            field_dict["login_config"] = login_config

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.login_config import LoginConfig

        d = dict(src_dict)
        state = d.pop("state", UNSET)

        comm_prefs_missing = d.pop("comm_prefs_missing", UNSET)

        _login_config = d.pop("login_config", UNSET)
        login_config: LoginConfig | Unset
        if isinstance(_login_config, Unset):
            login_config = UNSET
        else:
            login_config = LoginConfig.from_dict(_login_config)

        setup_state = cls(
            state=state,
            comm_prefs_missing=comm_prefs_missing,
            login_config=login_config,
        )

        setup_state.additional_properties = d
        return setup_state

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
