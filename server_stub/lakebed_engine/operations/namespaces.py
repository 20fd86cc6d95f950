"""Checks of storage namespaces: no namespace of a repository may be inside another."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_engine.operations.context import Context
from lakebed_engine.operations.keys import NAMESPACES, beginning_with, inside_namespace
from lakebed_engine.stores.kv.base import Versioned
from lakebed_engine.vocabulary.errors import InvalidRequestError, NamespaceInUseError


async def refuse_overlap(ctx: Context, namespace: str) -> None:
    """Raises NamespaceInUseError if the namespace is inside another one or contains one."""
    inside = await ctx.kv.scan(NAMESPACES, *inside_namespace(namespace), 1)
    above = namespaces_above(namespace)
    taken = [key for key, row in zip(above, await _get_all(ctx, above), strict=True) if row is not None]
    if inside or taken:
        raise overlap(namespace, taken[0] if taken else inside[0].key.decode())


def namespaces_above(namespace: str) -> list[str]:
    """The namespaces that contain this one, and itself. Example: `mem://a/b` gives `mem://a`, `mem://a/b`."""
    return ["/".join(namespace.split("/")[:depth]) for depth in range(3, namespace.count("/") + 2)]


def overlap(namespace: str, other: str) -> NamespaceInUseError:
    """The error for a namespace that is inside another one, contains it or equals it."""
    return NamespaceInUseError(f"storage namespace {namespace!r} is in use: it overlaps {other!r}; choose another")


async def _get_all(ctx: Context, keys: Sequence[str]) -> list[Versioned | None]:
    return await ctx.kv.get_many(NAMESPACES, [key.encode() for key in keys])


async def refuse_namespaces(ctx: Context, uri: str, *, by_name: bool = False) -> None:
    """Raises InvalidRequestError for a URI in a repository's namespace: its sweep may delete data there.

    `by_name`: the URI is a prefix of keys, so a namespace that begins with it is refused too.
    """
    try:
        await refuse_overlap(ctx, uri.rstrip("/"))
        within_bucket = uri.count("/") > 2  # `mem://a` is a bucket, and not a prefix of `mem://ab`
        if by_name and within_bucket and (found := await ctx.kv.scan(NAMESPACES, *beginning_with(uri), 1)):
            raise overlap(uri, found[0].key.decode())
    except NamespaceInUseError as error:
        raise InvalidRequestError(
            f"invalid import source {uri[:200]!r}: it holds data of a repository ({error.message})"
        ) from None
