"""File systems on which SQLite is not safe: several machines mount them.

In WAL mode SQLite shares memory between processes, which ends at the machine. Two servers on one share would corrupt
the database silently, and the first sign of it may come late. Linux says of each mounted file system what it is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mountinfo")

# 9p and virtiofs are missing on purpose: they are the root file system of containers and virtual machines
_NETWORK: Final = frozenset({
    "afs", "beegfs", "ceph", "cifs", "davfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "orangefs", "pvfs2", "smb2", "smb3", "smbfs",
})  # fmt: skip
_NETWORK_FUSE: Final = frozenset({
    "blobfuse", "blobfuse2", "ceph-fuse", "curlftpfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "juicefs",
    "moosefs", "mount-s3", "rclone", "s3fs", "seaweedfs", "sshfs",
})  # fmt: skip


def network_file_system(directory: Path, mounts: Path | None = None) -> str:
    """The type of a file system that several machines mount, such as `nfs4`; empty for others and unknown ones."""
    try:
        lines = (mounts or MOUNTS).read_text(errors="replace").splitlines()
    except OSError:
        return ""  # not Linux
    device = os.stat(directory).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        # 36 35 98:0 /subtree /mountpoint rw,noatime shared:1 - nfs4 host:/export rw
        mount, _, what = line.partition(" - ")
        if mount.split(" ")[2:3] == [wanted]:
            kind = what.split(" ")[0]
            return kind if _is_network(kind) else ""
    return ""


def _is_network(kind: str) -> bool:
    name = kind.removeprefix("fuse.")
    return kind in _NETWORK or (name != kind and name in _NETWORK_FUSE)
