"""What administrators change: groups, policies, users, keys and sessions. Each button that changes a right."""

from __future__ import annotations

from uuid import uuid4

import lakebed
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of

READ = {"effect": "allow", "action": ["fs:Read*"], "resource": "*"}


@pytest.fixture
def name(lake: lakebed.Lake) -> str:
    """A new user."""
    name = f"cy-{uuid4().hex[:8]}"
    lake.users.create(name)
    return name


def test_a_group_gets_members_and_policies_and_is_deleted(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, name: str
) -> None:
    group, policy = f"team-{name}", f"Read-{name}"
    lake.policies.create(policy, [READ])
    with signed_in(chromium, server, ["status of 404"]) as page:  # of a member that does not exist
        page.goto("/auth/groups")
        page.get_by_role("button", name="New group").click()
        page.get_by_label("Name").fill(group)
        page.get_by_label("Description").fill("those who load the data")
        check(page, "people-new-group")
        page.get_by_role("button", name="Create group").click()
        expect(page.get_by_role("heading", name=group)).to_be_visible()

        members, policies = (page.get_by_role("region", name=one) for one in ("Members", "Policies"))
        members.get_by_label("User name").fill("unknown-user")
        members.get_by_role("button", name="Add", exact=True).click()
        expect(members.get_by_role("alert")).to_contain_text("unknown-user")
        members.get_by_label("User name").fill(name)
        members.get_by_role("button", name="Add", exact=True).click()
        expect(members.get_by_role("link", name=name)).to_be_visible()
        policies.get_by_label("Name of a policy").fill(policy)
        policies.get_by_role("button", name="Add", exact=True).click()
        expect(policies.get_by_role("link", name=policy)).to_be_visible()
        check(page, "people-group")
        assert [one.id for one in lake.groups.members(group)] == [name]
        assert [one.id for one in lake.groups.policies(group)] == [policy]

        policies.get_by_role("button", name=f"Remove {policy} from policies").click()
        expect(policies.get_by_text("None")).to_be_visible()
        members.get_by_role("button", name=f"Remove {name} from members").click()
        expect(members.get_by_text("None")).to_be_visible()
        assert not list(lake.groups.members(group))
        assert not list(lake.groups.policies(group))
        page.get_by_role("button", name="Delete group").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
        dialog.get_by_label(f"Type {group} to confirm").fill(group)
        dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("status").filter(has_text=f"Deleted {group}")).to_be_visible()
    assert group not in [one.id for one in lake.groups.list()]


def test_a_policy_is_changed_and_deleted(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, name: str
) -> None:
    policy = f"Read-{name}"
    lake.policies.create(policy, [READ])
    with signed_in(chromium, server) as page:
        page.goto(f"/auth/policies/{policy}")
        editor = page.get_by_label("Statements")
        editor.fill(editor.input_value().replace("fs:Read*", "fs:List*"))
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status").filter(has_text="Saved the policy")).to_be_visible()
        check(page, "people-policy")
        assert "fs:List*" in str(lake.policies.get(policy).statements)
        page.get_by_role("button", name="Delete policy").click()
        page.get_by_label(f"Type {policy} to confirm").fill(policy)
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("status").filter(has_text=f"Deleted {policy}")).to_be_visible()
        expect(page.get_by_role("link", name=policy)).to_be_hidden()
    assert policy not in [one.id for one in lake.policies.list()]


def test_a_user_is_disabled_signed_out_and_deleted(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, name: str
) -> None:
    key = lake.keys.create(name)
    errors = ["status of 401", "status of 403"]  # the new user may read nothing
    with (
        signed_in(chromium, server, errors) as page,
        signed_in(chromium, server, errors, user=(key.id, key.secret)) as theirs,
    ):
        theirs.goto("/repositories")
        expect(theirs.get_by_role("button", name=f"Signed in as {name}")).to_be_visible()
        page.goto(f"/auth/users/{name}")
        page.get_by_label("Name of a group").fill("Viewers")
        page.get_by_role("region", name="Groups").get_by_role("button", name="Add").click()
        expect(page.get_by_role("link", name="Viewers")).to_be_visible()
        page.get_by_role("button", name="Remove Viewers from groups").click()
        expect(page.get_by_role("link", name="Viewers")).to_be_hidden()
        page.get_by_role("region", name="Login sessions").get_by_role("button", name="End session").click()
        expect(page.get_by_text("No open sessions")).to_be_visible()
        theirs.goto("/repositories")
        expect(theirs.get_by_role("heading", name="Sign in to Lakebed")).to_be_visible()

        page.get_by_role("button", name=f"Actions for {name}").click()
        page.get_by_role("menuitem", name="Disable").click()
        expect(page.get_by_text("Disabled", exact=True)).to_be_visible()
        check(page, "people-disabled")
        assert lake.users.get(name).disabled
        page.get_by_role("button", name=f"Actions for {name}").click()
        page.get_by_role("menuitem", name="Enable").click()
        expect(page.get_by_text("Disabled", exact=True)).to_be_hidden()
        page.get_by_role("button", name=f"Actions for {name}").click()
        page.get_by_role("menuitem", name="Delete user").click()
        page.get_by_label(f"Type {name} to confirm").fill(name)
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("status").filter(has_text=f"Deleted {name}")).to_be_visible()
    assert name not in [one.id for one in lake.users.list()]


def test_a_key_is_limited_to_one_repository(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, name: str
) -> None:
    lake_of(repo).users.grant(name, repo.id, "writer")
    with signed_in(chromium, server) as page:
        page.goto(f"/auth/users/{name}")
        page.get_by_role("button", name="New access key").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name", exact=True).fill("nightly report")
        dialog.get_by_label("Expires after").select_option("7 days")
        dialog.get_by_label("Read-only for one repository").fill(repo.id)
        dialog.get_by_label("Your access key ID").fill(server.access_key_id)
        dialog.get_by_label("Your secret access key").fill(server.secret_access_key)
        dialog.get_by_role("button", name="Create key").click()
        expect(page.get_by_role("heading", name="Copy the secret now")).to_be_visible()
        key, secret = (page.locator("dialog code").nth(at).inner_text() for at in (0, 1))
        page.get_by_role("button", name="I have saved it").click()
        expect(page.get_by_role("row").filter(has_text="nightly report")).to_contain_text("Limited")
    with lakebed.connect(server.endpoint, key, secret) as theirs:
        branch = theirs.repository(repo.id).branch("main")
        assert list(branch.list()) == []
        with pytest.raises(lakebed.errors.PermissionDeniedError):
            branch.put("a.txt", b"1")
