"""A Ray cluster of three simulated nodes in a process of its own, told by lines what to do.

`kill` ends a node at random without a word of farewell, `add` adds one, `end` ends all.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

NUM_NODES = 3


class FakeCluster:
    """The process; a context manager. `environment` is what a run needs to join."""

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="pbt-", dir="/tmp"))  # sockets: a short path
        token = self._folder / "token"
        token.touch(mode=0o600)
        token.write_text("f" * 64)
        self.environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | self.environment,
            text=True,
        )
        self.pid = self._process.pid
        self.address = self._answer()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.tell("end")
        self._process.wait(60)
        shutil.rmtree(self._folder, ignore_errors=True)

    def tell(self, word: str) -> str:
        """Let it do something, and wait until that is done."""
        assert self._process.stdin is not None
        print(word, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def _serve(folder: str) -> None:
    from pocket_batch.executors.ray_session import QUIET

    os.environ.update(QUIET)
    from ray.cluster_utils import Cluster

    said = os.dup(1)
    os.dup2(2, 1)  # what Ray prints is no answer
    answers = os.fdopen(said, "w", buffering=1)
    head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": folder}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(NUM_NODES)]
    rng = random.Random(0)
    print(cluster.address, file=answers)
    for line in sys.stdin:
        if line == "kill\n" and nodes:
            cluster.remove_node(nodes.pop(rng.randrange(len(nodes))), allow_graceful=False)
        elif line == "add\n":
            nodes.append(cluster.add_node(num_cpus=1))
        elif line == "end\n":
            break
        print(len(nodes), file=answers)
    cluster.shutdown()
    print("ended", file=answers)


if __name__ == "__main__":
    _serve(sys.argv[1])
