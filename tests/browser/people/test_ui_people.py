"""Make a user, a key and a policy, and ask why something is refused."""

from __future__ import annotations

from uuid import uuid4

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of


def test_a_user_gets_a_policy_and_a_key_that_works(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    name = f"bo-{uuid4().hex[:8]}"
    with signed_in(chromium, server, ["status of 400", "status of 401"]) as page:
        page.goto("/auth/users")
        page.get_by_role("button", name="New user").click()
        page.get_by_label("User name").fill(name)
        page.get_by_role("button", name="Create user").click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        expect(page.get_by_text("No policy applies")).to_be_visible()
        page.goto("/auth/new-policy")
        page.get_by_label("Name").fill(f"Read-{name}")
        editor = page.get_by_label("Statements")
        good = editor.input_value().replace("sales", repo.id)
        editor.fill(good.replace("fs:Read*", "fs:ReadObjct"))
        page.get_by_role("button", name="Create policy").click()
        expect(page.get_by_text("Line 2: ")).to_be_visible()
        check(page, "people-policy-fault")
        editor.fill(good)
        page.get_by_role("button", name="Create policy").click()
        expect(page.get_by_role("heading", name=f"Read-{name}")).to_be_visible()
        page.goto(f"/auth/users/{name}")
        page.get_by_label("Name of a policy").fill(f"Read-{name}")
        page.get_by_role("region", name="Policies").get_by_role("button", name="Add").click()
        expect(page.get_by_role("region", name="Effective rights")).to_contain_text("fs:Read*")
        page.get_by_role("button", name="New access key").click()
        page.get_by_label("Your access key ID").fill(server.access_key_id)
        page.get_by_label("Your secret access key").fill("wrong")
        page.get_by_role("button", name="Create key").click()
        expect(page.get_by_role("alert")).to_contain_text("do not belong together")
        check(page, "people-key")
        page.get_by_label("Your secret access key").fill(server.secret_access_key)
        page.get_by_role("button", name="Create key").click()
        expect(page.get_by_role("heading", name="Copy the secret now")).to_be_visible()
        check(page, "people-secret")
        key, secret = (page.locator("dialog code").nth(at).inner_text() for at in (0, 1))
        page.get_by_role("button", name="I have saved it").click()
        expect(page.get_by_role("region", name="Access keys")).to_contain_text(key)
        assert secret not in page.content()
        check(page, "people-user")
        page.goto(f"/auth/simulate?user={name}")
        page.get_by_label("Action").fill("fs:WriteObject")
        page.get_by_label("Resource").fill(f"arn:lakefs:fs:::repository/{repo.id}/object/a")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("heading", name="Refused")).to_be_visible()
        check(page, "people-simulate")
        assert lakebed.connect(server.endpoint, key, secret).repository(repo.id).exists()
        page.goto(f"/auth/users/{name}")
        page.get_by_role("button", name=f"Delete key {key}").click()
        page.get_by_label("Your access key ID").fill(server.access_key_id)
        page.get_by_label("Your secret access key").fill(server.secret_access_key)
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("No access keys")).to_be_visible()
    narrow = lake_of(repo).keys.create(name)
    with signed_in(chromium, server, ["status of 403"], user=(narrow.id, narrow.secret)) as page:
        for screen in ("users", "groups", "policies"):
            page.goto(f"/auth/{screen}")
            expect(page.get_by_role("alert")).to_contain_text("no permission")
        check(page, "people-refused")
