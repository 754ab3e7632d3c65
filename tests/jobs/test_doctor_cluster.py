"""The doctor tells what is wrong with a job, and with the nodes of a cluster."""

import platform
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import EngineSpec
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.executors.ray_nodes import NodeFacts
from pocket_batch.jobs.doctor import cluster
from pocket_batch.jobs.doctor.checks import Check
from pocket_batch.jobs.doctor.subject import Subject, make_subject
from pocket_batch.jobs.named import voice_by_name
from pocket_batch.jobs.voice import Speaker
from pocket_batch.settings import ExecutorSettings


def asked(**settings: Any) -> Subject:
    """Somebody who speaks with an engine of 1 GB."""
    engine = FakeEngine(EngineSpec("fake"))
    engine.memory_bytes = 1_000_000_000
    speaker = Speaker(voice_by_name("heart"), engine, "en")
    return Subject(ExecutorSettings(**settings), (speaker,), {})


def job(tmp_path: Path, text: str) -> dict[str, Check]:
    """The checks of a job, the last of each name."""
    (tmp_path / "job.yaml").write_text(text)
    return {check.name: check for check in make_subject(tmp_path / "job.yaml")[1]}


def test_a_job_with_a_mistake_is_told_with_the_nearest_name(tmp_path: Path, no_hub: None) -> None:
    check = job(tmp_path, "inptus: [a.txt]\noutput: x\n")["job"]
    assert (check.status, "Did you mean `inputs`?" in check.found) == ("problem", True)


def test_inputs_and_inboxes_that_are_missing_are_named(tmp_path: Path, no_hub: None) -> None:
    (tmp_path / "a.txt").write_text("text")
    text = "inputs: [a.txt, b.txt]\ninbox: box\noutput: out/{stem}.m4b\n"
    checks = job(tmp_path, text)
    assert checks["inputs"].found == f"1 of 2 inputs not there: {tmp_path}/b.txt"
    assert checks["inbox"].status == "problem"
    (tmp_path / "box").mkdir()
    assert "inbox" not in job(tmp_path, text)
    assert job(tmp_path, "inbox: box\noutput: out/{stem}.m4b\n")["inputs"].status == "warning"
    check = job(tmp_path, "inputs: ['*.epub']\noutput: out/{stem}.m4b\n")["inputs"]
    assert check.status == "problem"


def test_a_voice_that_is_not_here_is_told_without_the_network(tmp_path: Path, no_hub: None) -> None:
    (tmp_path / "a.txt").write_text("text")
    text = "inputs: [a.txt]\noutput: out/{stem}.m4b\nvoice: alba\n"
    check = job(tmp_path, text)["voice"]
    assert (check.status, "models pull english" in check.found) == ("problem", True)
    assert job(tmp_path, text.replace("alba", "hart"))["voice"].status == "problem"


def test_the_cast_is_looked_at_with_the_narrator(tmp_path: Path, no_hub: None) -> None:
    (tmp_path / "a.txt").write_text("text")
    text = "inputs: [a.txt]\noutput: out/{stem}.m4b\nvoice: heart\nset: {dialogue_voice: alba}\n"
    assert "alba is of pocket" in job(tmp_path, text)["voice"].found


def test_a_data_set_has_all_its_voices_looked_at(tmp_path: Path, no_hub: None) -> None:
    text = "pipeline: dataset\ninputs: [t.txt]\noutput: set\nvoices: [heart]\n"
    assert "there is no such file" in job(tmp_path, text)["inputs"].found
    (tmp_path / "t.txt").write_text("A text.\n")
    found, _ = make_subject(tmp_path / "job.yaml")
    assert found.folders["output"] == tmp_path / "set"
    assert [[voice.name for voice in voices] for _, voices in found.groups] == [["heart"]]
    assert job(tmp_path, text)["inputs"].found == "1 file found"


def test_who_can_speak_is_unknown_for_a_voice_that_is_unknown(no_hub: None, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    text = "inputs: [a.txt]\noutput: out/{stem}.m4b\nvoice: nobody\n"
    assert job(tmp_path, text)["voice"].status == "problem"
    found, _ = make_subject(tmp_path / "job.yaml")
    assert (found.speakers, found.groups, found.memory_bytes) == ((), (), 0)


WELL = NodeFacts(
    host="far",
    address="10.0.0.7",
    ray_cpus=4,
    python=platform.python_version(),
    ray=version("ray"),
    pocket_batch=version("pocket-batch"),
    cpus=4,
    usable_cores=4,
    memory_bytes=8 * 10**9,
    disk_bytes=10**12,
    shared_bytes=10**10,
    fingerprints=("a",),
    clock_s=0.5,
    clock_error_s=0.01,
)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, None, ""),
        ({"problem": "it has not answered in time"}, "problem", "no answer"),
        ({"python": "3.10.1"}, "problem", "Python is 3.10.1, here it is"),
        ({"ray": "2.55.0"}, "problem", "Ray is 2.55.0, here it is"),
        ({"pocket_batch": "0.0.1"}, "problem", "pocket-batch is 0.0.1, here it is"),
        ({"pocket_batch": "", "usable_cores": 0}, "problem", "pip install pocket-batch=="),
        ({"usable_cores": 2}, "warning", "--num-cpus=2"),
        ({"memory_bytes": 2 * 10**9}, "warning", "need 3.5 GB"),
        ({"model_problem": "No weights.", "fingerprints": ()}, "problem", "No weights."),
        ({"fingerprints": ("b",)}, "problem", "differs from the one here"),
        ({"clock_s": -9.5}, "warning", "-9.5 s off ours"),
        ({"clock_s": 2.5, "clock_error_s": 1.0}, None, ""),
        ({"clock_s": None}, None, ""),
        ({"disk_bytes": 10**7}, "problem", "make room"),
        ({"shared_bytes": 64 * 2**20}, "warning", "--shm-size"),
    ],
)
def test_what_is_wrong_with_a_node_is_told_with_its_name(
    change: dict[str, Any], status: str | None, words: str
) -> None:
    node = replace(WELL, **change)
    checks = list(cluster.node_checks(node, asked(), ("a",)))
    assert {check.node for check in checks} == {"far (10.0.0.7)"}
    wrong = [check for check in checks if check.status != "ok"]
    assert [check.status for check in wrong] == ([status] if status else [])
    assert all(words in check.line for check in wrong)


def test_a_cluster_without_room_for_a_worker_is_a_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setattr(cluster, "look_at_nodes", lambda *arguments: [WELL])
    check, is_open, *_ = cluster.cluster("head:1", asked())
    assert check.status == "ok"
    assert "without a token" in is_open.found
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert not any("without" in check.found for check in cluster.cluster("head:1", asked()))
    assert next(cluster.cluster("head:1", asked(workers=9))).status == "warning"
    assert next(cluster.cluster("head:1", asked(cores_per_worker=8))).status == "problem"
