"""Runs the steps of deploy/container/Dockerfile without a container daemon, as root, in clean root file systems.

    mmdebstrap --mode=root --variant=minbase bookworm ROOTFS     # the image BASE
    python tools/run_dockerfile.py ROOTFS FOLDER                 # FOLDER: where the stages are made

It understands the instructions that this Dockerfile uses: ARG, FROM, WORKDIR, COPY, RUN, ENV and USER. A stage on
another image than BASE is not run: the page must be built already (`make ui`). At the end it removes the shells, starts
the image's command as its user in a file system that is read-only but for the volumes, and runs the health check.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
DOCKERFILE: Final = ROOT / "deploy/container/Dockerfile"
PATIENCE: Final = 120.0
_CHROOT: Final = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "chroot"
_INDEX: Final = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "HTTPS_PROXY", "https_proxy")
_AUTHORITIES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_PLACED: Final = "/etc/machine-authorities.crt"
"""Where RUN finds the authorities of this machine, whose package index may have one of its own."""


class Step(NamedTuple):
    """An instruction and its text."""

    name: str
    text: str


def steps() -> list[Step]:
    """The instructions of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [Step(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


class Stage:
    """A stage: a copy of the base, and the state that instructions leave."""

    def __init__(self, base: Path, place: Path) -> None:
        subprocess.run(["cp", "-a", str(base), str(place)], check=True)
        for name in ("resolv.conf", "hosts"):
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), place / "etc" / name)
        for source in (
            "/etc/apt/sources.list",
            "/etc/apt/sources.list.d",
            "/etc/apt/apt.conf.d",
            "/etc/apt/trusted.gpg.d",
        ):
            if Path(source).is_dir():
                shutil.copytree(source, place / source[1:], dirs_exist_ok=True)
            elif Path(source).exists():
                shutil.copy(source, place / source[1:])
        if _AUTHORITIES.exists():
            shutil.copy(_AUTHORITIES, place / _PLACED[1:])
        self.place = place
        self.folder = "/"
        self.environment: dict[str, str] = {}
        self.command: list[str] = []
        self.check: list[str] = []
        self.user = "0:0"

    def inside(self, path: str) -> Path:
        """Where a path of the stage is on this machine."""
        return self.place / os.path.join(self.folder, path).lstrip("/")

    def run(self, command: str) -> None:
        """RUN: in the file system of the stage, with the package index of this machine."""
        print("RUN", command[:160], flush=True)
        index = {name: os.environ[name] for name in _INDEX if name in os.environ}
        trusted = dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), _PLACED) if _AUTHORITIES.exists() else {}
        machine = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **index, **trusted}
        environment = {**machine, **self.environment}
        text = f"cd {shlex.quote(self.folder)} && {command}"
        subprocess.run([_CHROOT, str(self.place), "/bin/sh", "-ec", text], env=environment, check=True)

    def copy(self, text: str, stages: dict[str, Stage | None]) -> None:
        """COPY, from the repository or from a stage."""
        words = text.split()
        source_of = ROOT
        if words[0].startswith("--from="):
            stage = stages[words.pop(0).removeprefix("--from=")]
            if stage is None:  # the page, which was built outside
                words[0] = words[0].removeprefix("/src/")
            else:
                source_of, words[0] = stage.place, words[0].lstrip("/")
        *sources, target = words
        for source in sources:
            place = self.inside(target)
            if (source_of / source).is_dir():
                shutil.copytree(source_of / source, place, symlinks=True, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
            else:
                place = place / Path(source).name if target.endswith("/") else place
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source_of / source, place)

    def apply(self, step: Step, stages: dict[str, Stage | None]) -> None:
        """One instruction."""
        if step.name == "RUN":
            self.run(step.text)
        elif step.name == "COPY":
            self.copy(step.text, stages)
        elif step.name == "WORKDIR":
            self.folder = step.text
            self.inside("").mkdir(parents=True, exist_ok=True)
        elif step.name == "ENV":
            self.environment |= dict(word.split("=", 1) for word in shlex.split(step.text))
        elif step.name == "USER":
            self.user = step.text
        elif step.name in ("ENTRYPOINT", "CMD"):
            self.command += json.loads(step.text)
        elif step.name == "HEALTHCHECK":
            self.check = json.loads(step.text.partition("CMD ")[2])


def build(base: Path, folder: Path) -> Stage:
    """Run every stage on BASE. The last stage."""
    stages: dict[str, Stage | None] = {}
    last: Stage | None = None
    for step in steps():
        if step.name == "FROM":
            image, *more = step.text.split()
            name = more[1] if more else "image"
            last = Stage(base, folder / name) if image == "${BASE}" else None
            stages[name] = last
        elif last is not None and step.name != "ARG":
            last.apply(step, stages)
    assert last is not None, "the last stage is on BASE"
    return last


def start(image: Stage) -> None:
    """Start the image as a container would, without a shell in it, and run its health check."""
    for shell in ("bin/sh", "bin/bash", "bin/dash"):
        image.inside(f"/usr/{shell}").unlink(missing_ok=True)
    data, temporary = (image.inside(path) for path in ("/var/lib/lakebed", "/tmp"))
    mounts = (
        f"mount --bind {image.place} {image.place} && mount -o remount,bind,ro {image.place} && "
        f"mount -t tmpfs -o uid=10001,gid=10001,mode=0700 none {data} && "
        f"mount -t tmpfs -o mode=1777 none {temporary} && "
        f"mount -t proc none {image.inside('/proc')} && mount --bind /dev {image.inside('/dev')} && "
        f'exec {_CHROOT} --userspec={image.user} {image.place} "$@"'
    )
    environment = {**image.environment, "LAKEBED_LISTEN_HOST": "127.0.0.1"}
    print("START", *image.command, flush=True)
    path = {"PATH": f"{environment['PATH']}:/usr/sbin:/sbin"}
    started = ["unshare", "-m", "sh", "-ec", mounts, "sh", *image.command]
    server = subprocess.Popen(started, env=environment | path)
    try:
        deadline = time.monotonic() + PATIENCE
        check = [_CHROOT, f"--userspec={image.user}", str(image.place), *image.check]
        while subprocess.run(check, env=image.environment, stderr=subprocess.DEVNULL, check=False).returncode:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the health check never passed"
            time.sleep(0.5)
        print("HEALTHY", flush=True)
    finally:
        server.terminate()
        print("STOPPED with", server.wait(PATIENCE), flush=True)


def main() -> None:
    """Build the stages, then start the image."""
    base, folder = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True)
    image = build(base, folder)
    assert image.inside("/opt/lakebed/lakebed.cdx.json").stat().st_size > 0, "the SBOM is missing"
    start(image)


if __name__ == "__main__":
    main()
