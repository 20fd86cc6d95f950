"""The async API: the same names as `lakebed`, with `await`, `async with` and `async for`.

async with lakebed.aio.connect() as lake:
    main = lake.repository("sales").branch("main")
    await main.put("notes.txt", b"hello")
    await main.commit("say hello")
"""

from __future__ import annotations

from lakebed._async.access.groups import Groups
from lakebed._async.access.keys import Keys
from lakebed._async.access.policies import Policies
from lakebed._async.access.users import Users
from lakebed._async.commits.pulls import Pulls
from lakebed._async.handles.branch import Branch
from lakebed._async.handles.lake import Lake, connect
from lakebed._async.handles.ref import Ref
from lakebed._async.handles.repository import Repository
from lakebed._async.handles.tag import Tag
from lakebed._async.handles.task import Dump, Import, Restore, Task
from lakebed._async.handles.workspace import Selection, Workspace
from lakebed._async.hooks.runs import Deliveries, Runs
from lakebed._async.http.events import Events
from lakebed._async.http.pagination import Listing
from lakebed._async.tables.diff import Diff
from lakebed._async.tables.scan import Scan
from lakebed._compat.aio_files import OpenFile

__all__ = [
    "Branch",
    "Deliveries",
    "Diff",
    "Dump",
    "Events",
    "Groups",
    "Import",
    "Keys",
    "Lake",
    "Listing",
    "OpenFile",
    "Policies",
    "Pulls",
    "Ref",
    "Repository",
    "Restore",
    "Runs",
    "Scan",
    "Selection",
    "Tag",
    "Task",
    "Users",
    "Workspace",
    "connect",
]
