"""Calls about branches and tags."""

from __future__ import annotations

from functools import partial

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean
from lakebed._values.wire import Call, Subject
from lakebed.model import Page, RefInfo


def list_branches(repository: str, *, prefix: str, hidden: bool, after: str, amount: int) -> Call[Page[RefInfo]]:
    """One page of branches."""
    from lakebed_api.api.branches import list_branches

    kwargs = list_branches._get_kwargs(
        repository, **clean(prefix=prefix, after=after, amount=amount, show_hidden=hidden or None)
    )
    return call(
        "listBranches",
        kwargs,
        calls.parser(partial(convert.listing, convert_row=convert.ref, after=after)),
        Subject(repository),
    )


def create_branch(repository: str, branch: str, source: str, *, hidden: bool, repeatable: bool) -> Call[str]:
    """Create a branch. Returns the commit that it points to. The response is plain text."""
    from lakebed_api.api.branches import create_branch
    from lakebed_api.models import BranchCreation

    return call(
        "createBranch",
        create_branch._get_kwargs(repository, body=BranchCreation(name=branch, source=source, hidden=hidden)),
        lambda answer: answer.content.decode().strip(),
        Subject(repository, branch, also=(source,)),
        success=201,
        repeat="safe" if repeatable else "unsent",
    )


def get_branch(repository: str, branch: str) -> Call[RefInfo]:
    """Describe a branch."""
    from lakebed_api.api.branches import get_branch

    kwargs = get_branch._get_kwargs(repository, branch)
    return call("getBranch", kwargs, calls.parser(convert.ref), Subject(repository, branch))


def delete_branch(repository: str, branch: str, *, force: bool) -> Call[None]:
    """Delete a branch."""
    from lakebed_api.api.branches import delete_branch

    kwargs = delete_branch._get_kwargs(repository, branch, **clean(force=force or None))
    return call("deleteBranch", kwargs, calls.nothing, Subject(repository, branch), success=204)


def reset_branch(repository: str, branch: str, path: str | None, prefix: str | None = None) -> Call[None]:
    """Drop uncommitted changes: of one path, of all paths below a prefix, or all.

    Not repeated after a lost response: it would also drop changes that another writer staged after the first reset.
    """
    from lakebed_api.api.branches import reset_branch
    from lakebed_api.models import ResetCreation, ResetType

    body = ResetCreation(type_=ResetType.RESET)
    if path is not None:
        body = ResetCreation(type_=ResetType.OBJECT, path=path)
    elif prefix is not None:
        body = ResetCreation(type_=ResetType.COMMON_PREFIX, path=prefix)
    kwargs = reset_branch._get_kwargs(repository, branch, body=body)
    return call("resetBranch", kwargs, calls.nothing, Subject(repository, branch, path), success=204)


def list_tags(repository: str, *, prefix: str, after: str, amount: int) -> Call[Page[RefInfo]]:
    """One page of tags."""
    from lakebed_api.api.tags import list_tags

    kwargs = list_tags._get_kwargs(repository, **clean(prefix=prefix, after=after, amount=amount))
    return call(
        "listTags",
        kwargs,
        calls.parser(partial(convert.listing, convert_row=convert.ref, after=after)),
        Subject(repository),
    )


def create_tag(repository: str, tag: str, ref: str, *, repeatable: bool) -> Call[RefInfo]:
    """Create a tag."""
    from lakebed_api.api.tags import create_tag
    from lakebed_api.models import TagCreation

    return call(
        "createTag",
        create_tag._get_kwargs(repository, body=TagCreation(id=tag, ref=ref)),
        calls.parser(convert.ref),
        Subject(repository, tag, also=(ref,)),
        success=201,
        repeat="safe" if repeatable else "unsent",
    )


def get_tag(repository: str, tag: str) -> Call[RefInfo]:
    """Describe a tag."""
    from lakebed_api.api.tags import get_tag

    kwargs = get_tag._get_kwargs(repository, tag)
    return call("getTag", kwargs, calls.parser(convert.ref), Subject(repository, tag))


def delete_tag(repository: str, tag: str, *, force: bool) -> Call[None]:
    """Delete a tag."""
    from lakebed_api.api.tags import delete_tag

    kwargs = delete_tag._get_kwargs(repository, tag, **clean(force=force or None))
    return call("deleteTag", kwargs, calls.nothing, Subject(repository, tag), success=204)
