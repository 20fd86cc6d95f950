"""The API refuses what the policies of a user do not allow, and says which permission is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lakebed_auth import arn

from tests.auth.people import REPO, People, allow, deny


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    yield made
    made.close()


def test_a_user_without_policies_can_do_nothing(people: People) -> None:
    people.add("ana")
    answer = people("ana", "GET", REPO)
    assert answer.status == 403
    assert answer.json["kind"] == "permission_denied"
    assert answer.json["message"] == "needs fs:ReadRepository on repository/lake"
    assert people("ana", "GET", "/repositories").status == 403


def test_a_deleted_user_is_not_signed_in_any_more(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", REPO).status == 200
    people.run(people.directory.delete_user("ana"))
    people.permissions.forget()
    assert people("ana", "GET", REPO).status == 401


def test_a_disabled_user_is_refused(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    people.run(people.directory.update_user("ana", disabled=True))
    people.permissions.forget()
    answer = people("ana", "GET", REPO)
    assert (answer.status, "disabled" in answer.json["message"]) == (401, True)


def test_a_viewer_reads_and_does_not_write(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people.put("a.csv").status == 201
    assert people("ana", "GET", f"{REPO}/refs/main/objects?path=a.csv").body == b"x"
    refused = people.put("b.csv", user="ana")
    assert refused.json["message"] == "needs fs:WriteObject on repository/lake/object/b.csv"
    commit = people("ana", "POST", f"{REPO}/branches/main/commits", {"message": "m"})
    assert commit.json["message"] == "needs fs:CreateCommit on repository/lake/branch/main"


def test_a_denied_path_is_refused_among_others(people: People) -> None:
    people.put("open/a")
    people.put("secret/b")
    people.add("ana", allow("fs:*"), deny("fs:ReadObject", "fs:DeleteObject", on=arn.object_("lake", "secret/*")))
    assert people("ana", "GET", f"{REPO}/refs/main/objects?path=secret/b").status == 403
    deleted = people("ana", "POST", f"{REPO}/branches/main/objects/delete", {"paths": ["open/a", "secret/b"]})
    assert [(row["path"], row["status_code"]) for row in deleted.json["errors"]] == [("secret/b", 403)]
    assert people("admin", "HEAD", f"{REPO}/refs/main/objects?path=open/a").status == 404
    assert people("admin", "HEAD", f"{REPO}/refs/main/objects?path=secret/b").status == 200
    batch = people("ana", "POST", f"{REPO}/refs/main/objects/batch", {"paths": ["secret/b"]})
    assert b"permission_denied" in batch.body
    archive = people("ana", "GET", f"{REPO}/refs/main/archive")
    assert archive.json["message"].startswith("needs fs:ReadObject on all of repository/lake/object/")


def test_rules_of_branches(people: People) -> None:
    people.add(
        "ana",
        allow("fs:Read*", "fs:List*", "fs:CreateBranch"),
        allow("fs:WriteObject", "fs:CreateCommit", StringLike={"fs:Branch": ["dev-*"]}),
    )
    assert people("ana", "POST", f"{REPO}/branches", {"name": "dev-1", "source": "main"}).status == 201
    assert people.put("a", user="ana", branch="dev-1").status == 201
    assert people("ana", "POST", f"{REPO}/branches/dev-1/commits", {"message": "m"}).status == 201
    assert people.put("a", user="ana").status == 403
    assert people("ana", "POST", f"{REPO}/refs/dev-1/merge/main", {}).status == 403


def test_a_workspace_counts_as_its_branch(people: People) -> None:
    people.add("ana", allow("fs:Read*", "fs:List*"), allow("fs:*", StringLike={"fs:Branch": ["dev-*"]}))
    made = people("ana", "POST", f"{REPO}/workspaces", {"branch": "main"})
    assert made.status == 201, made.body
    workspace = made.json["id"]
    assert people.put("a", user="ana", branch=f"main%2B{workspace}").status == 403
    assert people.put("a", branch=f"main%2B{workspace}").status == 201
    refused = people("ana", "POST", f"{REPO}/workspaces/{workspace}/commit", {"message": "m"})
    assert refused.json["message"] == "needs fs:CreateCommit on repository/lake/branch/main"


def test_publishing_a_workspace_needs_rights_on_each_path(people: People) -> None:
    people.add("ana", allow("fs:*"), deny("fs:WriteObject", on=arn.object_("lake", "secret/*")))
    workspace = people("ana", "POST", f"{REPO}/workspaces", {"branch": "main"}).json["id"]
    people.put("open/a", user="ana", branch=f"main%2B{workspace}")
    people.put("secret/a", branch=f"main%2B{workspace}")
    refused = people("ana", "POST", f"{REPO}/workspaces/{workspace}/commit", {"message": "m"})
    assert (refused.status, refused.json["message"]) == (403, "needs fs:WriteObject on repository/lake/object/secret/a")
    assert people("admin", "POST", f"{REPO}/workspaces/{workspace}/commit", {"message": "m"}).status == 201


def test_a_task_is_shown_to_its_user_and_to_readers_of_its_branch(people: People) -> None:
    main = "arn:lakefs:fs:::repository/lake/branch/main"
    people.add("ana", allow("fs:CreateCommit", on=main))
    body = {"message": "m", "allow_empty": True}
    begun = people("ana", "POST", f"{REPO}/branches/main/commits/async", body, idempotency_key="k").json
    task = f"{REPO}/tasks/{begun['id']}"
    assert people("ana", "GET", task).status == 200
    people.add("ben", allow("fs:ReadBranch", on=main))
    assert people("ben", "GET", task).status == 200
    people.add("cleo", allow("fs:ReadBranch", StringLike={"fs:Branch": ["main"]}))
    assert people("cleo", "GET", task).status == 200
    people.add("eva", allow("fs:ReadBranch", on=main.replace("main", "dev")))
    refused = people("eva", "GET", task)
    assert (refused.status, refused.json["message"]) == (403, "needs fs:ReadBranch on repository/lake/branch/main")
    for user in ("ana", "ben", "eva"):
        assert people(user, "GET", f"{REPO}/tasks/none").status == 403
    assert people("admin", "GET", f"{REPO}/tasks/none").status == 404


def test_repositories_that_a_user_may_not_list_are_left_out(people: People) -> None:
    people("admin", "POST", "/repositories", {"name": "other", "storage_namespace": "mem://other"})
    people.add("ana", allow("fs:ListRepositories", on=arn.repository("lake")))
    listed = people("ana", "GET", "/repositories")
    assert [row["id"] for row in listed.json["results"]] == ["lake"]


def test_the_last_administrator_stays(people: People) -> None:
    for change in (
        people.directory.delete_user("admin"),
        people.directory.update_user("admin", disabled=True),
        people.directory.remove_member("Admins", "admin"),
        people.directory.delete_group("Admins"),
        people.directory.delete_policy("AuthFullAccess"),
    ):
        with pytest.raises(Exception, match="no user could manage") as raised:
            people.run(change)
        assert raised.value.kind == "last_administrator"  # type: ignore[attr-defined]
    assert people("admin", "GET", REPO).status == 200


def test_a_group_gives_its_rights_as_long_as_it_is_there(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", REPO).status == 200
    people.run(people.directory.delete_group("Viewers"))
    people.permissions.forget()
    assert people("ana", "GET", REPO).status == 403
    assert [group.id for group in people.run(people.directory.groups_of("ana", "", "", 10))[0]] == []


def test_a_copy_is_read_on_the_branch_of_its_source(people: People) -> None:
    people("admin", "POST", f"{REPO}/branches", {"name": "dev-1", "source": "main"})
    people.put("a")
    people.put("a", branch="dev-1")
    people.add("ana", allow("fs:ReadObject", "fs:WriteObject", StringLike={"fs:Branch": ["dev-*"]}))
    copy = f"{REPO}/branches/dev-1/objects/copy?dest_path=b"
    assert people("ana", "POST", copy, {"src_path": "a"}).status == 201
    refused = people("ana", "POST", copy, {"src_path": "a", "src_ref": "main"})
    assert refused.json["message"] == "needs fs:ReadObject on repository/lake/object/a"
    assert people.s3("ana", "PUT", "/lake/dev-1/c", x_amz_copy_source="/lake/main/a").status == 403
    assert people.s3("ana", "PUT", "/lake/dev-1/c", x_amz_copy_source="/lake/dev-1/a").status == 200
