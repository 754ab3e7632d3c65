"""Work that is divided among threads comes out as if it was not."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.products import Product
from pocket_batch.models.threads import halves, on_threads
from pocket_batch.models.weights import load_model


@pytest.mark.parametrize("precision", ["fp32", "bf16", "mixed"])
def test_a_recording_is_encoded_to_the_same_bits_on_any_number_of_threads(
    tiny_model: Callable[[str], Path], precision: str
) -> None:
    folder = tiny_model("lsd")
    config = load_model_config(folder / "config.yaml")
    mimi = load_model(config, folder / "model.safetensors", precision).mimi  # type: ignore[arg-type]
    audio = torch.randn(50_000, generator=torch.Generator().manual_seed(0)) * 0.1
    alone = mimi.encode(audio)
    for num_threads in (2, 3):
        assert torch.equal(mimi.encode(audio, num_threads), alone)


@pytest.mark.parametrize("length", [1, 39, 40, 41, 1000])
def test_halves_are_all_positions_in_order_and_as_much_work(length: int) -> None:
    parts = halves(length, num_before=10)
    assert [position for part in parts for position in part] == list(range(length))
    assert (len(parts) == 2) == (length >= 40)
    if len(parts) == 2:
        assert abs(len(parts[0]) - (len(parts[1]) + 10)) <= 1


def test_threads_use_one_core_each_from_their_first_product_on() -> None:
    product = Product(torch.randn(2048, 1024))
    x = torch.randn(2048, 1024)

    def multiply(_: range) -> torch.Tensor:
        started = time.thread_time()
        product(x)
        return torch.tensor(time.thread_time() - started)

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        started = time.process_time()
        with on_threads(2) as run:
            in_threads_s = sum(float(seconds) for seconds in run(multiply, [range(1)] * 2))
        in_all_s = time.process_time() - started
    finally:
        torch.set_num_threads(before)
    assert in_all_s < 1.5 * in_threads_s, "other threads worked as well"


def test_an_error_in_a_thread_comes_back_and_no_thread_stays() -> None:
    def fail(span: range) -> torch.Tensor:
        raise ValueError(span)

    num_threads = threading.active_count()
    with pytest.raises(ValueError, match="range"), on_threads(2) as run:
        list(run(fail, [range(1), range(2)]))
    assert threading.active_count() == num_threads
