# Generated from sdk/lakebed/_async/handles/tag.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The tag handle: a ref that never moves."""

from __future__ import annotations

from typing import Self

from lakebed import _checks
from lakebed._gateway.operations import refs
from lakebed._sync.handles.ref import Ref
from lakebed.errors import AlreadyExistsError
from lakebed.model import RefInfo


class Tag(Ref):
    """A handle to one tag. It reads like any ref, and creates and drops the tag."""

    __module__ = "lakebed"

    @property
    def name(self) -> str:
        """The name of the tag."""
        return self.id

    def create(self, ref: str | Ref, exist_ok: bool = False) -> Self:
        """Create the tag at a ref. Returns itself.

        With `exist_ok` the call accepts an existing tag that points at the same commit.

        Raises AlreadyExistsError, NotFoundError (no such ref) and InvalidRequestError.

            repo.tag("v1").create("main")
        """
        target = _checks.check_name(ref.id if isinstance(ref, Ref) else ref, "ref")
        try:
            call = refs.create_tag(self.repository.id, self.id, target, repeatable=exist_ok)
            self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok or error.kind == "name_taken":
                raise
            there = (self.info()).commit_id
            wanted = (self.repository.commit(target)).id
            if there != wanted:
                raise AlreadyExistsError(
                    f"tag {self.id} of {self.repository.id} exists, but at {there[:12]}, not at {wanted[:12]}; "
                    "drop it first, or choose another name",
                    kind=error.kind,
                    operation=error.operation,
                    repository=self.repository.id,
                    ref=self.id,
                ) from error
        return self

    def drop(self, force: bool = False) -> None:
        """Delete the tag. Its commit stays. Raises NotFoundError.

        Example:

            repo.tag("v1").drop()
        """
        self._transport.call(refs.delete_tag(self.repository.id, self.id, force=force))

    def info(self) -> RefInfo:
        """Return the name of the tag and the commit that it points at. Raises NotFoundError.

        Example:

            print(repo.tag("v1").info().commit_id)
        """
        return self._transport.call(refs.get_tag(self.repository.id, self.id))
