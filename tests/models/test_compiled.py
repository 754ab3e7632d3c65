"""Functions that run in torch's interpreter."""

import threading

import pytest
import torch
from torch import Tensor

from pocket_batch.models import attention, cached_attention, elementwise, products, transformer
from pocket_batch.models.compiled import without_lock


def _many_steps(x: Tensor, num: int) -> Tensor:
    for _ in range(num):
        x = x + 1
    return x


@pytest.mark.parametrize(
    "function",
    [
        attention._joined,
        attention._paged,
        attention._shared,
        attention.window_attention,
        cached_attention._put,
        elementwise._join,
        elementwise._split,
        elementwise.gelu,
        products._finished,
        products._rounded,
        transformer.rotate,
    ],
)
def test_torch_can_read_all_of_them(function: object) -> None:
    assert isinstance(function, torch.jit.ScriptFunction)


def test_other_threads_run_meanwhile() -> None:
    compiled = without_lock(_many_steps)
    is_over = threading.Event()

    def work() -> None:
        compiled(torch.zeros(1), 300_000)
        is_over.set()

    thread = threading.Thread(target=work)
    thread.start()
    num_turns = 0
    while not is_over.wait(0.001):
        num_turns += 1
    thread.join()
    assert num_turns > 5


def test_what_torch_cannot_read_stays_as_it_is() -> None:
    number = 3

    def around(x: Tensor) -> Tensor:
        return x * number

    assert without_lock(around) is around
    assert torch.equal(without_lock(around)(torch.ones(2)), torch.full((2,), 3.0))
