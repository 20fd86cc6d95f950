"""Calls about the files that the history is made of. Their bytes are not in the generated client."""

from __future__ import annotations

from typing import Literal

from lakebed._gateway import answers, convert
from lakebed._gateway._build import call, clean, reads, segment
from lakebed._wire import Call, Subject
from lakebed.model import RefsDump


def file(repository: str, kind: Literal["range", "meta_range"], id: str) -> Call[bytes]:
    """The bytes of a range or a metarange."""
    kwargs = {
        "method": "get",
        "url": f"/repositories/{segment(repository)}/metadata/object/{kind}/{segment(id)}",
        "headers": {"Accept": "*/*", "Accept-Encoding": "identity"},
    }
    return call("getMetadataObject", kwargs, lambda answer: answer.content, Subject(repository))


def symlinks(repository: str, branch: str, location: str) -> Call[str]:
    """Write lists of where the data of a branch lie; gives the address that they lie below."""
    from lakebed_api.api.metadata import create_symlink_file
    from lakebed_api.models import StorageURI

    kwargs = create_symlink_file._get_kwargs(repository, branch, **clean(location=location))
    parse = reads(StorageURI.from_dict, lambda found: convert.text(found.location))
    return call("createSymlinkFile", kwargs, parse, Subject(repository, branch), success=201, repeat="safe", slow=True)


def dump(repository: str) -> Call[RefsDump]:
    """Write all commits, branches and tags to the storage namespace."""
    from lakebed_api.api.metadata import dump_refs
    from lakebed_api.models import RefsDump as WireDump

    kwargs = dump_refs._get_kwargs(repository)
    parse = reads(
        WireDump.from_dict,
        lambda found: RefsDump(
            convert.text(found.commits_meta_range_id),
            convert.text(found.tags_meta_range_id),
            convert.text(found.branches_meta_range_id),
        ),
    )
    return call("dumpRefs", kwargs, parse, Subject(repository), success=201, repeat="safe", slow=True)


def restore(repository: str, refs: RefsDump) -> Call[None]:
    """Read a dump into a repository that has no branches."""
    from lakebed_api.api.metadata import restore_refs
    from lakebed_api.models import RefsRestore

    body = RefsRestore(
        commits_meta_range_id=refs.commits, tags_meta_range_id=refs.tags, branches_meta_range_id=refs.branches
    )
    kwargs = restore_refs._get_kwargs(repository, body=body)
    return call("restoreRefs", kwargs, answers.nothing, Subject(repository), slow=True)
