"""The Helm chart of deploy/helm: Helm's own code renders it, and the schemas of Kubernetes accept what it makes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from helm_python import Chart, HelmValuesError, lint
from lakebed_server.settings.load import SECRET_FILES, load
from lakebed_server.settings.schema import KEYS

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/helm/lakebed"
KUBERNETES = ("1.27", "1.34")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
OPERATORS = {"ServiceMonitor", "ExternalSecret"}
"""Kinds of operators: Kubernetes has no schema of them."""
EVERYTHING: dict[str, Any] = {
    "externalSecret": {"enabled": True, "store": {"name": "vault"}},
    "ingress": {"enabled": True, "className": "nginx", "tls": {"secretName": "lake-tls"}},
    "autoscaling": {"enabled": True},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {"from": [{"namespaceSelector": {}}], "egress": [{"ports": [{"port": 5432}]}]},
    "tolerations": [{"key": "lake", "operator": "Exists"}],
    "imagePullSecrets": [{"name": "registry"}],
    "podAnnotations": {"team": "data"},
    "serviceAccount": {"annotations": {"iam.gke.io/gcp-service-account": "lake@example"}},
    "secret": {"name": "lake", "keys": ["kv.postgres.dsn", "auth.secret_key", "objects.s3.secret_access_key"]},
}


def rendered(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The documents that Helm makes of values. The tests share them: they change none."""
    return _rendered(json.dumps(values))


@cache
def _rendered(values: str) -> list[dict[str, Any]]:
    chart = Chart.load(CHART)
    chart.validate_schema(chart.merge_values(json.loads(values)))
    files = chart.render(json.loads(values), name="prod", namespace="data")
    documents = [yaml.load_all(text, _LOADER) for name, text in files.items() if name.endswith(".yaml")]
    return [document for found in documents for document in found if document]


def of_kind(values: dict[str, Any], kind: str, name: str = "prod-lakebed") -> dict[str, Any]:
    (found,) = [one for one in rendered(values) if one["kind"] == kind and one["metadata"]["name"] == name]
    return found


def test_lint() -> None:
    report = lint(CHART, strict=True)
    assert report["errors"] == []
    assert [message["error"] for message in report["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["default", "everything"])
@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_accepts_every_document(values: dict[str, Any], version: str) -> None:
    documents = rendered(values)
    for document in documents:
        if document["kind"] not in OPERATORS:
            kubernetes_validate.validate(document, version, strict=True)
    kinds = {document["kind"] for document in documents}
    assert kinds >= {"Deployment", "Service", "ConfigMap", "PodDisruptionBudget", "NetworkPolicy", "Job"}
    if values:
        assert kinds >= OPERATORS | {"HorizontalPodAutoscaler", "Ingress"}


def test_the_pod_is_confined() -> None:
    spec = of_kind({}, "Deployment")["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["startupProbe"]["httpGet"]["path"] == "/_health"
    assert container["readinessProbe"]["httpGet"]["path"] == "/_ready"
    assert f"USER {spec['securityContext']['runAsUser']}:" in (ROOT / "deploy/container/Dockerfile").read_text()


def test_a_stop_fits_into_its_grace_period() -> None:
    spec = of_kind({}, "Deployment")["spec"]["template"]["spec"]
    server = yaml.safe_load(of_kind({}, "ConfigMap")["data"]["lakebed.yaml"])["server"]
    drain, shutdown = (int(server[name].removesuffix("s")) for name in ("drain", "shutdown_timeout"))
    assert drain + shutdown + min(shutdown, 10) + 1 < spec["terminationGracePeriodSeconds"]


def test_the_server_accepts_settings_and_secrets_of_the_chart(tmp_path: Path) -> None:
    (container,) = of_kind(EVERYTHING, "Deployment")["spec"]["template"]["spec"]["containers"]
    config = tmp_path / "lakebed.yaml"
    config.write_text(of_kind({}, "ConfigMap")["data"]["lakebed.yaml"])
    named = {f"{key.env}_FILE": key for key in SECRET_FILES.values()}
    environment = {}
    for variable in container["env"]:
        if variable["name"] in named:
            key = named[variable["name"]]
            assert variable["value"] == f"/run/lakebed/{key.name}"
            (tmp_path / key.name).write_text(f"a-secret-of-at-least-32-characters-for-{key.name}\n")
            environment[variable["name"]] = str(tmp_path / key.name)
    loaded = load(env=environment, config=str(config))
    assert loaded.settings.kv.type == "postgres"
    assert loaded.settings.auth.secret_key.endswith("auth.secret_key")
    assert loaded.settings.objects.s3.secret_access_key.endswith("objects.s3.secret_access_key")
    assert len(environment) == len(EVERYTHING["secret"]["keys"])
    assert set(EVERYTHING["secret"]["keys"]) <= set(KEYS)


def test_the_metrics_have_a_port_of_their_own() -> None:
    settings = yaml.safe_load(of_kind(EVERYTHING, "ConfigMap")["data"]["lakebed.yaml"])
    (endpoint,) = of_kind(EVERYTHING, "ServiceMonitor")["spec"]["endpoints"]
    ports = {port["name"]: port["port"] for port in of_kind(EVERYTHING, "Service")["spec"]["ports"]}
    assert endpoint["path"] == "/metrics"
    assert settings["metrics"]["listen"] == f"0.0.0.0:{ports[endpoint['port']]}"


def test_the_check_before_an_upgrade() -> None:
    job = of_kind({}, "Job", "prod-lakebed-upgrade-check")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    spec = job["spec"]["template"]["spec"]
    assert spec["containers"][0]["args"] == ["upgrade", "check"]
    config = of_kind({}, "ConfigMap", "prod-lakebed-upgrade-check")
    assert config["data"] == of_kind({}, "ConfigMap")["data"]
    assert spec["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]


@pytest.mark.parametrize(
    "values",
    [
        {"replicas": 0},
        {"replica": 3},
        {"settings": {"auth": {"secret_key": "in clear text"}}},
        {"settings": {"kv": {"type": "sqlite"}}},
        {"secret": {"name": "x", "keys": ["dsn"]}},
        {"service": {"type": "Cluster"}},
    ],
)
def test_the_schema_refuses_invalid_values(values: dict[str, Any]) -> None:
    chart = Chart.load(CHART)
    with pytest.raises(HelmValuesError):
        chart.validate_schema(chart.merge_values(values))
