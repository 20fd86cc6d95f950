"""Hooks on the web page: a bad merge that a contract refuses, runs with their logs, deliveries, and action files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_hooks.vocabulary import EVENTS
from playwright.sync_api import Browser, Page, expect

from tests.browser.ui import CLIPBOARD, check, expect_copied, signed_in
from tests.support.processes.server import RunningServer, lake_of, running_server
from tests.support.waiting import wait_until

NO_RECEIVER = "http://127.0.0.1:9/"
"""An address at which nothing listens."""
FILE = "_lakebed_actions/orders.yaml"
CONTRACT = """name: orders contract
on: {%s: {branches: ["%s"]}}
hooks:
  - id: orders
    type: contract
    properties:
      path: "orders/**/*.parquet"
      checks:
        - not_null: [order_id]
        - range: {amount: [0, 100]}
  - id: afterwards
    type: contract
    properties: {path: "*.csv", checks: [{max_files: 9}]}
"""
PYTHON = """name: sizes
on: {pre-create-tag: }
hooks:
  - {id: listed, type: python, properties: {entry: "page_checks:sizes"}}
"""
CHECK = """import pathlib
import time

from lakebed_hooks import Refuse


def sizes(event, lake, args):
    print("looked at", event.repository_id)
    return Refuse("too small", [{"file": one.path, "bytes": one.size} for one in lake.list("orders/")])


def waits(event, lake, args):
    while not pathlib.Path(__file__).with_name("go_on").exists():
        time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the checks. The check `waits` ends when the file `go_on` is there."""
    folder = tmp_path_factory.mktemp("checks")
    (folder / "page_checks.py").write_text(CHECK)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, checks: Path) -> Iterator[RunningServer]:
    """A server of these tests: its hooks may call this machine, and run the checks of the tests."""
    environment = {
        "LAKEBED_HOOKS_WEBHOOK_ALLOW": "127.0.0.1",
        "LAKEBED_HOOKS_PYTHON_ALLOW": "page_checks",
        "PYTHONPATH": str(checks),
    }
    with running_server(tmp_path_factory, environment=environment) as started:
        yield started


def orders(*amounts: int) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"order_id": list(range(len(amounts))), "amount": list(amounts)}), sink)
    return sink.getvalue()


def with_contract(repo: lakebed.Repository, event: str = "pre-merge", branch: str = "main") -> lakebed.Branch:
    """A contract on the main branch, and a branch with an order that breaks it in row 2."""
    main = repo.branch("main")
    main.put(FILE, (CONTRACT % (event, branch)).encode())
    main.commit("add the contract")
    dev = repo.branch("dev").create(source="main")
    dev.put("orders/june.parquet", orders(10, 20, -5, 40))
    if event == "pre-merge":
        dev.commit("the orders of June")
    return dev


def webhook(event: str, url: str, more: str = "") -> bytes:
    return f"""name: notify
on: {{{event}: }}
hooks:
  - id: call
    type: webhook
    properties: {{url: "{url}", timeout: 1s{more}}}
