"""Which rows of a unit are still to be spoken, and which of them go to the engine together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pocket_batch.data import Request
from pocket_batch.manifest import request_seed
from pocket_batch.rows import Sample
from pocket_batch.units.partial import PartialLog

GROUP = 16  # texts that are tried together after a worker was lost over a unit
AHEAD = 64  # texts that an engine without batches has at once, or has read ahead, at most


def first_attempts(requests: Sequence[Request], log: PartialLog) -> list[Request]:
    """The rows that were never spoken."""
    return [r for r in requests if (r.key, 0) not in log.attempts]


def next_attempts(
    requests: Sequence[Request], samples: Sequence[Sample], attempt: int, log: PartialLog
) -> list[Request]:
    """The rows of which all attempts so far were rejected, with the seed of this one, from 1."""
    open_keys = {s.key for s in samples if s.status != "kept" and len(s.rejects) == attempt}
    return [
        replace(r, attempt=attempt, seed=request_seed(r.seed, r.text, r.voice.name, attempt))
        for r in requests
        if r.key in open_keys and (r.key, attempt) not in log.attempts
    ]


def groups(
    requests: Sequence[Request], log: PartialLog, is_concurrent: bool
) -> Iterator[Sequence[Request]]:
    """What goes to the engine together: all, unless a worker was lost over this unit.

    An engine takes texts in order, so what it had when it died is among the first that are
    missing. These go in small groups after the first loss, alone after the next one. A concurrent
    engine may have had any of them.
    """
    lonely = [r for r in requests if log.lonely[r.key]]
    others = [r for r in requests if not log.lonely[r.key]]
    suspects: list[Request] = []
    if log.num_losses:
        ahead = len(others) if is_concurrent else AHEAD
        suspects, others = others[:ahead], others[ahead:]
    size = GROUP if log.num_losses == 1 else 1
    yield from (suspects[i : i + size] for i in range(0, len(suspects), size))
    yield from ([request] for request in lonely)
    if others:
        yield others
