"""The queue that suits what a plan has workers do: requests, or units of a data set."""

from collections.abc import Iterable
from typing import cast

from pocket_batch.data import Request
from pocket_batch.executors.base import Plan, Work, WorkerSpec
from pocket_batch.executors.queue import Feed, RetryQueue, make_feed
from pocket_batch.executors.unit_queue import UnitQueue, unit_feed
from pocket_batch.rows import UnitTask


def make_queue(work: Iterable[Work], plan: Plan) -> RetryQueue | UnitQueue:
    """A queue of all work, which is read as it is needed."""
    feed = feed_of(plan.spec)
    if plan.spec.units is not None:
        return UnitQueue(cast(Iterable[UnitTask], work), feed)
    return RetryQueue(cast(Iterable[Request], work), plan.item_timeout_s, feed)


def feed_of(spec: WorkerSpec) -> Feed:
    """How work is handed to a worker.

    Raises:
        ModelUnavailableError: there is no such engine.
    """
    return make_feed(spec) if spec.units is None else unit_feed(spec)