""".encode()


def merge(page: Page) -> None:
    page.get_by_role("button", name="Merge…").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()


def test_a_contract_refuses_a_pull_request_until_the_row_is_corrected(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    dev = with_contract(repo)
    pull = repo.pulls.create("dev", "main", title="Orders of June")
    with signed_in(chromium, server, ["status of 412"], **CLIPBOARD) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        page.get_by_role("button", name="Merge…").click()
        page.get_by_label("Commit message").fill("the orders of June, checked")
        page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_role("heading", name="Hooks stopped the merge")).to_be_visible()
        expect(page.get_by_role("dialog")).to_be_hidden()
        said = page.get_by_role("region", name="Results of the contract")
        bad = said.get_by_role("row").filter(has_text="range(amount)")
        expect(bad).to_contain_text("orders/june.parquet")
        expect(bad).to_contain_text("row 2: -5")
        expect(bad).to_contain_text("1 of 4")
        check(page, "hooks-pull")

        # another person sees the same, and a second attempt keeps what was typed
        with signed_in(chromium, server) as other:
            other.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
            expect(other.get_by_role("heading", name="Hooks stopped the merge")).to_be_visible()
            expect(other.get_by_role("row").filter(has_text="range(amount)")).to_contain_text("row 2: -5")
        page.get_by_role("button", name="Merge…").click()
        expect(page.get_by_label("Commit message")).to_have_value("the orders of June, checked")
        page.get_by_role("button", name="Cancel").click()

        page.get_by_role("link", name="Show the run").click()
        expect(page.get_by_role("heading", name="Run of pre-merge")).to_be_visible()
        hook = page.get_by_role("article", name="orders contract / orders")
        expect(hook.get_by_role("row").filter(has_text="range(amount)")).to_contain_text("row 2: -5")
        expect(page.get_by_role("article", name="orders contract / afterwards")).to_contain_text("Skipped")
        hook.get_by_role("button", name="Show 1 check that passed").click()
        expect(hook.get_by_role("row").filter(has_text="not_null(order_id)")).to_contain_text("Passed")
        hook.get_by_text("Log", exact=True).click()
        log = hook.get_by_role("region", name="Log")
        expect(log).to_contain_text("1 results passed, 1 refused")
        hook.get_by_role("button", name="Copy the log").click()
        expect_copied(page, log.inner_text())
        page.get_by_role("button", name="Copy the id of the run").click()
        expect_copied(page, page.url.rpartition("/")[2])
        check(page, "hooks-run")
        hook.get_by_role("button", name="Hide the checks that passed").click()
        expect(hook.get_by_role("row").filter(has_text="not_null(order_id)")).to_be_hidden()
        expect(page.get_by_role("link", name="Open it")).to_have_attribute(
            "href", f"/repositories/{repo.id}/pulls/{pull.id}"
        )

        dev.put("orders/june.parquet", orders(10, 20, 5, 40))
        dev.commit("correct the amount")
        page.get_by_role("link", name="Open it").click()
        expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()
        merge(page)
        expect(page.get_by_text("Merged", exact=True)).to_be_visible()

        page.get_by_role("link", name="Hooks", exact=True).click()
        rows = page.get_by_role("row").filter(has_text="pre-merge")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("Passed")
        expect(rows.nth(1)).to_contain_text("Refused")
        check(page, "hooks-runs")
    assert repo.branch("main").get("orders/june.parquet") == orders(10, 20, 5, 40)


def test_a_refused_merge_and_commit_keep_what_was_typed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    dev = with_contract(repo)
    with signed_in(chromium, server, ["status of 412"]) as page:
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        page.get_by_role("button", name="Merge", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Message").fill("all of June")
        dialog.get_by_role("button", name="Merge", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("range(amount)")
        expect(dialog.get_by_label("Message")).to_have_value("all of June")
        check(page, "hooks-compare")
        with page.context.expect_page() as opened:
            dialog.get_by_role("link", name="Show the run of the hooks").click()
        expect(opened.value.get_by_role("article", name="orders contract / orders")).to_contain_text("Refused")

        main = repo.branch("main")
        main.put(FILE, (CONTRACT % ("pre-commit", "dev")).encode())
        main.commit("check commits of dev")
        dev.put(FILE, (CONTRACT % ("pre-commit", "dev")).encode())
        page.goto(f"/repositories/{repo.id}/changes?ref=dev")
        dev.put("orders/june.parquet", orders(10, 20, -7, 40))
        page.get_by_role("button", name="Commit", exact=True).click()
        dialog.get_by_label("Message").fill("a worse amount")
        dialog.get_by_role("button", name="Commit", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("range(amount)")
        expect(dialog.get_by_role("link", name="Show the run of the hooks")).to_be_visible()
        expect(dialog.get_by_label("Message")).to_have_value("a worse amount")


def test_runs_are_filtered_and_repeated(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    lake = lake_of(repo)
    with signed_in(chromium, server, **CLIPBOARD) as page:
        page.goto(f"/repositories/{repo.id}/actions")
        expect(page.get_by_text("No hooks have run")).to_be_visible()
        check(page, "hooks-empty")
        page.get_by_role("button", name="Copy the action file").click()
        expect_copied(page, page.locator("pre code").inner_text())
        page.get_by_role("link", name="Hooks in the settings").click()
        expect(page.get_by_role("button", name="Add action file")).to_be_visible()
        page.go_back()
        with_contract(repo, "pre-create-branch", "*")
        repo.branch("extra").create(source="main")
        page.reload()
        expect(page.get_by_role("row").filter(has_text="pre-create-branch")).to_have_count(2)
        page.get_by_role("button", name="Branch: All branches").click()
        page.get_by_role("option", name="extra").click()
        expect(page.get_by_role("row").filter(has_text="pre-create-branch")).to_have_count(1)
        page.get_by_role("button", name="Show all branches").click()
        page.goto(f"/repositories/{repo.id}/actions?branch=main")
        expect(page.get_by_text("No run of main")).to_be_visible()
        page.get_by_role("button", name="Show all branches").first.click()
        page.get_by_role("link", name="Passed: open this run of pre-create-branch").first.click()
        page.get_by_role("button", name="Run again").click()
        expect(page.get_by_role("link", name="an earlier run")).to_be_visible()
        check(page, "hooks-again")

    name = f"eva-{repo.id}"
    lake.users.create(name)
    lake.groups.add("Analysts", name)
    key = lake.keys.create(name)
    with signed_in(chromium, server, user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/actions")
        page.get_by_role("link", name="Passed: open this run of pre-create-branch").first.click()
        expect(page.get_by_role("button", name="Run again")).to_be_disabled()
        expect(page.get_by_text("You need the permission ci:RunAction for this.")).to_be_visible()
        check(page, "hooks-no-right")


def test_a_person_without_the_right_and_a_missing_run(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    lake = lake_of(repo)
    name = f"tim-{repo.id}"
    lake.users.create(name)
    lake.groups.add("Viewers", name)
    key = lake.keys.create(name)
    with signed_in(chromium, server, ["status of 403"], user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/actions")
        expect(page.get_by_role("alert")).to_contain_text("You have no permission for this")
        check(page, "hooks-forbidden")
    with signed_in(chromium, server, ["status of 404"]) as page:
        page.goto(f"/repositories/{repo.id}/actions/nothing")
        expect(page.get_by_role("alert")).to_contain_text("This does not exist")


def test_a_python_check_and_a_webhook_show_their_details(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("_lakebed_actions/sizes.yaml", PYTHON.encode())
    main.put("_lakebed_actions/notify.yaml", webhook("pre-create-tag", NO_RECEIVER))
    main.put("orders/a.csv", b"1,2\n")
    main.put("orders/b.csv", b"1,2,3\n")
    main.commit("add actions")
    with pytest.raises(lakebed.HookRefusedError):
        repo.tag("v1").create("main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/actions")
        page.get_by_role("link", name="Error: open this run of pre-create-tag").click()
        table = page.get_by_role("region", name="What the hook returned")
        expect(table.get_by_role("row").filter(has_text="orders/b.csv")).to_contain_text("6")
        expect(page.get_by_role("article", name="notify / call")).to_contain_text("Error")
        expect(page.get_by_role("definition").filter(has_text="v1")).to_be_visible()
        check(page, "hooks-python")


def test_a_run_is_shown_while_it_runs(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, checks: Path
) -> None:
    main = repo.branch("main")
    main.put("_lakebed_actions/waits.yaml", PYTHON.replace(":sizes", ":waits").encode())
    main.commit("add a slow check")
    with signed_in(chromium, server) as page, ThreadPoolExecutor(1) as pool:
        made = pool.submit(repo.tag("v1").create, "main")
        page.goto(f"/repositories/{repo.id}/actions")
        row = page.get_by_role("row").filter(has_text="pre-create-tag")
        expect(row).to_contain_text("Running")
        row.get_by_role("link").first.click()
        expect(page.get_by_role("button", name="Run again")).to_be_disabled()
        (checks / "go_on").touch()
        expect(page.get_by_role("article", name="sizes / listed")).to_contain_text("Passed")
        expect(page.get_by_role("button", name="Run again")).to_be_enabled()
        assert made.result().id == "v1"


def test_hooks_are_run_by_hand_and_nothing_is_changed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with_contract(repo, "pre-merge", "dev")
    dev = repo.branch("dev").commit_info().id
    with signed_in(chromium, server, ["status of 400", "status of 404"]) as page:
        page.goto(f"/repositories/{repo.id}/actions")
        page.get_by_role("button", name="Run hooks…").click()
        dialog = page.get_by_role("dialog", name="Run hooks")
        event = dialog.get_by_label("Event")
        assert set(event.locator("option").all_inner_texts()) == EVENTS
        event.select_option("pre-merge")
        check(page, "hooks-run-by-hand")
        dialog.get_by_role("button", name="Run", exact=True).click()  # the contract is of the branch dev
        expect(dialog.get_by_role("alert")).to_contain_text("no action runs for pre-merge at 'main'")
        dialog.get_by_role("button", name="Branch, tag or commit").click()
        page.get_by_role("option", name="dev").click()
        dialog.get_by_label("Action").fill("no such action")
        dialog.get_by_role("button", name="Run", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("no action of the name 'no such action'")
        dialog.get_by_label("Action").fill("orders contract")
        dialog.get_by_label("Rules of branch").fill("nope")
        dialog.get_by_role("button", name="Run", exact=True).click()
        expect(dialog.get_by_role("alert")).to_contain_text("'nope'")
        dialog.get_by_label("Rules of branch").fill("")
        dialog.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("heading", name="Run of pre-merge")).to_be_visible()
        bad = page.get_by_role("region", name="Results of the contract").get_by_role("row")
        expect(bad.filter(has_text="range(amount)")).to_contain_text("row 2: -5")
    (run,) = repo.runs.list()
    assert (run.event, run.branch, run.state, run.commit_id) == ("pre-merge", "dev", "refused", dev)
    assert repo.branch("dev").commit_info().id == dev


def test_more_deliveries_are_read_by_a_button(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("_lakebed_actions/tell.yaml", webhook("post-create-tag", f"{server.endpoint}/api/v1/none"))
    main.commit("tell of tags")  # the receiver answers 404, which ends a delivery
    for number in range(51):
        repo.tag(f"v{number}").create("main")
    wait_until(lambda: [one.state for one in repo.deliveries.list()] == ["failed"] * 51)
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/actions?view=deliveries")
        articles = page.get_by_role("article", name="notify")
        expect(articles).to_have_count(50)
        page.get_by_role("button", name="Load more").click()
        expect(articles).to_have_count(51)
        expect(page.get_by_role("button", name="Load more")).to_be_hidden()


def test_deliveries_wait_fail_and_are_made_again(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("_lakebed_actions/notify.yaml", webhook("post-commit", NO_RECEIVER))
    main.put(
        "_lakebed_actions/once.yaml", webhook("post-commit", NO_RECEIVER, ", retry: false").replace(b"notify", b"once")
    )
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/actions?view=deliveries")
        expect(page.get_by_text("No delivery waits or has failed")).to_be_visible()
        check(page, "hooks-no-deliveries")
        main.commit("call the receivers")
        waiting = page.get_by_role("article", name="notify")
        expect(waiting).to_contain_text("next one")
        expect(waiting).to_contain_text("attempt")
        failed = page.get_by_role("article", name="once")
        expect(failed).to_contain_text("Failed")
        failed.get_by_text("Show the attempts").click()
        expect(failed.get_by_role("listitem")).to_have_count(1)
        check(page, "hooks-deliveries")
        failed.get_by_role("button", name="Deliver again").click()
        expect(page.get_by_role("status").filter(has_text="once will be called again")).to_be_visible()
        expect(failed.get_by_role("listitem")).to_have_count(2)
        failed.get_by_role("listitem").first.get_by_role("link").click()
        expect(page.get_by_role("heading", name="Run of post-commit")).to_be_visible()


def test_action_files_of_the_settings(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    with signed_in(chromium, server, ["status of 400", "status of 412"]) as page:
        page.goto(f"/repositories/{repo.id}/settings")
        expect(page.get_by_text("No action files here")).to_be_visible()
        page.get_by_role("button", name="Add action file").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Write a name.")).to_be_visible()
        page.get_by_label("Name").fill("orders.yaml")
        text = page.get_by_role("textbox", name="Action file")
        good = text.input_value()
        text.fill(good.replace("pre-merge", "pre-lunch"))
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("orders.yaml line 3: unknown event 'pre-lunch'").first).to_be_visible()
        expect(text).to_have_value(good.replace("pre-merge", "pre-lunch"))
        check(page, "hooks-file")
        text.fill(good)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.get_by_role("row").filter(has_text="orders.yaml")).to_be_visible()
        assert repo.hook_settings().actions == {"orders.yaml": good}
        check(page, "hooks-files")

        page.get_by_role("button", name="Actions for orders.yaml").click()
        page.get_by_role("menuitem", name="Edit").click()
        expect(text).to_have_value(good)
        repo.set_hook_settings({"other.yaml": good})
        text.fill(good + "# mine\n")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert").filter(has_text="changed")).to_be_visible()
        expect(text).to_have_value(good + "# mine\n")
        page.get_by_role("button", name="Cancel").click()
        page.reload()
        page.get_by_role("button", name="Actions for other.yaml").click()
        page.get_by_role("menuitem", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No action files here")).to_be_visible()
    assert repo.hook_settings().actions == {}
