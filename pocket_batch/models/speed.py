"""How fast and how exact products are on this machine, by precision; it takes half a second."""

import math
import statistics
import time

import torch
from torch import Tensor
from torch.nn import functional as F

from pocket_batch.data import Precision
from pocket_batch.models.cpu import Measured
from pocket_batch.models.precision import DTYPES, LARGE_PRODUCTS

# Rows, inputs and outputs: a step of the backbone with 32 utterances, and the codec's transformer.
SHAPES = ((32, 1024, 4096), (1024, 512, 2048))
REPEATS = 7


def measure_precisions() -> dict[Precision, Measured]:
    """Compare products as the model makes them, on one core, in turns.

    Returns:
        For each precision, the smallest speed and the largest error among `SHAPES`.
    """
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = [_measure(*shape) for shape in SHAPES]
    finally:
        torch.set_num_threads(num_threads)
    return {
        precision: Measured(
            min(measured[precision].speed for measured in found),
            max(measured[precision].error for measured in found),
        )
        for precision in DTYPES
    }


def _measure(num_rows: int, num_inputs: int, num_outputs: int) -> dict[Precision, Measured]:
    """The same for one product."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(num_outputs, num_inputs, generator=generator)
    x = torch.randn(num_rows, num_inputs, generator=generator)
    inputs = {precision: x.to(dtype) for precision, dtype in DTYPES.items()}
    products = {
        precision: LARGE_PRODUCTS[precision](weight.to(dtype))
        for precision, dtype in DTYPES.items()
    }
    right = F.linear(x, weight)
    errors = {p: _error(product(inputs[p]), right) for p, product in products.items()}
    times: dict[Precision, list[float]] = {precision: [] for precision in DTYPES}
    for _ in range(REPEATS):
        for precision, product in products.items():
            started = time.thread_time()
            product(inputs[precision])
            times[precision].append(time.thread_time() - started)
    medians = {precision: statistics.median(found) for precision, found in times.items()}
    return {p: Measured(medians["fp32"] / medians[p], errors[p]) for p in DTYPES}


def _error(found: Tensor, right: Tensor) -> float:
    """The relative error, infinite where something is not a number."""
    error = float((found.float() - right).norm() / right.norm())
    return error if math.isfinite(error) else math.inf
