# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="LoginConfig")


@_attrs_define
class LoginConfig:
    """How users log in through a user interface.

    Attributes:
        login_url (str): The login page: `/oidc/login` or `/saml/login`. Empty if users log in with the form of the
            server.
        login_cookie_names (list[str]): The cookies that contain a session.
        logout_url (str): The logout page.
        rbac (str | Unset): How access is controlled.
        username_ui_placeholder (str | Unset): Placeholder of the user field.
        password_ui_placeholder (str | Unset): Placeholder of the password field.
        login_url_method (str | Unset): How the user interface opens `login_url`.
        login_failed_message (str | Unset): The message after a failed login.
        fallback_login_url (str | Unset): Another login page.
        fallback_login_label (str | Unset): The label of the other login page.
    """

    login_url: str
    login_cookie_names: list[str]
    logout_url: str
    rbac: str | Unset = UNSET
    username_ui_placeholder: str | Unset = UNSET
    password_ui_placeholder: str | Unset = UNSET
    login_url_method: str | Unset = UNSET
    login_failed_message: str | Unset = UNSET
    fallback_login_url: str | Unset = UNSET
    fallback_login_label: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        login_url = self.login_url

        login_cookie_names = self.login_cookie_names

        logout_url = self.logout_url

        rbac = self.rbac

        username_ui_placeholder = self.username_ui_placeholder

        password_ui_placeholder = self.password_ui_placeholder

        login_url_method = self.login_url_method

        login_failed_message = self.login_failed_message

        fallback_login_url = self.fallback_login_url

        fallback_login_label = self.fallback_login_label

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "login_url": login_url,
                "login_cookie_names": login_cookie_names,
                "logout_url": logout_url,
            }
        )
        if rbac is not UNSET:
            field_dict["RBAC"] = rbac
        if username_ui_placeholder is not UNSET:
            field_dict["username_ui_placeholder"] = username_ui_placeholder
        if password_ui_placeholder is not UNSET:
            field_dict["password_ui_placeholder"] = password_ui_placeholder
        if login_url_method is not UNSET:
            field_dict["login_url_method"] = login_url_method
        if login_failed_message is not UNSET:
            field_dict["login_failed_message"] = login_failed_message
        if fallback_login_url is not UNSET:
            field_dict["fallback_login_url"] = fallback_login_url
        if fallback_login_label is not UNSET:
            field_dict["fallback_login_label"] = fallback_login_label

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        login_url = d.pop("login_url")

        login_cookie_names = cast(list[str], d.pop("login_cookie_names"))

        logout_url = d.pop("logout_url")

        rbac = d.pop("RBAC", UNSET)

        username_ui_placeholder = d.pop("username_ui_placeholder", UNSET)

        password_ui_placeholder = d.pop("password_ui_placeholder", UNSET)

        login_url_method = d.pop("login_url_method", UNSET)

        login_failed_message = d.pop("login_failed_message", UNSET)

        fallback_login_url = d.pop("fallback_login_url", UNSET)

        fallback_login_label = d.pop("fallback_login_label", UNSET)

        login_config = cls(
            login_url=login_url,
            login_cookie_names=login_cookie_names,
            logout_url=logout_url,
            rbac=rbac,
            username_ui_placeholder=username_ui_placeholder,
            password_ui_placeholder=password_ui_placeholder,
            login_url_method=login_url_method,
            login_failed_message=login_failed_message,
            fallback_login_url=fallback_login_url,
            fallback_login_label=fallback_login_label,
        )

        login_config.additional_properties = d
        return login_config

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
