"""Ray clusters of several simulated nodes on this machine."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.executors.ray_session import QUIET, _forget_last_instance


@contextlib.contextmanager
def started_cluster(num_cpus: int) -> Iterator[Any]:
    """A cluster that asks for a token, with a head node of so many CPUs."""
    folder = Path(tempfile.mkdtemp(prefix="pbt-", dir="/tmp"))  # sockets need a short path
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text("f" * 64)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUIET.items():
            patch.setenv(name, value)
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        from ray.cluster_utils import Cluster

        _forget_last_instance()
        node = {"num_cpus": num_cpus, "include_dashboard": False, "temp_dir": str(folder)}
        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            yield cluster
        finally:
            cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two CPUs that the tests of one module join."""
    with started_cluster(num_cpus=2) as started:
        yield str(started.address)


@pytest.fixture
def empty_cluster() -> Iterator[Any]:
    """A cluster without CPUs, to which a test adds nodes."""
    with started_cluster(num_cpus=0) as started:
        yield started


class Machines:
    """Simulated machines that come and go; those that are left go at the end of a test."""

    def __init__(self, cluster: Any) -> None:
        self.address = str(cluster.address)
        self._cluster = cluster
        self._nodes: list[Any] = []

    def add(self, num_cpus: int = 1) -> None:
        """One more, which the cluster knows when this returns."""
        self._nodes.append(self._cluster.add_node(num_cpus=num_cpus))
        self._cluster.wait_for_nodes()

    def lose(self) -> None:
        """The oldest dies without a word."""
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)

    def lose_all(self) -> None:
        """None is left but the head, which has no CPUs."""
        while self._nodes:
            self.lose()


@pytest.fixture(scope="module")
def headless() -> Iterator[Any]:
    """A cluster without CPUs, for all tests of one module."""
    with started_cluster(num_cpus=0) as started:
        yield started


@pytest.fixture
def machines(headless: Any) -> Iterator[Machines]:
    """The cluster of the module, empty at the beginning of each test."""
    found = Machines(headless)
    yield found
    found.lose_all()
