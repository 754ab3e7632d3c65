"""Parts of one computation on several threads, each of which keeps torch on one core."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch
from torch import Tensor

# Runs a function over spans of positions, and gives the results in their order.
Run = Callable[[Callable[[range], Tensor], Iterable[range]], Iterable[Tensor]]


def one_by_one(function: Callable[[range], Tensor], spans: Iterable[range]) -> Iterable[Tensor]:
    """A `Run` in this thread."""
    return map(function, spans)


@contextmanager
def on_threads(num_threads: int) -> Iterator[Run]:
    """A `Run` on so many threads; they end with the context.

    A new thread takes over the number that `torch.set_num_threads` was given only when it asks for
    it: before that, its products would run on all cores.
    """
    if num_threads == 1:
        yield one_by_one
        return
    with ThreadPoolExecutor(num_threads, initializer=torch.get_num_threads) as pool:
        yield pool.map


def halves(length: int, num_before: int) -> list[range]:
    """Cut positions in two, if that is worth it, so that both parts are as much work.

    The second part is computed from `num_before` positions before its own. Where the cut is depends
    on nothing but these two numbers, so that the same bits come out on any machine.
    """
    if length < 4 * num_before:
        return [range(length)]
    middle = (length + num_before) // 2
    return [range(middle), range(middle, length)]
