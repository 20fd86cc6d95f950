"""Opens the store of a namespace URI.

It checks each name once, so that no adapter gets a name that leaves its storage.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from pathlib import Path

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.disk_cache import DiskCache, DiskCached
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.direct_writes import CLOUD_SCHEMES
from lakebed_engine.vocabulary.errors import InvalidNamespaceError

_URI = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.DOTALL)
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=@+-]{0,99}")
_PATH = 500


class Stores:
    """Opens `local://NAME[/more]` below one directory, `mem://NAME` in this process, and buckets of the clouds.

    Without `local_root`, `memory` or `cloud` it refuses these schemes. The same URI gives the same store. `cache`
    caches the metadata of cloud stores on the local disk. With `keep_root` the local root must exist and is never
    made: if it disappears, its stores fail. Without `durable`, `local://` does not wait for the disk: its data survives
    the end of this process, but not a failure of the machine.
    """

    def __init__(
        self,
        local_root: Path | None,
        memory: bool = True,
        cloud: CloudOptions | None = None,
        cache: DiskCache | None = None,
        keep_root: bool = False,
        durable: bool = True,
    ) -> None:
        # the administrator chose this link, so follow it now. Later links are not followed.
        self._local_root = None if local_root is None else local_root.resolve()
        self._base = self._local_root if keep_root else None
        self._memory = memory
        self._cloud = cloud
        self._cache = cache
        self._calls = SystemCalls() if durable else UnsyncedCalls()
        self._threads = Threads()
        self._lock = threading.Lock()
        self._stores: dict[str, ObjectStore] = {}
        self._foreign: dict[str, ObjectStore] = {}

    def open(self, uri: str) -> ObjectStore:
        """The store of a URI. Ignores a final slash. Raises InvalidNamespaceError, which names the broken rule."""
        store = self._stores.get(uri)
        if store is not None:
            return store
        scheme, path = _split(uri)
        name = f"{scheme}://{path}"
        with self._lock:
            if name not in self._stores:
                self._stores[name] = self._make(scheme, path, name)
            return self._stores[name]

    def open_foreign(self, uri: str) -> ObjectStore:
        """A store to read only. It is never written to, not even to test what it can do. Raises as `open`."""
        if not uri.startswith(tuple(f"{scheme}://" for scheme in CLOUD_SCHEMES)):
            return self.open(uri)
        scheme, path = _split(uri)
        name = f"{scheme}://{path}"
        with self._lock:
            if name not in self._foreign:
                self._foreign[name] = self._make_cloud(name, foreign=True)
            return self._foreign[name]

    def close(self) -> None:
        """Forget all stores, with the data of `mem://`, and end the threads."""
        with self._lock:
            self._stores, self._foreign = {}, {}
        self._threads.close()

    def _make(self, scheme: str, path: str, name: str) -> ObjectStore:
        if scheme == "mem":
            if not self._memory:
                raise InvalidNamespaceError(f"mem:// is switched off on this server: {name}")
            return MemoryObjects(name)
        if scheme in CLOUD_SCHEMES:
            return self._make_cloud(name)
        if self._local_root is None:
            raise InvalidNamespaceError(
                f"local:// is not configured: give the server a storage directory to use {name}"
            )
        return LocalObjects(self._local_root / path, name, threads=self._threads, calls=self._calls, base=self._base)

    def _make_cloud(self, name: str, *, foreign: bool = False) -> ObjectStore:
        if self._cloud is None:
            raise InvalidNamespaceError(f"cloud stores are switched off on this server: {name}")
        if not cloud_installed():
            raise InvalidNamespaceError(
                f"{name} needs a package that is not installed on the server's machine: pip install 'lakebed[s3]' there"
            )
        store = CloudObjects(name, self._cloud, threads=self._threads, foreign=foreign)
        return store if self._cache is None or foreign else DiskCached(store, self._cache, self._threads)


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
