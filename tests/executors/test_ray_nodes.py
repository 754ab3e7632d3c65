"""Machines of a cluster may go away in the middle of a run."""

from typing import Any

import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.executors.base import Plan, Spoken, WorkerSpec, make_executor

VOICE = Voice("tone", "fake", "en", "CC0-1.0", parameters={"sleep_s_per_audio_s": "0.02"})


@pytest.mark.slow
def test_the_death_of_a_node_costs_no_text(empty_cluster: Any) -> None:
    """Case 20, with Ray."""
    doomed = empty_cluster.add_node(num_cpus=1)
    empty_cluster.add_node(num_cpus=1)
    empty_cluster.wait_for_nodes()
    requests = [Request(f"key-{i}", "", "word " * 20, VOICE, i) for i in range(150)]
    plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1), address=empty_cluster.address)
    results = []
    for result in make_executor("ray", plan).run(requests, lambda: False, lambda event: None):
        results.append(result)
        if len(results) == 30:
            empty_cluster.remove_node(doomed, allow_graceful=False)
    assert {r.utterance.key for r in results if isinstance(r, Spoken)} == {r.key for r in requests}
    assert len(results) == len(requests)
