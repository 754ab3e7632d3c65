"""What every executor of the table must do, and that all give the same results."""

from collections.abc import Callable

import pytest

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.executors.base import (
    EXECUTORS,
    Plan,
    Spoken,
    WorkerEvent,
    WorkerSpec,
    make_executor,
)

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
TEXTS = [f"{'word ' * (i % 23 + 1)}number {i}." for i in range(150)]

Results = dict[str, Spoken | Failure]


@pytest.fixture(params=sorted(EXECUTORS))
def speak(request: pytest.FixtureRequest) -> Callable[..., Results]:
    name = request.param
    address = request.getfixturevalue("cluster") if name == "ray" else ""

    def run(requests: list[Request], **options: object) -> Results:
        return run_plan(name, requests, address=address, **options)

    return run


def make_requests(texts: list[str], voice: Voice = VOICE) -> list[Request]:
    return [Request(f"key-{i}", f"segment-{i}", text, voice, i) for i, text in enumerate(texts)]


def run_plan(
    name: str,
    requests: list[Request],
    num_workers: int | None = None,
    address: str = "",
    engine: str = "fake",
    item_timeout_s: float = 30.0,
    stop_after: int = 10**9,
    on_event: Callable[[WorkerEvent], None] = lambda event: None,
) -> Results:
    plan = Plan(
        WorkerSpec(EngineSpec(engine), (requests[0].voice,), 1)
        if requests
        else WorkerSpec(EngineSpec(engine), (), 1),
        num_workers=num_workers,
        address=address,
        start_timeout_s=30.0,
        item_timeout_s=item_timeout_s,
    )
    results: Results = {}
    executor = make_executor(name, plan)
    for result in executor.run(requests, lambda: len(results) >= stop_after, on_event):
        key = result.key if isinstance(result, Failure) else result.utterance.key
        assert key not in results
        results[key] = result
    return results


def flac_of(results: Results) -> dict[str, bytes]:
    return {key: r.flac for key, r in results.items() if isinstance(r, Spoken)}


def failures_of(results: Results) -> dict[str, str]:
    return {r.text: r.reason for r in results.values() if isinstance(r, Failure)}


def test_results_do_not_depend_on_executor_order_or_number_of_workers(
    speak: Callable[..., Results],
) -> None:
    requests = make_requests(TEXTS)
    expected = flac_of(run_plan("local", requests, num_workers=1))
    assert len(expected) == len(TEXTS)
    assert flac_of(speak(requests, num_workers=2)) == expected
    assert flac_of(speak(requests[::-1], num_workers=1)) == expected


def test_an_error_over_a_text_is_a_failure_of_that_text(speak: Callable[..., Results]) -> None:
    texts = [*TEXTS[:20], "error: no", *TEXTS[20:40], "oom: no", "nan: no", "empty: no"]
    results = speak(make_requests(texts))
    assert len(results) == len(texts)
    assert sorted(failures_of(results)) == ["empty: no", "error: no", "nan: no", "oom: no"]
    assert failures_of(results)["error: no"] == "The fake engine was asked to fail."


def test_nothing_to_do_starts_nothing(speak: Callable[..., Results]) -> None:
    events: list[WorkerEvent] = []
    assert speak([], on_event=events.append) == {}
    assert events == []


def test_stopping_ends_soon_with_what_is_done(speak: Callable[..., Results]) -> None:
    """Case 26."""
    slow = Voice("tone", "fake", "en", "CC0-1.0", parameters={"sleep_s_per_audio_s": "0.02"})
    results = speak(make_requests(TEXTS, slow), stop_after=3)
    assert 3 <= len(results) < len(TEXTS)


def test_a_missing_voice_is_told_as_such(speak: Callable[..., Results]) -> None:
    """Case 19."""
    voice = Voice("nobody", "hibari", "en", "CC0-1.0")
    with pytest.raises(ModelUnavailableError, match="`nobody`"):
        speak(make_requests(["Hello."], voice), engine="hibari")


def test_ready_workers_are_announced(speak: Callable[..., Results]) -> None:
    events: list[WorkerEvent] = []
    speak(make_requests(TEXTS[:3]), num_workers=1, on_event=events.append)
    assert [event.kind for event in events] == ["starting", "ready"]
    assert events[-1].num_workers == 1


def test_crashes_and_hangs_end_in_quarantine_and_all_else_is_done(cluster: str) -> None:
    """Case 17."""
    texts = [*TEXTS[:40], "crash: now", *TEXTS[40:80], "hang: now", *TEXTS[80:]]
    results = run_plan("ray", make_requests(texts), 2, cluster, item_timeout_s=2.5)
    assert len(results) == len(texts)
    assert failures_of(results) == {
        "crash: now": "This text crashed its worker 3 times.",
        "hang: now": "This text did not end within 2.5 s 3 times.",
    }


def test_too_many_workers_are_refused_here_before_anything_starts() -> None:
    """Case 21."""
    for name in EXECUTORS:
        with pytest.raises(UsageError, match="workers of 1 cores need 1000 cores"):
            run_plan(name, make_requests(["Hello."]), num_workers=1000)


def test_a_cluster_without_room_is_shown_with_what_it_has(cluster: str) -> None:
    """Case 21, on a cluster."""
    plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 64), 1, cluster, start_timeout_s=1.0)
    with pytest.raises(UsageError, match=r"Each needs 64 CPUs; there are 2 CPUs on 1 node"):
        list(make_executor("ray", plan).run(make_requests(["Hello."]), lambda: False, print))


def test_importing_the_executor_does_not_import_ray() -> None:
    import subprocess
    import sys

    code = "import sys, pocket_batch.executors.ray; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
