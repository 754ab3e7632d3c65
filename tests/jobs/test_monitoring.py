"""The dashboard and the alerts ask for what there is, and each alert fires for its fault alone."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from pocket_batch.jobs.metrics_table import KINDS, PREFIX, WORKER, Figures

MONITORING = Path(__file__).parents[2] / "jobs" / "monitoring"
KNOWN = {kind.sample_name for kind in KINDS}


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((MONITORING / "grafana.json").read_text())
    return loaded


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load((MONITORING / "alerts.yaml").read_text())
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def expressions() -> list[str]:
    """All of the dashboard, as Grafana would send them."""
    found = [t["expr"] for panel in dashboard()["panels"] for t in panel.get("targets", ())]
    found += [a["expr"] for a in dashboard()["annotations"]["list"]]
    return [e.replace("$__rate_interval", "5m").replace("$job_name", ".*") for e in found]


def test_dashboard_and_alerts_ask_for_metrics_that_there_are() -> None:
    for expression in [*expressions(), *(rule["expr"] for rule in rules())]:
        names = set(re.findall(r"\bpocket_batch_\w+", expression))
        assert names
        assert names <= KNOWN, expression
    labels = {label for kind in KINDS for label in kind.labels} | {"job_name", "instance"}
    for rule in rules():
        used = re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))
        assert set(used) <= labels


def test_every_metric_of_a_worker_has_a_place_on_the_dashboard() -> None:
    text = " ".join(expressions())
    missing = {k.sample_name for k in KINDS if k.labels == WORKER} - set(re.findall(r"\w+", text))
    assert not missing


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Memory growth an hour", [1e8, 5e8]),
        ("Word error rate", [0.02, 0.03]),
        ("Similarity of the voice", [0.75, 0.85]),
        ("Crashes and replacements", [1]),
        ("x real time", [1]),
    ],
)
def test_thresholds_are_lines_on_the_dashboard(title: str, lines: list[float]) -> None:
    panels = [p for p in dashboard()["panels"] if p["title"] == title and p["type"] == "timeseries"]
    defaults = panels[0]["fieldConfig"]["defaults"]
    assert defaults["custom"]["thresholdsStyle"]["mode"] == "line"
    assert [s["value"] for s in defaults["thresholds"]["steps"]] == [None, *lines]


def test_panels_do_not_overlap_and_have_ids_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for grid in (panel["gridPos"] for panel in panels)
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not here (Debian package prometheus)")
    return found


def run(*command: str, text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_promtool_finds_nothing_wrong_with_names_queries_and_rules(
    promtool: str, tmp_path: Path
) -> None:
    figures = Figures("nightly")
    for kind in KINDS:
        figures.set(kind.name, 1, *kind.labels)
    registry = CollectorRegistry(auto_describe=True)
    registry.register(figures)
    assert run(promtool, "check", "metrics", text=generate_latest(registry).decode()) == ""
    run(promtool, "check", "rules", str(MONITORING / "alerts.yaml"))
    queries = [{"record": f"x:{n}", "expr": e} for n, e in enumerate(expressions())]
    path = tmp_path / "dashboard.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": queries}]}))
    run(promtool, "check", "rules", str(path))


# what is wrong -> series that show it, and when the alert of that name fires, and no other
HOUR = "0+60x60"  # a clock that goes, told every minute
RUNNING = {"run_active": "1x60", "heartbeat_timestamp_seconds": HOUR}
WELL = {
    **RUNNING,
    "last_progress_timestamp_seconds": HOUR,
    "segments_planned": "100x60",
    "segments_done": "0+1x60",
    "eta_seconds": "600x60",
    "deadline_timestamp_seconds": "36000x60",
    "real_time_factor_ratio": "0.4x60",
    "word_error_ratio": "0.015x60",
    "voice_similarity_ratio": "0.9x60",
    'worker_events_total{event="crashed"}': "0x60",
    'worker_last_seen_timestamp_seconds{worker="1",host="n"}': HOUR,
    'worker_rss_growth_bytes_per_hour{worker="1",host="n"}': "50e6x60",
    'worker_real_time_factor_ratio{worker="1",host="n"}': "0.4x60",
}
_CRASHED = 'worker_events_total{event="crashed"}'
_GROWTH = 'worker_rss_growth_bytes_per_hour{worker="1",host="n"}'
FAULTS: list[tuple[str | None, dict[str, str]]] = [
    (None, {}),
    (None, {"run_active": "0x60", "heartbeat_timestamp_seconds": "0x60", "run_exit_code": "0x60"}),
    ("PocketBatchRunDied", {"heartbeat_timestamp_seconds": "0+60x30 1800x30"}),
    ("PocketBatchRunStalled", {"last_progress_timestamp_seconds": "0+60x5 300x60"}),
    (None, {"last_progress_timestamp_seconds": "0x60", 'inputs{status="left"}': "0x60"}),
    ("PocketBatchRunStalled", {
        "last_progress_timestamp_seconds": "0x60", 'inputs{status="left"}': "2x60",
    }),
    ("PocketBatchDeadlineNear", {"deadline_timestamp_seconds": "4800x60", "eta_seconds": "60x60"}),
    ("PocketBatchDeadlineNear", {
        "deadline_timestamp_seconds": "4800x60", "eta_seconds": "60x60",
        "segments_done": "100x60", 'inputs{status="left"}': "2x60",
    }),
    (None, {"deadline_timestamp_seconds": "4800x60", "eta_seconds": "0x60",
            "segments_done": "100x60"}),
    ("PocketBatchDeadlineWillBeMissed", {"eta_seconds": "80000x60"}),
    ("PocketBatchRunFailed", {"run_active": "0x60", "run_exit_code": "5x60"}),
    ("PocketBatchRunIncomplete", {"run_active": "0x60", "run_exit_code": "75x60"}),
    ("PocketBatchNoSuccess", {"last_success_timestamp_seconds": "-200000x60"}),
    ("PocketBatchSlowerThanRealTime", {"real_time_factor_ratio": "1.2x60"}),
    ("PocketBatchWorkerSlow", {'worker_real_time_factor_ratio{worker="1",host="n"}': "1.2x60"}),
    ("PocketBatchWorkerSilent", {
        'worker_last_seen_timestamp_seconds{worker="1",host="n"}': "0+60x50 3000x10",
    }),
    ("PocketBatchWorkerMemoryGrows", {_GROWTH: "120e6x60"}),
    ("PocketBatchWorkerMemoryGrowsFast", {_GROWTH: "501e6x60"}),
    ("PocketBatchWorkerCrashed", {_CRASHED: "0x50 1x10"}),
    ("PocketBatchWorkersCrashOften", {_CRASHED: "0x50 1 2 3x8"}),
    ("PocketBatchWordErrors", {"word_error_ratio": "0.025x60"}),
    ("PocketBatchManyWordErrors", {"word_error_ratio": "0.031x60"}),
    ("PocketBatchVoiceDrifts", {"voice_similarity_ratio": "0.84x60"}),
    ("PocketBatchVoiceIsAnother", {"voice_similarity_ratio": "0.74x60"}),
]  # fmt: skip


def _series(name: str) -> str:
    """`up{a="b"}` -> `pocket_batch_up{job_name="j",instance="i",a="b"}`."""
    name, _, labels = name.partition("{")
    assert PREFIX + name in KNOWN
    return f'{PREFIX}{name}{{job_name="j",instance="i",{labels or "}"}'.replace(",}", "}")


def test_every_alert_fires_for_its_fault_alone(promtool: str, tmp_path: Path) -> None:
    names = [rule["alert"] for rule in rules()]
    assert {alert for alert, _ in FAULTS} == {None, *names}
    tests = []
    for wrong, changed in FAULTS:
        series = [{"series": _series(n), "values": v} for n, v in (WELL | changed).items()]
        fires = [{"labels": f'{{alertname="{wrong}"}}', "value": 1}] if wrong else []
        query = 'count by (alertname) (ALERTS{alertstate="firing"})'
        expected = [{"expr": query, "eval_time": "58m", "exp_samples": fires}]
        tests.append({"interval": "1m", "input_series": series, "promql_expr_test": expected})
    path = tmp_path / "alerts_test.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "rule_files": [str(MONITORING / "alerts.yaml")],
                "evaluation_interval": "1m",
                "tests": tests,
            }
        )
    )
    run(promtool, "test", "rules", str(path))
