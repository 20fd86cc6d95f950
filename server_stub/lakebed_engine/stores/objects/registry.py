"""Opens the store of a namespace URI, in the default store or in a named one.

It checks each name once, so that no adapter gets a name that leaves its storage.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakebed_engine.stores.objects.absent import AbsentStore
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.disk_cache import DiskCache, DiskCached
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.observed import observed
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.direct_writes import CLOUD_SCHEMES
from lakebed_engine.vocabulary.errors import InvalidNamespaceError
from lakebed_engine.vocabulary.observer import CacheUse, Observer

_URI = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.DOTALL)
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=@+-]{0,99}")
_PATH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStore:
    """A named store: namespaces of one scheme, with options of their own.

    `prefixes`: the namespaces in which repositories may be created, as URIs. Empty: everywhere in the store. `root`:
    the directory of `local://`.
    """

    scheme: str
    root: Path | None = None
    cloud: CloudOptions | None = None
    prefixes: tuple[str, ...] = ()


class Stores:
    """Opens `local://NAME[/more]` below one directory, `mem://NAME` in this process, and buckets of the clouds.

    Without `local_root`, `memory` or `cloud` it refuses these schemes. The same URI gives the same store. `cache`
    caches the metadata of cloud stores on the local disk. With `keep_root` the local root must exist and is never
    made: if it disappears, its stores fail. Without `durable`, `local://` does not wait for the disk: its data survives
    the end of this process, but not a failure of the machine. `named`: further stores by their ids; all other
    arguments are the default store, whose id is empty. `observer` gets reports of all calls.
    """

    def __init__(
        self,
        local_root: Path | None,
        memory: bool = True,
        cloud: CloudOptions | None = None,
        cache: DiskCache | None = None,
        keep_root: bool = False,
        durable: bool = True,
        named: Mapping[str, NamedStore] | None = None,
        observer: Observer | None = None,
    ) -> None:
        # the administrator chose this link, so follow it now. Later links are not followed.
        self._local_root = None if local_root is None else local_root.resolve()
        self._base = self._local_root if keep_root else None
        self._memory = memory
        self._cloud = cloud
        self._cache = cache
        self._calls = SystemCalls() if durable else UnsyncedCalls()
        self._threads = Threads()
        self._local_objects = LocalObjects if observer is None else observed(LocalObjects, observer)
        self._cloud_objects = CloudObjects if observer is None else observed(CloudObjects, observer)
        self._memory_objects = MemoryObjects if observer is None else observed(MemoryObjects, observer)
        self._lock = threading.Lock()
        self._named = dict(named or {})
        self._stores: dict[tuple[str, str], ObjectStore] = {}
        self._foreign: dict[tuple[str, str], ObjectStore] = {}

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        """The store of a URI. Ignores a final slash. Raises InvalidNamespaceError, which names the broken rule.

        For the id of a store that this server does not have, it returns a store whose calls raise NoStoreError.
        """
        store = self._stores.get((store_id, uri))
        if store is not None:
            return store
        scheme, path = _split(uri)
        name = f"{scheme}://{path}"
        with self._lock:
            if (store_id, name) not in self._stores:
                self._stores[store_id, name] = self._make(scheme, path, name, store_id)
            return self._stores[store_id, name]

    def open_foreign(self, uri: str, store_id: str = "") -> ObjectStore:
        """A read-only store. The engine never writes to it, not even for a test. Raises the errors of `open`."""
        if not uri.startswith(tuple(f"{scheme}://" for scheme in CLOUD_SCHEMES)):
            return self.open(uri, store_id)
        scheme, path = _split(uri)
        name = f"{scheme}://{path}"
        with self._lock:
            if (store_id, name) not in self._foreign:
                self._foreign[store_id, name] = self._make(scheme, path, name, store_id, foreign=True)
            return self._foreign[store_id, name]

    def check_new(self, uri: str, store_id: str) -> None:
        """Check that a repository may be created in a namespace of a store. Raises InvalidNamespaceError."""
        scheme, path = _split(uri)
        if not store_id:
            return
        store = self._named.get(store_id)
        if store is None:
            known = ", ".join(map(repr, self._named)) or "none"
            raise InvalidNamespaceError(
                f"this server has no store {store_id[:80]!r}: leave the store out for the default one; named stores "
                f"(settings stores.*): {known}"
            )
        if scheme != store.scheme:
            raise InvalidNamespaceError(
                f"store {store_id!r} has {store.scheme}:// namespaces, not {scheme}://: {uri!r}"
            )
        if store.prefixes and not f"{scheme}://{path}/".startswith(tuple(f"{one}/" for one in store.prefixes)):
            raise InvalidNamespaceError(
                f"store {store_id!r} takes namespaces below {', '.join(store.prefixes)} only (stores.{store_id}."
                f"prefixes), not {uri!r}"
            )

    def cache_use(self) -> CacheUse:
        """The use of the cache on disk by this process."""
        return CacheUse(0, 0) if self._cache is None else CacheUse(self._cache.hits, self._cache.misses)

    def close(self) -> None:
        """Forget all stores, with the data of `mem://`, and end the threads."""
        with self._lock:
            self._stores, self._foreign = {}, {}
        self._threads.close()

    def _make(self, scheme: str, path: str, name: str, store_id: str, *, foreign: bool = False) -> ObjectStore:
        if store_id:
            return self._make_named(scheme, path, name, store_id, foreign=foreign)
        if scheme == "mem":
            if not self._memory:
                raise InvalidNamespaceError(f"mem:// is switched off on this server: {name}")
            return self._memory_objects(name)
        if scheme in CLOUD_SCHEMES:
            return self._make_cloud(name, self._cloud, store_id, foreign=foreign)
        if self._local_root is None:
            raise InvalidNamespaceError(
                f"local:// is not configured: give the server a storage directory to use {name}"
            )
        return self._make_local(self._local_root, path, name, self._base)

    def _make_named(self, scheme: str, path: str, name: str, store_id: str, *, foreign: bool) -> ObjectStore:
        store = self._named.get(store_id)
        if store is None:
            return AbsentStore(
                name,
                f"the settings of this server have no store {store_id!r}: set stores.{store_id}.type and its other "
                "settings again",
            )
        if store.scheme != scheme:
            text = (
                f"store {store_id!r} has {store.scheme}:// namespaces now: correct the setting stores.{store_id}.type"
            )
            return AbsentStore(name, text)
        if scheme == "mem":
            return self._memory_objects(name)
        if store.root is not None:
            return self._make_local(store.root, path, name, store.root)
        return self._make_cloud(name, store.cloud, store_id, foreign=foreign)

    def _make_local(self, root: Path, path: str, name: str, base: Path | None) -> ObjectStore:
        return self._local_objects(root / path, name, threads=self._threads, calls=self._calls, base=base)

    def _make_cloud(self, name: str, options: CloudOptions | None, store_id: str, *, foreign: bool) -> ObjectStore:
        if options is None:
            raise InvalidNamespaceError(f"cloud stores are switched off on this server: {name}")
        if not cloud_installed():
            raise InvalidNamespaceError(
                f"{name} needs a package of the extra `s3` that is not installed on the server's machine: `lakebed "
                "doctor` there prints the command"
            )
        store = self._cloud_objects(name, options, threads=self._threads, foreign=foreign)
        return store if self._cache is None or foreign else DiskCached(store, self._cache, self._threads, store_id)


def cloud_installed() -> bool:
    """Whether obstore, which the cloud stores need, is installed."""
    return importlib.util.find_spec("obstore") is not None


def _split(uri: str) -> tuple[str, str]:
    match = _URI.fullmatch(uri)
    if match is None:
        raise InvalidNamespaceError(f"a storage namespace is a URI such as local://sales or mem://sales, not {uri!r}")
    scheme, path = match[1], match[2]
    if scheme not in {"local", "mem", *CLOUD_SCHEMES}:
        raise InvalidNamespaceError(
            f"no adapter is configured for {scheme}://; there are local://, mem://, s3://, gs:// and az://: {uri!r}"
        )
    path = path.removesuffix("/")
    if not path or path.startswith("/"):
        raise InvalidNamespaceError(
            f"a storage namespace is {scheme}://NAME, below the server's own storage: no empty name, no absolute path: "
            f"{uri!r}"
        )
    for part in path.split("/"):
        if not _PART.fullmatch(part):
            raise InvalidNamespaceError(
                "each part of a storage namespace has 1 to 100 of the characters A-Z a-z 0-9 . _ = @ + - and begins "
                f"with a letter, a digit or _ (so no `..`, no empty part, no %-escapes); {part!r} is not, in {uri!r}"
            )
    if len(path) > _PATH:
        raise InvalidNamespaceError(
            f"a storage namespace has at most {_PATH} characters, this one {len(path)}: {uri!r}"
        )
    return scheme, path
