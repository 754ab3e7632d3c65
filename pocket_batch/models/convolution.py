"""Causal convolutions over (T, C), time by channels, mostly as one product of matrices.

Attribute names are those of the checkpoints until `pack` prepares the weights; nothing runs before
that.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.elementwise import elu
from pocket_batch.models.products import Int8Product, Product

FEW_OUTPUTS = 16  # so narrow a convolution is cheaper as one product and shifted sums
WIDE_KERNEL = 5  # from here on a product over columns is cheaper than the kernels for images


class CausalConv(nn.Module):
    """A convolution that sees nothing of the future: all its padding is at the start."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        *,
        stride: int = 1,
        dilation: int = 1,
        bias: bool = True,
        pad_mode: str = "constant",
        elu_before: bool = False,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv1d(
            in_channels, out_channels, kernel_size, stride, dilation=dilation, bias=bias
        )
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.num_before = (kernel_size - 1) * dilation + 1 - stride  # positions of padding
        self.pad_mode = pad_mode  # "constant": zeros; "replicate": the first value
        self.elu_before = elu_before

    def pack(self, kind: type[Product] | type[Int8Product] = Product) -> None:
        """Prepare the weights for the way in which `forward` is cheapest."""
        weight = self.conv.weight.data  # (C', C, K)
        self.bias = self.conv.bias
        num_outputs = weight.shape[0] * self.kernel_size
        if self.stride == 1 and self.kernel_size > 1 and num_outputs <= FEW_OUTPUTS:
            self._run = self._shifted_sums
            self.taps = nn.Parameter(weight.permute(1, 2, 0).flatten(1))  # (C, K * C')
        elif self.stride == 1 and 1 < self.kernel_size < WIDE_KERNEL:
            self._run = self._image
            image = weight[:, :, None].contiguous(memory_format=torch.channels_last)
            self.image = nn.Parameter(image)  # (C', C, 1, K)
        else:
            self._run = self._columns
            bias = None if self.bias is None else self.bias.data
            self.product = kind(weight.permute(0, 2, 1).flatten(1), bias)  # (C', K * C)
        del self.conv

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T / stride, C'); x is overwritten if it needs ELU and no padding."""
        return self._run(self._padded(x))

    def _padded(self, x: Tensor) -> Tensor:
        """What the convolution sees, (before + T, C)."""
        if not self.num_before:
            return elu(x, x) if self.elu_before else x
        padded = x.new_empty(self.num_before + len(x), x.shape[1])
        before, own = padded[: self.num_before], padded[self.num_before :]
        elu(x, own) if self.elu_before else own.copy_(x)
        before.copy_(own[:1]) if self.pad_mode == "replicate" else before.zero_()
        return padded

    def _columns(self, x: Tensor) -> Tensor:
        """What each output sees side by side, then one product."""
        size, stride = self.kernel_size, self.stride
        num_out = (len(x) - (size - 1) * self.dilation - 1) // stride + 1
        if stride > 1 and self.dilation == 1 and size % stride == 0:
            blocks = x.reshape(-1, stride * x.shape[1])  # (T / stride, stride * C)
            parts = [blocks[n : n + num_out] for n in range(size // stride)]
        else:
            starts = range(0, size * self.dilation, self.dilation)
            parts = [x[n : n + stride * num_out : stride] for n in starts]
        return self.product(torch.cat(parts, dim=1) if len(parts) > 1 else parts[0])  # type: ignore[no-any-return]

    def _image(self, x: Tensor) -> Tensor:
        """As an image one pixel high, whose channels lie together in memory."""
        y = F.conv2d(x.T[None, :, None], self.image, self.bias, dilation=(1, self.dilation))
        return y[0, :, 0].T

    def _shifted_sums(self, x: Tensor) -> Tensor:
        """All taps for every input, then the sum of those that meet at one output."""
        taps = (x @ self.taps).unflatten(1, (self.kernel_size, -1))  # type: ignore[no-untyped-call]
        num_out = len(x) - self.num_before
        y = taps[:num_out, 0]
        for n in range(1, self.kernel_size):
            y = y + taps[n * self.dilation : n * self.dilation + num_out, n]
        return y if self.bias is None else y + self.bias  # type: ignore[no-any-return]


class CausalConvTranspose(nn.Module):
    """A transposed convolution twice as wide as its stride, without what comes after the end.

    The outputs between two inputs depend on these two alone: one product makes all of them. ELU is
    applied to the inputs first.
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.convtr = nn.ConvTranspose1d(in_channels, out_channels, 2 * stride, stride)

    def pack(self, kind: type[Product] | type[Int8Product] = Product) -> None:
        """Prepare the weights for one product over pairs of inputs."""
        weight = self.convtr.weight.data.permute(2, 1, 0)  # (2 * stride, C', C)
        now, later = weight.flatten(0, 1).chunk(2)  # (stride * C', C) each
        bias = self.convtr.bias
        assert bias is not None
        self.product = kind(torch.cat((later, now), dim=1), bias.repeat(self.stride))
        del self.convtr

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T * stride, C')."""
        pairs = x.new_empty(len(x), 2, x.shape[1])
        elu(x, pairs[:, 1])
        pairs[1:, 0] = pairs[:-1, 1]
        pairs[0, 0] = 0
        return self.product(pairs.flatten(1)).reshape(len(x) * self.stride, -1)  # type: ignore[no-any-return]


class ChannelwiseTranspose(nn.Module):
    """A `CausalConvTranspose` of each channel by itself."""

    def __init__(self, in_dim: int, dim: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.convtr = nn.ConvTranspose1d(in_dim, dim, 2 * stride, stride, groups=dim, bias=False)

    def pack(self) -> None:
        """Prepare the weights: what an input gives to its own outputs, and to the next ones."""
        weight = self.convtr.weight.data[:, 0]  # (C, 2 * stride)
        now, later = weight.T.chunk(2)  # (stride, C) each
        self.now, self.later = nn.Parameter(now.contiguous()), nn.Parameter(later.contiguous())
        self.num_together = self.convtr.in_channels // self.convtr.out_channels
        del self.convtr

    def forward(self, x: Tensor) -> Tensor:
        """(F, C) -> (F * stride, C'), whose channels are sums of C / C' inputs each."""
        y = x[:, None] * self.now  # (F, stride, C)
        y[1:].addcmul_(x[:-1, None], self.later)
        if self.num_together > 1:
            y = y.view(len(x), self.stride, -1, self.num_together).sum(-1)
        return y.flatten(0, 1)
