"""What a bucket shows of versions: one branch with REST, commits and tags that only read, workspaces, merges."""

from __future__ import annotations

from dataclasses import replace

import lakebed

from tests.s3.refusals import refused
from tests.s3.target import Target


def test_uncommitted_data_is_shared_with_rest(branch: Target, repo: lakebed.Repository) -> None:
    s3, main = branch.boto(), repo.branch("main")
    s3.put_object(Bucket=branch.bucket, Key=branch.key("by s3"), Body=b"s3", Metadata={"who": "s3"}, ContentType="a/b")
    main.put("by rest", b"rest", metadata={"who": "rest"}, content_type="c/d")
    assert main.get("by s3") == b"s3"
    reported = main.stat("by s3")
    assert (reported.metadata, reported.content_type) == ({"X-Amz-Meta-Who": "s3"}, "a/b")
    answer = s3.get_object(Bucket=branch.bucket, Key=branch.key("by rest"))
    assert (answer["Body"].read(), answer["Metadata"], answer["ContentType"]) == (b"rest", {"who": "rest"}, "c/d")
    assert answer["ETag"] == f'"{main.stat("by rest").checksum}"'
    assert [one.path for one in main.uncommitted()] == ["by rest", "by s3"]
    s3.delete_object(Bucket=branch.bucket, Key=branch.key("by rest"))
    assert [one.path for one in main.list()] == ["by s3"]


def test_commits_and_tags_are_read_and_not_written(branch: Target, repo: lakebed.Repository) -> None:
    s3, main = branch.boto(), repo.branch("main")
    s3.put_object(Bucket=branch.bucket, Key=branch.key("a"), Body=b"first")
    commit = main.commit("first").id
    repo.tag("v1").create(commit)
    s3.put_object(Bucket=branch.bucket, Key=branch.key("a"), Body=b"second")
    main.commit("second")
    s3.delete_object(Bucket=branch.bucket, Key=branch.key("a"))
    for ref, body in (("v1", b"first"), (commit, b"first"), ("main~1", b"first"), ("main@", b"second")):
        key = f"{ref}/a"
        assert s3.get_object(Bucket=branch.bucket, Key=key)["Body"].read() == body, ref
        listed = s3.list_objects_v2(Bucket=branch.bucket, Prefix=f"{ref}/")["Contents"]
        assert [one["Key"] for one in listed] == [key]
        where = {"Bucket": branch.bucket, "Key": key}
        for call, more in (
            (s3.put_object, {"Body": b"third"}),
            (s3.delete_object, {}),
            (s3.copy_object, {"CopySource": {"Bucket": branch.bucket, "Key": "v1/a"}}),
            (s3.create_multipart_upload, {}),
        ):
            code, status = refused(call, **where, **more)
            assert 400 <= status < 500, (ref, call, code)
    assert refused(s3.get_object, Bucket=branch.bucket, Key=branch.key("a")) == ("NoSuchKey", 404)
    assert repo.ref("v1").get("a") == b"first"


def test_a_bucket_bound_to_a_tag(branch: Target, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("first")
    repo.tag("v1").create("main")
    bound = replace(branch, bucket=f"{repo.id}.v1", prefix="")
    assert bound.boto().get_object(Bucket=bound.bucket, Key="a")["Body"].read() == b"1"
    assert refused(bound.boto().put_object, Bucket=bound.bucket, Key="a", Body=b"2") == ("NoSuchKey", 404)
    assert refused(bound.boto().list_objects_v2, Bucket=f"{repo.id}.nowhere")[1] == 404


def test_a_branch_that_is_not_there(branch: Target, repo: lakebed.Repository) -> None:
    s3 = branch.boto()
    code, status = refused(s3.put_object, Bucket=branch.bucket, Key="nowhere/a", Body=b"1")
    assert (status, code) == (404, code)
    assert refused(s3.get_object, Bucket=branch.bucket, Key="nowhere/a")[1] == 404
    assert [one.id for one in repo.branches()] == ["main"]


def test_the_top_of_a_repository_is_its_branches(branch: Target, repo: lakebed.Repository) -> None:
    s3 = branch.boto()
    repo.branch("dev").create("main")
    s3.put_object(Bucket=branch.bucket, Key="dev/a", Body=b"1")
    listed = s3.list_objects_v2(Bucket=branch.bucket, Delimiter="/")
    assert [one["Prefix"] for one in listed["CommonPrefixes"]] == ["dev/", "main/"]
    assert branch.bucket in [one["Name"] for one in s3.list_buckets()["Buckets"]]


def test_merge_and_read_after(branch: Target, repo: lakebed.Repository) -> None:
    s3 = branch.boto()
    s3.put_object(Bucket=branch.bucket, Key="main/kept", Body=b"1")
    repo.branch("main").commit("first")
    repo.branch("dev").create("main")
    s3.put_object(Bucket=branch.bucket, Key="dev/new", Body=b"2")
    s3.delete_object(Bucket=branch.bucket, Key="dev/kept")
    repo.branch("dev").commit("second")
    repo.branch("dev").merge_into("main")
    listed = s3.list_objects_v2(Bucket=branch.bucket, Prefix="main/")["Contents"]
    assert [one["Key"] for one in listed] == ["main/new"]
    assert s3.get_object(Bucket=branch.bucket, Key="main/new")["Body"].read() == b"2"


def test_copies_between_branches_and_repositories(branch: Target, repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    s3 = branch.boto()
    repo.branch("dev").create("main")
    other = lake.repository(f"{repo.id}-2").create(f"local://{repo.id}-2")
    source = {"Bucket": branch.bucket, "Key": "main/a"}
    s3.put_object(**source, Body=b"1", Metadata={"kept": "1"})
    for bucket, ref in ((branch.bucket, "dev"), (other.id, "main")):
        s3.copy_object(Bucket=bucket, Key=f"{ref}/b", CopySource=source)
        answer = s3.get_object(Bucket=bucket, Key=f"{ref}/b")
        assert (answer["Body"].read(), answer["Metadata"]) == (b"1", {"kept": "1"})
    stored = repo.branch("main").stat("a").physical_address
    assert repo.branch("dev").stat("b").physical_address == stored  # metadata only
    assert other.branch("main").stat("b").physical_address != stored


def test_a_workspace_is_a_ref(branch: Target, repo: lakebed.Repository) -> None:
    s3, main = branch.boto(), repo.branch("main")
    main.put("base", b"0")
    main.commit("base")
    with main.workspace("by S3") as workspace:
        ref = workspace.id
        assert ref.startswith("main+")
        s3.put_object(Bucket=branch.bucket, Key=f"{ref}/new", Body=b"1")
        assert s3.get_object(Bucket=branch.bucket, Key=f"{ref}/base")["Body"].read() == b"0"
        listed = s3.list_objects_v2(Bucket=branch.bucket, Prefix=f"{ref}/")["Contents"]
        assert [one["Key"] for one in listed] == [f"{ref}/base", f"{ref}/new"]
        assert refused(s3.get_object, Bucket=branch.bucket, Key="main/new")[1] == 404
        assert workspace.get("new") == b"1"
    assert s3.get_object(Bucket=branch.bucket, Key="main/new")["Body"].read() == b"1"
