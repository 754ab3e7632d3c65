"""What Prometheus is told of a run: names, values, and counts that only grow."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families as text_families

from pocket_batch.executors.health import WorkerHealth
from pocket_batch.job_settings import MetricsSettings
from pocket_batch.jobs import metrics_sources
from pocket_batch.jobs.metrics import Metrics
from pocket_batch.jobs.metrics_table import KINDS, PREFIX, WORKER, Kind
from pocket_batch.jobs.progress import Download, Progress

MONITORING = Path(__file__).parents[2] / "jobs" / "monitoring"
KNOWN = {kind.sample_name for kind in KINDS}
NOWHERE = MetricsSettings()
SPEAKING = Progress(
    phase="speaking",
    done=30,
    total=120,
    chapters_done=1,
    num_chapters=4,
    audio_s=90.0,
    total_audio_s=360.0,
    elapsed_s=45.0,
    x_realtime=2.0,
    eta_s=135.0,
    num_workers=2,
    first_audio_s=1.5,
)
WORKER_1 = WorkerHealth(
    number=1,
    state="busy",
    host="north",
    pid=4711,
    seen_s=0.5,
    num_items=20,
    audio_s=60.0,
    busy_s=40.0,
    rss_bytes=1_200_000_000,
    rss_growth_mb_per_h=120.0,
    cpu_cores=1.9,
    num_crashes=1,
    num_recycled=2,
)

Values = dict[str, dict[tuple[str, ...], float]]


def values_of(text: str) -> Values:
    """By name without prefix, then by the values of the labels except the job, in their order."""
    found: Values = {}
    for family in text_families(text):
        for sample in family.samples:
            labels = tuple(v for k, v in sorted(sample.labels.items()) if k != "job_name")
            of_name = found.setdefault(sample.name.removeprefix(PREFIX), {})
            assert labels not in of_name, sample
            of_name[labels] = sample.value
    return found


def figures(metrics: Metrics) -> Values:
    return values_of(generate_latest(metrics.registry).decode())


def tell_all(metrics: Metrics) -> None:
    """A run that has something of everything."""
    metrics.note("voice", "", engine="pocket", model="english", voice="anna", language="en")
    metrics.note("job_plan", "", num_inputs=3, num_done=1, num_failed=0, num_left=2, audio_s=360)
    metrics.note("worker_starting", "", num_workers=0)
    metrics.progress(SPEAKING)
    metrics.download(Download("model.bin", 50, 200, 10.0))
    metrics.health((WORKER_1,))
    metrics.note("quality", "", wer=0.012, similarity=0.91)
    metrics.note("disk", "", free_bytes=5 * 10**10)


@pytest.fixture
def running() -> Any:
    with Metrics(NOWHERE, "nightly", deadline_at=time.time() + 3600) as metrics:
        yield metrics


# names and formats


def test_both_parsers_of_prometheus_read_every_metric(running: Metrics) -> None:
    tell_all(running)
    text = {f.name for f in text_families(generate_latest(running.registry).decode())}
    open_text = generate_openmetrics(running.registry).decode()
    families = list(openmetrics_families(open_text))
    samples = {sample.name for family in families for sample in family.samples}
    only_at_the_end = {PREFIX + n for n in ("run_end_timestamp_seconds", "run_exit_code")}
    only_at_the_end.add(PREFIX + "last_success_timestamp_seconds")
    assert samples == KNOWN - only_at_the_end
    assert len(text) == len(families)
    assert {s.labels["job_name"] for family in families for s in family.samples} == {"nightly"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_names_have_their_unit_and_the_end_of_their_kind(kind: Kind) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.name)
    assert not kind.name.endswith(("_total", "_count", "_sum", "_bucket", "_created"))
    assert kind.name.endswith(kind.unit)
    assert not re.search(r"_(ms|mb|percent|hours|minutes)(_|$)", kind.name)
    assert kind.help.endswith(".")


@pytest.mark.parametrize("job", ['a "b"\\\n', "Fu\u00dfnoten.yaml", "torn-\udcff", ""])
def test_any_name_of_a_job_can_be_told(job: str, tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    with Metrics(MetricsSettings(file=str(path)), job):
        pass
    expected = job.encode("utf-8", "backslashreplace").decode()
    families = list(text_families(path.read_text()))
    assert {s.labels["job_name"] for f in families for s in f.samples} == {expected}


def test_two_runs_in_one_process_share_nothing(running: Metrics) -> None:
    with Metrics(NOWHERE, "other") as other:
        other.progress(SPEAKING)
        assert "segments_done" not in figures(running)
    assert not any(family.name.startswith(PREFIX) for family in REGISTRY.collect())


# values


def test_a_snapshot_tells_how_far_and_how_fast(running: Metrics) -> None:
    running.progress(SPEAKING)
    found = figures(running)
    expected = {
        "segments_done": 30,
        "segments_planned": 120,
        "audio_seconds_total": 90,
        "audio_planned_seconds": 360,
        "eta_seconds": 135,
        "first_audio_latency_seconds": 1.5,
        "real_time_factor_ratio": 0.5,
        "x_realtime_ratio": 2,
        "workers": 2,
    }
    assert {name: found[name] for name in expected} == {n: {(): v} for n, v in expected.items()}
    assert found["phase_done_ratio"] == {("speaking",): 0.25}
    assert found["run_active"] == {(): 1}
    assert found["deadline_timestamp_seconds"][()] == pytest.approx(time.time() + 3600, abs=5)
    assert found["heartbeat_timestamp_seconds"][()] == pytest.approx(time.time(), abs=5)


def test_what_is_not_known_is_not_told(running: Metrics) -> None:
    running.progress(replace(SPEAKING, done=0, audio_s=0, x_realtime=0, eta_s=0, first_audio_s=0))
    unknown = {"eta_seconds", "real_time_factor_ratio", "x_realtime_ratio", "word_error_ratio"}
    unknown |= {"first_audio_latency_seconds", "voice_similarity_ratio", "disk_free_bytes"}
    unknown |= {"inputs", "run_exit_code", "last_success_timestamp_seconds", "worker_up"}
    assert not unknown & set(figures(running))


def test_encoding_one_book_does_not_hide_that_others_are_spoken(running: Metrics) -> None:
    running.progress(SPEAKING)
    encoding = replace(SPEAKING, phase="encoding", done=1, total=2, audio_s=7, eta_s=3)
    running.progress(encoding)
    found = figures(running)
    assert found["eta_seconds"] == {(): 135}
    assert found["audio_seconds_total"] == {(): 90}
    assert found["segments_done"] == {(): 30}
    assert set(found["phase_done_ratio"]) == {("speaking",), ("encoding",)}
    running.progress(replace(SPEAKING, done=120, audio_s=360, eta_s=0))
    running.progress(encoding)
    assert figures(running)["eta_seconds"] == {(): 3}


def test_a_worker_is_told_with_its_host(running: Metrics) -> None:
    running.health((WORKER_1, replace(WORKER_1, number=2, host="south", state="starting")))
    found, at = figures(running), ("north", "1")
    expected = {
        "worker_up": 1,
        "worker_items_total": 20,
        "worker_audio_seconds_total": 60,
        "worker_busy_seconds_total": 40,
        "worker_x_realtime_ratio": 1.5,
        "worker_real_time_factor_ratio": pytest.approx(40 / 60),
        "worker_rss_bytes": 1.2e9,
        "worker_rss_growth_bytes_per_hour": 120e6,
        "worker_cpu_cores": 1.9,
        "worker_crashes_total": 1,
        "worker_recycled_total": 2,
    }
    assert {name: found[name][at] for name in expected} == expected
    assert found["worker_up"]["south", "2"] == 0
    assert found["worker_last_seen_timestamp_seconds"][at] == pytest.approx(time.time(), abs=5)


def test_a_worker_that_is_given_up_keeps_its_counts_only(running: Metrics) -> None:
    running.health((WORKER_1, replace(WORKER_1, number=2)))
    running.health((replace(WORKER_1, number=2),))
    found = figures(running)
    assert set(found["worker_up"]) == {("north", "2")}
    assert set(found["worker_items_total"]) == {("north", "1"), ("north", "2")}


def test_workers_nobody_tells_of_any_more_are_not_silent_ones(
    running: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.health((WORKER_1,))
    monkeypatch.setattr(metrics_sources, "GONE_S", -1.0)
    found = figures(running)
    gauges = {k.sample_name for k in KINDS if k.labels == WORKER and k.kind == "gauge"}
    assert not gauges & {PREFIX + name for name in found}
    assert found["worker_items_total"] == {("north", "1"): 20}


def test_notes_count_what_went_wrong(running: Metrics) -> None:
    for event in ("crashed", "crashed", "timeout", "recycled", "ready", "health"):
        running.note(f"worker_{event}", "", "warning", num_workers=1)
    running.note("unit_failed", "", "warning", unit="u")
    running.note("input_done", "", input="a", status="partial", num_failures=3)
    running.note("suspects", "", "warning", count=7)
    found = figures(running)
    assert found["worker_events_total"] == {
        ("crashed",): 2, ("lost",): 0, ("recycled",): 1, ("timeout",): 1
    }  # fmt: skip
    assert found["failures_total"] == {(): 4}
    assert found["suspects_total"] == {(): 7}
    assert found["workers"] == {(): 1}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.1", None])
def test_a_quality_that_is_no_number_is_not_told(running: Metrics, value: object) -> None:
    running.note("quality", "", wer=value, similarity=0.8)
    found = figures(running)
    assert "word_error_ratio" not in found
    assert found["voice_similarity_ratio"] == {(): 0.8}


def test_each_input_is_in_one_state(running: Metrics) -> None:
    def states() -> dict[str, float]:
        return {status: n for (status,), n in figures(running)["inputs"].items()}

    running.note("job_plan", "", num_inputs=5, num_done=1, num_failed=0, num_left=4)
    assert states() == {"done": 1, "partial": 0, "failed": 0, "left": 4}
    running.note("input_done", "", input="old", status="already_done")  # the plan has it
    running.note("input_done", "", input="a", status="done")
    running.note("input_done", "", "warning", input="b", status="failed")
    running.note("input_done", "", "warning", input="c", status="partial", num_failures=1)
    assert states() == {"done": 2, "partial": 1, "failed": 1, "left": 1}
    running.note("input_done", "", input="b", status="done")  # tried again
    running.note("input_done", "", input="d", status="already_done")  # another run did it
    assert states() == {"done": 4, "partial": 1, "failed": 0, "left": 0}
    running.note("job_plan", "", num_inputs=7, num_done=4, num_failed=1, num_left=2)  # the inbox
    assert states() == {"done": 4, "partial": 0, "failed": 1, "left": 2}


# counters


def test_counts_go_on_when_a_process_restarts_on_another_host(running: Metrics) -> None:
    running.health((WORKER_1,))
    running.health((replace(WORKER_1, state="starting", host="", num_crashes=2, rss_bytes=0),))
    running.health((replace(WORKER_1, host="south", num_items=25, num_crashes=2),))
    found = figures(running)
    assert found["worker_items_total"] == {("north", "1"): 20, ("south", "1"): 5}
    assert found["worker_crashes_total"] == {("north", "1"): 2, ("south", "1"): 0}
    assert set(found["worker_up"]) == {("south", "1")}


def test_a_second_call_of_the_executor_counts_on(running: Metrics) -> None:
    running.health((WORKER_1,))
    running.note("worker_starting", "", num_workers=0)
    running.health((replace(WORKER_1, host="", num_items=0, audio_s=0.0, busy_s=0.0),))
    running.health((replace(WORKER_1, num_items=21, audio_s=3.0),))  # more than ever before
    found = figures(running)
    assert found["worker_items_total"]["north", "1"] == 41
    assert found["worker_audio_seconds_total"]["north", "1"] == 63


def test_audio_of_a_second_meter_comes_to_that_of_the_first(running: Metrics) -> None:
    running.progress(SPEAKING)
    running.progress(replace(SPEAKING, audio_s=85.0, elapsed_s=46.0))  # the estimate sank
    running.progress(replace(SPEAKING, audio_s=95.0, elapsed_s=47.0))
    running.progress(replace(SPEAKING, audio_s=5.0, elapsed_s=1.0))
    assert figures(running)["audio_seconds_total"] == {(): 100}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("meter worker host anew".split()), st.integers(0, 50))))
def test_no_counter_ever_goes_back(steps: list[tuple[str, int]]) -> None:
    with Metrics(NOWHERE, "nightly") as metrics:
        before: Values = {}
        health, hosts = WORKER_1, 0
        for step, number in steps:
            if step == "meter":
                snapshot = replace(SPEAKING, audio_s=float(number), elapsed_s=float(number % 7))
                metrics.progress(snapshot)
            elif step == "worker":
                health = replace(health, num_items=number, busy_s=float(number % 3))
            elif step == "host":
                hosts += 1
                health = replace(health, host=f"host{hosts % 3}" * (hosts % 4 > 0))
            else:
                metrics.note("worker_starting", "", num_workers=0)
            metrics.health((health,))
            now = {n: v for n, v in figures(metrics).items() if n.endswith("_total")}
            for name, by_labels in before.items():
                for labels, value in by_labels.items():
                    assert now[name][labels] >= value
            before = now
