"""Calls about the server itself and about the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, reads
from lakebed._values.wire import Answer, Call, Subject
from lakebed.model import ServerInfo, User

_DONE: Final = tuple(range(200, 300))


def health() -> Call[None]:
    """Return whether the server responds."""
    from lakebed_api.api.system import health_check

    return call("healthCheck", health_check._get_kwargs(), calls.nothing, Subject(), success=204)


def version() -> Call[str]:
    """The API level of the server, such as `1.60.0`."""
    from lakebed_api.api.system import get_config
    from lakebed_api.models import Config

    def read(config: Config) -> str:
        return convert.text(config.version_config.version, "") if config.version_config else ""

    return call("getConfig", get_config._get_kwargs(), reads(Config.from_dict, read), Subject())


def info() -> Call[ServerInfo]:
    """Return the server's description."""
    from lakebed_api.api.system import get_config
    from lakebed_api.models import Config

    return call("getConfig", get_config._get_kwargs(), reads(Config.from_dict, convert.server), Subject())


def is_set_up() -> Call[bool]:
    """Return whether the server has an administrator."""
    from lakebed_api.api.system import get_setup_state
    from lakebed_api.models import SetupState

    parse = reads(SetupState.from_dict, lambda found: convert.text(found.state) == "initialized")
    return call("getSetupState", get_setup_state._get_kwargs(), parse, Subject())


def plain(method: str, path: str, params: Mapping[str, Any], body: Any) -> Call[Answer]:
    """Any request. Its effect is unknown, so the SDK repeats it only if it reads."""
    return Call(
        operation=f"{method} {path}",
        method=method,
        url=path,
        parse=lambda answer: Answer(answer.status, dict(answer.headers), answer.content),
        success=_DONE,
        repeat="safe" if method in ("GET", "HEAD") else "unsent",
        params=params,
        json=body,
        headers={"Accept": "*/*"},
        slow=True,
    )


def user() -> Call[User]:
    """Return the calling user."""
    from lakebed_api.api.auth import get_current_user
    from lakebed_api.models import CurrentUser

    kwargs = get_current_user._get_kwargs()
    return call("getCurrentUser", kwargs, reads(CurrentUser.from_dict, lambda row: convert.user(row.user)), Subject())
