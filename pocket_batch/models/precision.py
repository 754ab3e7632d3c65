"""Which number format the weights are held and multiplied in.

`fp32` is exact: it gives what the reference gives. `bf16` takes half the memory and keeps
checkpoints, which are stored in bfloat16, as they are. `mixed` is bf16 with 8-bit weights in the
large products: those of the backbone, and of the codec's transformer and lower levels.
"""

import torch
from torch import nn

from pocket_batch.data import Precision
from pocket_batch.models.products import Int8Product, Product

DTYPES: dict[Precision, torch.dtype] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "mixed": torch.bfloat16,
}
LARGE_PRODUCTS: dict[Precision, type[Product] | type[Int8Product]] = {
    "fp32": Product,
    "bf16": Product,
    "mixed": Int8Product,
}

# Small, and used in float32 whatever the precision: statistics of latents, frequencies of times.
_ALWAYS_FLOAT32 = ("emb_mean", "emb_std", "freqs")


def set_precision(module: nn.Module, precision: Precision) -> None:
    """Convert all weights of a module; those that have the format already stay what they are."""
    for child in module.modules():
        for name, parameter in child.named_parameters(recurse=False):
            converted = parameter.to(DTYPES[precision])
            child.register_parameter(name, nn.Parameter(converted, requires_grad=False))
        for name, buffer in child.named_buffers(recurse=False):
            is_fixed = name in _ALWAYS_FLOAT32
            child.register_buffer(name, buffer.float() if is_fixed else buffer)


def take_out(module: nn.Module) -> None:
    """Copy all weights, so that nothing of the model is in its file: that may change any time."""
    for child in module.modules():
        for name, parameter in child.named_parameters(recurse=False):
            child.register_parameter(name, nn.Parameter(parameter.clone(), requires_grad=False))
        for name, buffer in child.named_buffers(recurse=False):
            child.register_buffer(name, buffer.clone())
