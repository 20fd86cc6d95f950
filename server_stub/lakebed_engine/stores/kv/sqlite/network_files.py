"""Detects file systems on which SQLite is not safe, because several machines can mount them.

In WAL mode, SQLite uses memory that processes of one machine share. Two servers on a network share would silently
corrupt the database, and may notice it late. Linux reports the type of each mounted file system.
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
