"""The protocol of a stage, and the table of stages in the order that an audiobook needs.

A stage turns items into items, generator in, generator out, and writes what it learned to the
manifests of the work folder.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)

STAGES = {
    "read": "pocket_batch.stages.read:Read",
    "normalize": "pocket_batch.stages.normalize:Normalize",
    "segment": "pocket_batch.stages.segment:SegmentText",
    "synthesize": "pocket_batch.stages.synthesize:Synthesize",
    "check": "pocket_batch.stages.check:Check",
    "master": "pocket_batch.stages.master:Master",
    "write": "pocket_batch.stages.write:Write",
}


class Stage(Protocol[In, Out]):
    """One step of a pipeline."""

    name: str

    def run(self, items: Iterable[In]) -> Iterator[Out]:
        """Turn items into items, lazily."""
        ...
