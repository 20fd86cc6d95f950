"""Calls about the server itself and about the caller."""

from __future__ import annotations

from lakebed._gateway import answers, convert
from lakebed._gateway._build import call, reads
from lakebed._wire import Call, Subject
from lakebed.model import User


def health() -> Call[None]:
    """Is the server up?"""
    from lakebed_api.api.system import health_check

    return call("healthCheck", health_check._get_kwargs(), answers.nothing, Subject(), success=204)


def version() -> Call[str]:
    """The API level of the server, such as `1.60.0`."""
    from lakebed_api.api.system import get_config
    from lakebed_api.models import Config

    def read(config: Config) -> str:
        return convert.text(config.version_config.version, "") if config.version_config else ""

    return call("getConfig", get_config._get_kwargs(), reads(Config.from_dict, read), Subject())


def user() -> Call[User]:
    """Who am I?"""
    from lakebed_api.api.auth import get_current_user
    from lakebed_api.models import CurrentUser

    kwargs = get_current_user._get_kwargs()
    return call("getCurrentUser", kwargs, reads(CurrentUser.from_dict, convert.user), Subject())
