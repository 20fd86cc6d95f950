"""One large object into a bucket and back, by signed addresses and through the server, in one run.

    python -m benchmarks.sdk.signed FOLDER [MIB]

Prints JSON: MiB/s each way, peak memory of a client that uploads (MiB), and KiB that passed the server. The bucket is a
real S3 server on this machine (SeaweedFS), so everything shares its cores: the ratios say what the way costs.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import servers

ROUNDS = 3
BLOCK = 1 << 20


def stream(mib: int, seed: int) -> Iterator[bytes]:
    """Blocks that differ."""
    block = os.urandom(BLOCK)
    for number in range(mib):
        yield (seed << 32 | number).to_bytes(8) + block[8:]


def up(branch: Any, mib: int, path: str, data_path: str, seed: int) -> float:
    """MiB/s, until the commit is answered."""
    start = time.perf_counter()
    with branch.workspace(path, data_path=data_path) as workspace:
        workspace.put(path, stream(mib, seed))
    return mib / (time.perf_counter() - start)


def down(branch: Any, mib: int, path: str, target: Path) -> float:
    """MiB/s into a file."""
    start = time.perf_counter()
    branch.download(path, target)
    return mib / (time.perf_counter() - start)


def client(mib: int) -> None:
    """Upload once, and print the peak memory of this process in MiB."""
    import lakebed

    with lakebed.connect() as lake:
        up(lake.repository("signed").branch("main"), mib, "counted", "presigned", 99)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def peak_of_client(endpoint: str, keys: list[str], mib: int) -> float:
    """Of a process that does nothing else."""
    names = ("LAKEBED_ENDPOINT", "LAKEBED_ACCESS_KEY_ID", "LAKEBED_SECRET_ACCESS_KEY")
    env = {**os.environ, **dict(zip(names, (endpoint, *keys), strict=True))}
    command = [sys.executable, "-m", "benchmarks.sdk.signed", "client", str(mib)]
    return float(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)


def measure(folder: Path, mib: int) -> dict[str, float]:
    """Medians of ROUNDS, the ways one after the other in each."""
    import lakebed

    from tests.sdk.live import Proxy
    from tests.support.services.s3 import running_seaweedfs

    rates: dict[str, list[float]] = {}
    found: dict[str, float] = {"mib": mib}
    with running_seaweedfs() as bucket:
        s3 = {"ENDPOINT": bucket.endpoint, "REGION": "us-east-1", "ACCESS_KEY_ID": bucket.access_key_id,
              "SECRET_ACCESS_KEY": bucket.secret_access_key, "ALLOW_HTTP": "true"}  # fmt: skip
        os.environ.update({f"LAKEBED_OBJECTS_S3_{name}": value for name, value in s3.items()})
        with servers.lakebed(folder / "signed") as server:
            endpoint, *keys = server.credentials
            proxy = Proxy(endpoint)
            counted = lakebed.connect(proxy.endpoint, *keys).repository("signed").create(bucket.namespace())
            found["peak_mib"] = peak_of_client(proxy.endpoint, keys, mib)
            down(counted.branch("main"), mib, "counted", folder / "counted")
            found["through_kib"] = (proxy.uploaded + proxy.downloaded) / 1024
            proxy.close()
            main = lakebed.connect(endpoint, *keys).repository("signed").branch("main")
            for n in range(ROUNDS):
                for way in ("presigned", "proxied"):
                    os.environ["LAKEBED_DATA_PATH"] = way
                    rates.setdefault(f"{way}_up", []).append(up(main, mib, f"{way}-{n}", way, n))
                    rates.setdefault(f"{way}_down", []).append(down(main, mib, f"{way}-{n}", folder / "out"))
    return found | {f"{name}_mib_s": statistics.median(each) for name, each in rates.items()}


if __name__ == "__main__":
    place, *amount = sys.argv[1:]
    size = int(amount[0]) if amount else 512
    if place == "client":
        client(size)
    else:
        print(json.dumps(measure(Path(place), size)))
