"""deploy/container: the Dockerfile passes hadolint, its paths exist, and the compose file fits to the settings.

No container daemon is needed. tools/run_dockerfile.py runs the steps of the Dockerfile in a clean root file system.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from lakebed_server.settings.load import CLIENT_ENV, SECRET_FILES, load
from lakebed_server.settings.schema import KEYS

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/container/Dockerfile"
COMPOSE: Any = yaml.safe_load((ROOT / "deploy/container/compose.yaml").read_text())


def stages() -> list[str]:
    return re.split(r"^FROM ", DOCKERFILE.read_text(), flags=re.MULTILINE)[1:]


def instruction(stage: str, name: str) -> str:
    (found,) = re.findall(rf"^{name} (.*?[^\\])$", stage, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.slow
def test_hadolint() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([hadolint, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_needs_no_shell_and_no_root() -> None:
    last = stages()[-1]
    assert json.loads(instruction(last, "ENTRYPOINT")) == ["/opt/lakebed/bin/lakebed"]
    assert json.loads(instruction(last, "CMD")) == ["serve"]
    (check,) = re.findall(r"HEALTHCHECK .*?CMD (\[.*?\])$", last, re.MULTILINE | re.DOTALL)
    assert json.loads(check)[0] == "/opt/lakebed/bin/python"
    assert instruction(last, "USER") == "10001:10001"
    assert json.loads(instruction(last, "VOLUME")) == ["/var/lib/lakebed", "/tmp"]


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    ignored = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text().splitlines()
    sources = [
        source
        for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE.read_text(), re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert len(sources) > 8
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == one[1:] or source.startswith(f"{one[1:]}/") for one in ignored if one[0] == "!"), source


def test_the_variables_of_the_image_are_settings() -> None:
    variables = set(re.findall(r"(LAKEBED_[A-Z0-9_]+)=/?", instruction(stages()[-1], "ENV")))
    assert variables == {"LAKEBED_DATA_DIR", "LAKEBED_LISTEN_HOST"}
    assert variables <= {key.env for key in KEYS.values()}


def test_the_server_accepts_the_settings_of_the_compose_file(tmp_path: Path) -> None:
    service = COMPOSE["services"]["lakebed"]
    environment = {name: str(value) for name, value in service["environment"].items()}
    for name, value in environment.items():
        if name.endswith("_FILE") and name not in CLIENT_ENV:
            secret = value.removeprefix("/run/secrets/")
            assert secret in service["secrets"]
            assert secret in COMPOSE["secrets"]
            (tmp_path / secret).write_text(f"postgresql://u:p@database/{secret}-and-32-characters-or-more\n")
            environment[name] = str(tmp_path / secret)
    loaded = load(env=environment, files=False)
    assert not loaded.warnings
    given = {name for name, source in loaded.sources.items() if source != "default"}
    files = {key.name for key in SECRET_FILES.values() if f"{key.env}_FILE" in environment}
    assert len(given) == len(environment)
    assert len(files) == 3
    assert loaded.settings.kv.type == "postgres"
    assert loaded.settings.objects.s3.endpoint == "http://bucket:8333"


def test_the_services_are_confined_and_have_time_to_stop() -> None:
    service = COMPOSE["services"]["lakebed"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["stop_grace_period"] == "60s"
    assert service["ports"] == ["127.0.0.1:8000:8000"]
