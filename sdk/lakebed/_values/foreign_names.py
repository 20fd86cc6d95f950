"""Names that users know from Git and other SDKs, and what has the same meaning here.

`__getattr__` of the handles reads this table after an attribute was not found. It is loaded then, and not before.
"""

from __future__ import annotations

import difflib

_REF = {
    "blame": "ref.writers(prefix) lists the commit that wrote each file",
    "branch": 'repo.branch("dev") is a branch; ref.repository is the repository',
    "checkout": 'there is no checkout: repo.ref("v1") reads any commit, tag or branch; `lakebed local clone` fills a '
    "directory",
    "commits": "ref.log() lists the commits",
    "compare": "ref.diff(other)",
    "cp": "branch.copy(source, path)",
    "download_file": "ref.download(path, file)",
    "get_commit": "ref.commit_info()",
    "get_object": "ref.get(path)",
    "glob": "ref.find(text) searches paths; `lakebed.fsspec` has glob",
    "head": "ref.commit_info() is the commit; branch.info().commit_id is its id",
    "history": "ref.log() lists the commits",
    "id_": "ref.id",
    "list_files": "ref.list(prefix)",
    "list_objects": "ref.list(prefix)",
    "ls": 'ref.list(prefix, delimiter="/")',
    "merge": 'source.merge_into(destination): repo.ref("dev").merge_into("main")',
    "object": "ref.get(path), ref.stat(path) and ref.open(path) take the path of an object",
    "objects": "ref.list(prefix)",
    "read": "ref.get(path)",
    "read_excel": 'pandas.read_excel(io.BytesIO(ref.get(path))), or pandas.read_excel("lakebed://REPO/REF/PATH")',
    "reader": "ref.open(path)",
    "show": "ref.commit_info(), and ref.changes_since(parent) for its changes",
    "sha": "ref.commit_info().id",
    "snapshot_id": "ref.commit_info().id",
    "status": "branch.uncommitted() lists what a commit would take",
    "tag": 'repo.tag("v1").create(ref)',
    "walk": "ref.list(prefix)",
}
_WRITABLE = {
    "add": "branch.put(path, data) stages one object, ws.upload_tree(directory, prefix) of a workspace many",
    "amend": "commits never change: branch.undo() takes the last one back",
    "append": 'branch.write_parquet(path, data, mode="append")',
    "create_branch": 'repo.branch("dev").create("main")',
    "delete_branch": "branch.drop()",
    "delete_objects": "branch.delete_many(paths)",
    "get_commits": "branch.log()",
    "import_data": "branch.start_import(...)",
    "move": "branch.copy(source, path), then branch.delete(source)",
    "mv": "branch.copy(source, path), then branch.delete(source)",
    "pull": "a branch is on the server, and every read sees its present state",
    "push": "a branch is on the server: a commit needs no push",
    "rebase": "a branch is not rebased: other.merge_into(branch), or branch.cherry_pick(commit)",
    "remove": "branch.delete(path)",
    "rename": "a branch cannot be renamed: repo.branch(new).create(old) copies no data",
    "restore": "branch.reset(path) drops uncommitted changes; branch.revert(commit) undoes a commit",
    "rm": "branch.delete(path)",
    "rollback": "branch.revert(commit) undoes a commit; branch.reset() drops uncommitted changes",
    "save": "branch.commit(message)",
    "stash_pop": "branch.pop()",
    "switch": 'repo.branch("dev") is a handle to another branch',
    "transact": "with branch.workspace(message) as ws: ...",
    "transaction": "with branch.workspace(message) as ws: ...",
    "unstage": "branch.reset(path)",
    "upload": "branch.put(path, data)",
    "upload_file": "branch.put(path, Path(file))",
    "upload_folder": "with branch.workspace(message) as ws: ws.upload_tree(directory, prefix)",
    "upload_object": "branch.put(path, data)",
    "writable_session": "with branch.workspace(message) as ws: ...",
    "write": "branch.put(path, data), or write_parquet, write_csv, write_json for tables",
    "writer": 'branch.open(path, "wb")',
}
_REPOSITORY = {
    "active_branch": "there is none: name the branch, for example repo.branch(repo.info().default_branch)",
    "blame": 'repo.ref("main").writers(prefix)',
    "checkout": 'there is no checkout: repo.ref("v1") reads any commit, tag or branch; `lakebed local clone` fills a '
    "directory",
    "commit_async": 'repo.branch("main").start_commit(message)',
    "commits": 'repo.ref("main").log()',
    "create_branch": 'repo.branch("dev").create("main")',
    "create_commit": 'repo.branch("main").commit(message)',
    "create_head": 'repo.branch("dev").create("main")',
    "create_tag": 'repo.tag("v1").create("main")',
    "delete_branch": 'repo.branch("dev").drop()',
    "delete_tag": 'repo.tag("v1").drop()',
    "diff": 'repo.ref("main").diff("dev")',
    "download_file": 'repo.ref("main").download(path, file)',
    "get_branch": 'repo.branch("main")',
    "get_object": 'repo.ref("main").get(path)',
    "head": 'repo.ref("main").commit_info()',
    "heads": "repo.branches()",
    "index": 'repo.branch("main").uncommitted()',
    "list": "repo.branches(), repo.tags(), and repo.ref(name).list(prefix)",
    "list_branches": "repo.branches()",
    "list_objects": 'repo.ref("main").list(prefix)',
    "list_repo_commits": 'repo.ref("main").log()',
    "list_repo_files": 'repo.ref("main").list()',
    "list_tags": "repo.tags()",
    "log": 'repo.ref("main").log(); repo.graph() draws all branches',
    "lookup_branch": 'repo.branch("main")',
    "main": 'repo.branch("main")',
    "merge": 'repo.ref("dev").merge_into("main")',
    "properties": "repo.info()",
    "readonly_session": 'repo.ref("main") reads a branch, a tag or a commit',
    "refs": "repo.branches() and repo.tags()",
    "remotes": "there are none: the repository is on the server",
    "rev_parse": "repo.commit(ref).id",
    "status": 'repo.branch("main").uncommitted()',
    "upload_file": 'repo.branch("main").put(path, Path(file))',
    "upload_folder": 'with repo.branch("main").workspace(message) as ws: ws.upload_tree(directory, prefix)',
    "writable_session": 'with repo.branch("main").workspace(message) as ws: ...',
}
_LAKE = {
    "branches": 'lake.repository("sales").branches()',
    "buckets": "lake.repositories()",
    "clone": "there is no clone: lake.repository(name) reads and writes on the server; `lakebed local clone` fills a "
    "directory",
    "config": "lake.settings",
    "create_repo": "lake.repository(name).create(namespace)",
    "create_repository": "lake.repository(name).create(namespace)",
    "delete_repo": "lake.repository(name).delete()",
    "delete_repository": "lake.repository(name).delete()",
    "get_repository": "lake.repository(name)",
    "list_repos": "lake.repositories()",
    "list_repositories": "lake.repositories()",
    "me": "lake.user()",
    "open": 'lake.repository("sales").ref("main").open(path)',
    "ping": "lake.healthy()",
    "repo": "lake.repository(name)",
    "repos": "lake.repositories()",
    "sdk_client": "lake.request(method, path) sends any request",
    "whoami": "lake.user()",
}
_LISTING = {
    "collect": "listing.all()",
    "count": "len(listing.all())",
    "fetchall": "listing.all()",
    "head": "the method that made the listing takes limit=",
    "items": "listing.all()",
    "next": "listing.first(), or iterate",
    "pandas": "listing.to_pandas()",
    "results": "listing.all()",
    "to_list": "listing.all()",
    "tolist": "listing.all()",
    "to_pydict": "listing.to_arrow().to_pydict()",
}
_OF_CLASS = {
    "Lake": _LAKE,
    "Repository": _REPOSITORY,
    "Ref": _REF,
    "Tag": _REF,
    "Branch": _REF | _WRITABLE,
    "Workspace": {name: advice for name, advice in (_REF | _WRITABLE).items() if name not in ("add", "branch")}
    | {"abort": "ws.drop()", "cancel": "ws.drop()"},
    "Listing": _LISTING,
}


def unknown_attribute(instance: object, name: str) -> AttributeError:
    """The error for an attribute that a handle does not have. It names what has the same meaning, or a similar name."""
    cls = type(instance)
    error = AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
    if name.startswith("_"):
        return error  # probes of copy, pickle and notebooks: they need no advice
    for base in cls.__mro__:
        if advice := _OF_CLASS.get(base.__name__, {}).get(name):
            error.args = (f"{error.args[0]}; {advice}",)
            return error
    near = difflib.get_close_matches(name, [one for one in dir(cls) if not one.startswith("_")], 1)
    if near:
        error.args = (f"{error.args[0]}; did you mean {near[0]!r}?",)
    return error


def table() -> dict[str, dict[str, str]]:
    """The advice of each class, for tests and documentation."""
    return _OF_CLASS
