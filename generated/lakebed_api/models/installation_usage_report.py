# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.usage_report import UsageReport


T = TypeVar("T", bound="InstallationUsageReport")


@_attrs_define
class InstallationUsageReport:
    """The requests by month.

    Attributes:
        installation_id (str): The id of the installation: all servers that share one database.
        reports (list[UsageReport]): The months in chronological order.
    """

    installation_id: str
    reports: list[UsageReport]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        installation_id = self.installation_id

        reports = []
        for reports_item_data in self.reports:
            reports_item = reports_item_data.to_dict()
            reports.append(reports_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "installation_id": installation_id,
                "reports": reports,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.usage_report import UsageReport

        d = dict(src_dict)
        installation_id = d.pop("installation_id")

        reports = []
        _reports = d.pop("reports")
        for reports_item_data in _reports:
            reports_item = UsageReport.from_dict(reports_item_data)

            reports.append(reports_item)

        installation_usage_report = cls(
            installation_id=installation_id,
            reports=reports,
        )

        installation_usage_report.additional_properties = d
        return installation_usage_report

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
