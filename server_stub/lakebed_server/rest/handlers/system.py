"""Health, configuration and set-up state. One function per operation (`handlers`)."""

from __future__ import annotations

import re
from typing import Final

from lakebed_engine.vocabulary.direct_writes import CLOUD_SCHEMES
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.auth.tokens import cookie_name
from lakebed_server.http.request import Call, Installation, InstalledStore
from lakebed_server.http.responses import Reply, empty, json

API_LEVEL: Final = "1.60.0"
"""The level of the lakeFS API that clients test: dotted whole numbers, which lakefs-spec parses as integers. Lakebed's
version is in the `Server` header. The edition (`version_context`) is empty, or lakectl warns before every command.
"""


_TYPES: Final = {"az": "azure"}
"""The types of stores whose name at clients differs from their scheme: these send a header for `azure`."""


async def health_check(call: Call, p: ops.HealthCheckParams) -> Reply:
    """healthCheck."""
    return empty()


async def get_config(call: Call, p: ops.GetConfigParams) -> Reply:
    """getConfig."""
    config = models.Config(
        version_config=_version(),
        storage_config=_storage(call.services.installation),
        storage_config_list=_stores(call.services.installation),
        ui_config=models.UIConfig(custom_viewers=[]),
        capabilities_config=models.CapabilitiesConfig(
            workspaces=True, presigned_uploads=call.services.installation.presign
        ),
    )
    return json(200, config)


async def get_lakefs_version(call: Call, p: ops.GetLakeFSVersionParams) -> Reply:
    """getLakeFSVersion."""
    return json(200, _version())


async def get_storage_config(call: Call, p: ops.GetStorageConfigParams) -> Reply:
    """getStorageConfig."""
    return json(200, _storage(call.services.installation))


async def get_usage_report_summary(call: Call, p: ops.GetUsageReportSummaryParams) -> Reply:
    """getUsageReportSummary."""
    installation, months = await call.services.authenticator.usage_report()
    reports = [models.UsageReport(year=one.year, month=one.month, count=one.requests) for one in months]
    return json(200, models.InstallationUsageReport(installation_id=installation, reports=reports))


async def post_stats_events(call: Call, p: ops.PostStatsEventsParams, body: models.StatsEventsList) -> Reply:
    """postStatsEvents. Discards them."""
    return empty()


async def get_setup_state(call: Call, p: ops.GetSetupStateParams) -> Reply:
    """getSetupState. The first start sets everything up, so the answer does not change."""
    has_passwords = call.services.check_password is not None
    login_path = call.services.login_path
    login = models.LoginConfig(
        RBAC="none" if call.services.permissions is None else "external",  # the Java client knows no "internal"
        login_url=login_path,
        login_url_method="select" if login_path else "none",
        login_cookie_names=[cookie_name(https=call.https)],
        logout_url="/logout" if login_path else "",
        username_ui_placeholder="User name" if has_passwords else "Access Key ID",
        password_ui_placeholder="Password" if has_passwords else "Secret Access Key",
        login_failed_message=(
            "The user name or the password is wrong."
            if has_passwords
            else "The access key id or the secret access key is wrong."
        ),
    )
    return json(200, models.SetupState(state="initialized", comm_prefs_missing=False, login_config=login))


def _version() -> models.VersionConfig:
    return models.VersionConfig(
        version=API_LEVEL, version_context="", latest_version=API_LEVEL, upgrade_recommended=False, upgrade_url=""
    )


def _stores(installation: Installation) -> list[models.StorageConfig]:
    """All stores, the default one first. Empty when there is only that one."""
    if not installation.stores:
        return []
    return [_storage(installation), *(_named(one) for one in installation.stores)]


def _named(store: InstalledStore) -> models.StorageConfig:
    imports = "|".join(map(re.escape, store.imports))
    return models.StorageConfig(
        blockstore_type=_TYPES.get(store.scheme, store.scheme),
        blockstore_namespace_example=f"{store.namespace_prefix}/example",
        blockstore_namespace_ValidityRegex=f"^{store.scheme}://",
        default_namespace_prefix=store.namespace_prefix,
        pre_sign_support=store.signs,
        pre_sign_support_ui=store.signs,
        import_support=bool(store.imports),
        import_validity_regex=f"^({imports})" if imports else "^$",
        pre_sign_multipart_upload=store.signs,
        blockstore_id=store.id,
        blockstore_description=store.description,
    )


def _storage(installation: Installation) -> models.StorageConfig:
    schemes = [name for name, on in (("local", installation.local), ("mem", installation.memory)) if on]
    schemes += CLOUD_SCHEMES if installation.cloud else ()
    first = schemes[0] if schemes else "mem"
    # clients ask once and apply it to every repository, so it is true only if all stores presign
    signs = installation.presign and installation.cloud and not (installation.local or installation.memory)
    signs = signs and not installation.signed_headers and all(one.signs for one in installation.stores)
    return models.StorageConfig(
        blockstore_type=first,
        blockstore_namespace_example=f"{installation.default_namespace_prefix or first + '://bucket'}/example",
        blockstore_namespace_ValidityRegex=f"^({'|'.join(schemes)})://",
        default_namespace_prefix=installation.default_namespace_prefix,
        pre_sign_support=signs,
        pre_sign_support_ui=signs,
        import_support=bool(installation.imports),
        import_validity_regex=f"^({'|'.join(map(re.escape, installation.imports))})" if installation.imports else "^$",
        pre_sign_multipart_upload=signs,
        blockstore_id="",
        blockstore_description="",
    )
