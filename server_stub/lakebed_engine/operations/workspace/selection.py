"""A part of a delta, selected by globs in gitignore style."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pyarrow as pa
from lakebed_format.globs import names_of

from lakebed_engine.operations.branch.view import layers_delta
from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.validation import read_globs
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.records import Layer


class Globs:
    """Patterns as in a .gitignore file, which select paths. Raises InvalidRequestError for an invalid one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._globs = read_globs(texts)
        self._idle = set(range(len(texts)))

    @property
    def choose_all(self) -> bool:
        """Whether there are no globs."""
        return not self._texts

    def mask(self, rows: pa.Table) -> pa.Array:
        """Which rows are chosen."""
        return pa.array([self._match(path) for path in rows.column("path").to_pylist()], pa.bool_())

    def _match(self, path: str) -> bool:
        if self._idle:
            names = names_of(path)
            self._idle = {index for index in self._idle if not self._globs.globs[index].rank(names)}
        return self._globs.choose(path)

    def refuse_idle(self) -> None:
        """Raises InvalidRequestError when a glob has matched none of the tested paths."""
        if self._idle:
            raise InvalidRequestError(
                f"glob {self._texts[min(self._idle)][:80]!r} matches no change of the workspace: nothing was done"
            )


class Chosen:
    """The rows of sealed layers that the globs choose, and the other rows. Both streams can be read repeatedly."""

    def __init__(self, ctx: Context, repo: Repo, layers: Sequence[Layer], globs: Globs) -> None:
        self._ctx = ctx
        self._repo = repo
        self._layers = layers
        self._globs = globs
        self._kept: list[pa.Table] | None = None

    async def load(self) -> int:
        """Read all rows once. Returns the number of chosen rows. Keeps a small delta in memory."""
        most = self._ctx.tuning.kept_rows
        kept: list[pa.Table] = []
        seen = chosen = 0
        async for rows in self.everything():
            chosen += (await self._choose(rows, True)).num_rows
            seen += rows.num_rows
            if seen <= most:
                kept.append(rows)
        self._kept = kept if seen <= most else None
        return chosen

    def refuse_idle(self) -> None:
        """Raise as `Globs.refuse_idle`. Call after `load`."""
        self._globs.refuse_idle()

    async def paths(self) -> list[str]:
        """The paths of the chosen rows, in order. Only for few rows."""
        return [path async for rows in self.rows() for path in rows.column("path").to_pylist()]

    def few(self, most: int) -> list[str] | None:
        """All paths, chosen or not, in order. None when there are more than `most`."""
        if self._kept is None or sum(rows.num_rows for rows in self._kept) > most:
            return None
        return [path for rows in self._kept for path in rows.column("path").to_pylist()]

    async def everything(self) -> AsyncIterator[pa.Table]:
        """All rows, chosen or not."""
        if self._kept is not None:
            for rows in self._kept:
                yield rows
            return
        async for rows in layers_delta(self._ctx, self._repo, self._layers):
            yield rows

    async def rows(self) -> AsyncIterator[pa.Table]:
        """The chosen rows."""
        async for rows in self.everything():
            chosen = await self._choose(rows, True)
            if chosen.num_rows:
                yield chosen

    async def rest(self) -> AsyncIterator[pa.Table]:
        """The other rows."""
        async for rows in self.everything():
            others = await self._choose(rows, False)
            if others.num_rows:
                yield others

    async def _choose(self, rows: pa.Table, chosen: bool) -> pa.Table:
        if self._globs.choose_all:
            return rows if chosen else rows.slice(0, 0)
        return await self._ctx.runtime.cpu(_filtered, rows, self._globs, chosen)


def _filtered(rows: pa.Table, globs: Globs, chosen: bool) -> pa.Table:
    mask = globs.mask(rows)
    return rows.filter(mask if chosen else pa.compute.invert(mask)).combine_chunks()
