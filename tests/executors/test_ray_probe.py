"""A cluster is joined and each node asked, and a cluster that refuses us says why."""

import json
import os
import pickle
import platform
import re
import socket
import sys
import time
from collections.abc import Callable
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest

from pocket_batch.cli.main import main
from pocket_batch.data import EngineSpec, Voice
from pocket_batch.executors import ray_nodes
from pocket_batch.executors.ray_nodes import NodeFacts, NotJoinedError
from pocket_batch.jobs.doctor.cluster import cluster as checks_of
from pocket_batch.jobs.doctor.subject import Subject
from pocket_batch.settings import ExecutorSettings

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
GROUPS = ((EngineSpec("fake"), (VOICE,)),)
SUBJECT = Subject(ExecutorSettings(cores_per_worker=1), (), {})


def refusal(address: str) -> tuple[str, str]:
    (check,) = checks_of(address, SUBJECT)
    assert check.status == "problem"
    return check.found, check.advice


def failing(error: str) -> Callable[..., list[NodeFacts]]:
    """What stands for a cluster that cannot be joined for that reason."""

    def fail(*arguments: object) -> list[NodeFacts]:
        raise NotJoinedError("no", ("UsageError: no", error))

    return fail


def test_the_command_tells_of_the_cluster_and_of_each_node(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["doctor", "--json", "--address", cluster])
    printed = capsys.readouterr().out
    checks = [json.loads(line) for line in printed.splitlines()]
    found = {check["name"]: check["found"] for check in checks}
    assert found["cluster"] == f"joined {cluster}: 1 node, 2 CPUs, 1 worker of 2 cores"
    assert f"Python {platform.python_version()}, Ray {version('ray')}" in found["node"]
    assert "2 CPUs for Ray" in found["node"]
    assert re.search(r"clock [+-]0\.\d\d s$", found["node"])
    assert not [c for c in checks if c["name"] == "node" and c["status"] == "problem"]
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert str(token) in found["token"]
    assert token.read_text() not in printed


def test_another_token_is_refused(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("0" * 64)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    found, advice = refusal(cluster)
    assert f"refused the one in {path}" in found
    assert "copy the token of the head" in advice


def test_without_the_mode_the_line_to_type_is_said(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE")
    found, advice = refusal(cluster)
    assert "RAY_AUTH_MODE is not set here" in found
    assert advice == "export RAY_AUTH_MODE=token"


def test_without_mode_and_token_both_lines_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        "pocket_batch.jobs.doctor.cluster.look_at_nodes", failing("InvalidAuthToken")
    )
    advice = refusal("head:6379")[1]
    assert "export RAY_AUTH_MODE=token; export RAY_AUTH_TOKEN_PATH=" in advice


def test_with_the_mode_alone_the_missing_file_is_named(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    found, advice = refusal(cluster)
    assert str(tmp_path / "none") in found
    assert advice.startswith("export RAY_AUTH_TOKEN_PATH=")


def test_another_version_of_ray_is_named(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.__version__", "2.99.0")
    found, advice = refusal(cluster)
    assert "Ray: 2.99.0" in found
    assert "same versions" in advice


@pytest.fixture
def closed_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def test_a_dead_port_is_told_at_once(closed_port: str) -> None:
    started = time.monotonic()
    found, advice = refusal(closed_port)
    assert found == f"{closed_port}: nothing listens at this port"
    assert "ray start --head" in advice
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("error", "found", "advice"),
    [
        ("gaierror: [Errno -2] Name or service not known", "nobody knows", "DNS"),
        ("TimeoutError: timed out", "does not answer", "firewall"),
        ("OSError: [Errno 113] No route to host", "does not answer", "firewall"),
        ("ValueError: an address is `host:port` of", "is no address", "HOST:PORT"),
        ("RuntimeError: No node info found matching attributes: ''", "no node", "ray start"),
        ("ConnectionError: Failed to connect", "Failed to connect", "ray status"),
    ],
)
def test_each_reason_has_its_own_advice(
    error: str, found: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pocket_batch.jobs.doctor.cluster.look_at_nodes", failing(error))
    told = refusal("head:6379")
    assert found in told[0]
    assert advice in told[1]


def test_the_port_of_the_dashboard_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    fail = failing("ConnectionError: Failed to connect")
    monkeypatch.setattr("pocket_batch.jobs.doctor.cluster.look_at_nodes", fail)
    assert "the port of the dashboard" in refusal("head:8265")[0]


def test_a_node_without_pocket_batch_can_still_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task brings its own code; nothing of the package is there to import."""
    import ray

    ray.cloudpickle.register_pickle_by_value(ray_nodes)
    try:
        task = ray.cloudpickle.dumps(ray_nodes._look)
    finally:
        ray.cloudpickle.unregister_pickle_by_value(ray_nodes)
    for name in [name for name in sys.modules if name.split(".")[0] == "pocket_batch"]:
        monkeypatch.setitem(sys.modules, name, None)  # which stands for an import that fails

    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", none)
    answer = pickle.loads(task)(b"")
    assert answer["python"]
    assert "pocket_batch" not in answer


def test_a_model_that_is_missing_on_a_node_is_told() -> None:
    groups = (*GROUPS, (EngineSpec("pocket", "/nowhere/model"), (VOICE,)))
    answer = ray_nodes._look(pickle.dumps(groups))
    assert "/nowhere/model" in answer["model_problem"]
    assert "fingerprints" not in answer


def test_what_a_node_cannot_unpickle_is_told() -> None:
    broken = pickle.dumps(GROUPS).replace(b"EngineSpec", b"EngineSpeZ")
    assert "EngineSpeZ" in ray_nodes._look(broken)["model_problem"]
