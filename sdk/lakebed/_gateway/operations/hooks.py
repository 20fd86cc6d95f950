"""Calls about hooks: their runs, their calls after changes, and action files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, parser
from lakebed._values.wire import Answer, Call, Subject
from lakebed.model import (
    ActionRun,
    DeliveryAttempt,
    HookDelivery,
    HookRun,
    HookSettings,
    Page,
)

T = TypeVar("T")


def validate(name: str, content: str) -> Call[None]:
    """Check an action file."""
    kwargs = {"method": "post", "url": "/actions/validate", "json": {"name": name, "content": content}}
    return call("validateAction", kwargs, calls.nothing, Subject(), success=204, repeat="safe")


def runs_page(repository: str, branch: str, commit: str, after: str, amount: int) -> Call[Page[ActionRun]]:
    """One page of the runs of a repository."""
    params = clean(branch=branch, commit=commit, after=after, amount=amount)
    kwargs = {"method": "get", "url": _runs(repository), "params": params}
    parse = parser(lambda body: _page(body, _run, after))
    return call("listRepositoryRuns", kwargs, parse, Subject(repository))


def get(repository: str, id: str) -> Call[ActionRun]:
    """Describe a run."""
    return call("getRun", {"method": "get", "url": _runs(repository, id)}, parser(_run), Subject(repository))


def hooks_page(repository: str, id: str, skipped: bool, after: str, amount: int) -> Call[Page[HookRun]]:
    """One page of the hooks of a run."""
    params = clean(skipped="true" if skipped else "", after=after, amount=amount)
    kwargs = {"method": "get", "url": _runs(repository, id, "hooks"), "params": params}
    parse = parser(lambda body: convert.listing(body, _hook, after))
    return call("listRunHooks", kwargs, parse, Subject(repository))


def log(repository: str, id: str, hook_run: str) -> Call[bytes]:
    """The log of a hook. The generated client cannot return its bytes."""
    kwargs = {
        "method": "get",
        "url": _runs(repository, id, "hooks", hook_run, "output"),
        "headers": {"Accept": "*/*", "Accept-Encoding": "identity"},
    }
    return call("getRunHookOutput", kwargs, lambda answer: answer.content, Subject(repository))


def run(repository: str, event: str, ref: str, action: str, branch: str) -> Call[ActionRun]:
    """Run the actions of an event manually."""
    body = {"event": event, "ref": ref, **clean(action=action, branch=branch)}
    kwargs = {"method": "post", "url": _runs(repository), "json": body}
    return call("startActionRun", kwargs, parser(_run), Subject(repository, ref), success=201, slow=True)


def rerun(repository: str, id: str) -> Call[ActionRun]:
    """Run the actions of a run again."""
    kwargs = {"method": "post", "url": _runs(repository, id, "rerun")}
    return call("repeatActionRun", kwargs, parser(_run), Subject(repository), success=201, slow=True)


def deliveries_page(repository: str, after: str, amount: int) -> Call[Page[HookDelivery]]:
    """One page of the waiting deliveries, then of the failed ones."""
    url = f"/repositories/{calls.segment(repository)}/actions/deliveries"
    kwargs = {"method": "get", "url": url, "params": clean(after=after, amount=amount)}
    parse = parser(lambda body: _page(body, _delivery, after))
    return call("listHookDeliveries", kwargs, parse, Subject(repository))


def redeliver(repository: str, id: str) -> Call[HookDelivery]:
    """Make a failed delivery due again."""
    url = f"/repositories/{calls.segment(repository)}/actions/deliveries/{calls.segment(id)}/redeliver"
    return call("redeliverHook", {"method": "post", "url": url}, parser(_delivery), Subject(repository))


def settings(repository: str) -> Call[HookSettings]:
    """The action files of the settings, and their ETag."""

    def read(answer: Answer) -> HookSettings:
        sent = calls.json_of(answer)["actions"]
        actions = {name: convert.text(content) for name, content in sent.items()}
        return HookSettings(actions, answer.headers.get("etag", ""))

    return call("getHookSettings", {"method": "get", "url": _settings(repository)}, read, Subject(repository))


def set_settings(repository: str, actions: Mapping[str, str], *, etag: str | None) -> Call[None]:
    """Replace the action files of the settings. A repeat has no effect, unless `etag` names the settings that must be
    present.
    """
    kwargs = {
        "method": "put",
        "url": _settings(repository),
        "json": {"actions": dict(actions)},
        "headers": {} if etag is None else {"If-Match": etag or '""'},
    }
    repeat: Any = "safe" if etag is None else "unsent"
    return call("setHookSettings", kwargs, calls.nothing, Subject(repository), success=204, repeat=repeat)


def _runs(repository: str, *parts: str) -> str:
    return "/".join(("/repositories", calls.segment(repository), "actions/runs", *map(calls.segment, parts)))


def _settings(repository: str) -> str:
    return f"/repositories/{calls.segment(repository)}/settings/hooks"


def _run(row: Mapping[str, Any]) -> ActionRun:
    return ActionRun(
        id=convert.text(row["run_id"]),
        event=convert.text(row["event_type"]),
        state=_state(row),
        branch=convert.text(row["branch"]),
        commit_id=convert.text(row["commit_id"]),
        started=convert.time(row["start_time"]),
        ended=convert.optional_time(row.get("end_time")),
        message=convert.optional_text(row, "message"),
        user=convert.optional_text(row, "user"),
        tag=convert.optional_text(row, "tag"),
        source_ref=convert.optional_text(row, "source_ref"),
        delivery_id=convert.optional_text(row, "delivery_id"),
        rerun_of=convert.optional_text(row, "rerun_of"),
    )


def _hook(row: Mapping[str, Any]) -> HookRun:
    return HookRun(
        id=convert.text(row["hook_run_id"]),
        action=convert.text(row["action"]),
        hook_id=convert.text(row["hook_id"]),
        state=_state(row),
        started=convert.time(row["start_time"]),
        ended=convert.optional_time(row.get("end_time")),
        type=convert.optional_text(row, "type"),
        message=convert.optional_text(row, "message"),
        details=tuple(dict(one) for one in row.get("details") or ()),
    )


def _state(row: Mapping[str, Any]) -> str:
    """The state. For a server that sends only a status, the nearest state."""
    status = convert.text(row["status"])
    return convert.optional_text(row, "state") or {"completed": "passed", "failed": "refused"}.get(status, status)


def _page(body: Mapping[str, Any], row: Callable[[Mapping[str, Any]], T], after: str) -> Page[T]:
    """A page of a search: it may be empty although another one follows."""
    return Page(tuple(map(row, body["results"])), convert.following(body["pagination"], after))


def _delivery(row: Mapping[str, Any]) -> HookDelivery:
    return HookDelivery(
        id=convert.text(row["id"]),
        state=convert.text(row["state"]),
        action=convert.text(row["action"]),
        event=convert.text(row["event_type"]),
        event_id=convert.optional_text(row, "event_id"),
        branch=convert.optional_text(row, "branch"),
        commit_id=convert.optional_text(row, "commit_id"),
        due=convert.optional_time(row.get("due")),
        attempts=tuple(
            DeliveryAttempt(
                convert.time(one["time"]),
                convert.text(one["state"]),
                convert.text(one["message"]),
                convert.text(one["run_id"]),
            )
            for one in row["attempts"]
        ),
    )
