"""What the user asks for when a corpus shall become a data set."""

from dataclasses import dataclass, field

from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.executors.base import Limits


@dataclass(frozen=True, slots=True)
class DatasetJob:
    """A corpus, the set that it becomes, and how.

    `inputs` are paths, globs, folders or `-`. `output` is a folder or a URL that fsspec knows.
    `shard` is (i, n): this process makes the units of part i of n, 0 <= i < n. `new_run` makes a
    set anew whose settings differ; `prune` removes units that it no longer needs.
    """

    inputs: tuple[str, ...]
    output: str
    pipeline: DatasetPipeline
    shard: tuple[int, int] | None = None
    new_run: bool = False
    prune: bool = False
    command: tuple[str, ...] = field(default=("pocket-batch",))
    limits: Limits = field(default_factory=Limits)
