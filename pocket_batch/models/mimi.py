"""Mimi, the codec: 24 kHz audio to latents of 12.5 frames a second and back.

It works on a whole utterance at once. Every layer is causal, so the samples are those that
frame-by-frame streaming makes, and nothing has to be carried from frame to frame. Signals are
(T, C), time by channels, so that most convolutions are one product of matrices. Attribute names are
those of the checkpoints until `pack` prepares the weights; nothing runs before that.
Source: arXiv 2410.00037 (Mimi), 2009.02095 (SEANet).
"""

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.architecture import MimiConfig, MimiTransformerConfig, SeanetConfig
from pocket_batch.models.products import Product, pack_linears
from pocket_batch.models.transformer import Layer, rotations, window_attention

CHUNK = 128  # positions that go through the upper levels at a time, so that they stay in the cache
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
    ) -> None:
        super().__init__()
        self.conv = nn.Conv1d(
            in_channels, out_channels, kernel_size, stride, dilation=dilation, bias=bias
        )
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.num_before = (kernel_size - 1) * dilation + 1 - stride  # positions of padding
        self.pad_mode = pad_mode  # "constant": zeros; "replicate": the first value

    def pack(self) -> None:
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
            self.product = Product(weight.permute(0, 2, 1).flatten(1), bias)  # (C', K * C)
        del self.conv

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T / stride, C')."""
        if self.num_before:
            first = x[:1] if self.pad_mode == "replicate" else torch.zeros_like(x[:1])
            x = torch.cat((first.expand(self.num_before, -1), x))  # (before + T, C)
        return self._run(x)

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

    The outputs between two inputs depend on these two alone: one product makes all of them.
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.convtr = nn.ConvTranspose1d(in_channels, out_channels, 2 * stride, stride)

    def pack(self) -> None:
        """Prepare the weights for one product over pairs of inputs."""
        weight = self.convtr.weight.data.permute(2, 1, 0)  # (2 * stride, C', C)
        now, later = weight.flatten(0, 1).chunk(2)  # (stride * C', C) each
        bias = self.convtr.bias
        assert bias is not None
        self.product = Product(torch.cat((later, now), dim=1), bias.repeat(self.stride))
        del self.convtr

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T * stride, C')."""
        before = torch.cat((torch.zeros_like(x[:1]), x[:-1]))
        return self.product(torch.cat((before, x), dim=1)).reshape(len(x) * self.stride, -1)  # type: ignore[no-any-return]


class ResidualBlock(nn.Module):
    """Two convolutions, the second of width 1, added to their input."""

    def __init__(self, dim: int, config: SeanetConfig, dilation: int) -> None:
        super().__init__()
        hidden = dim // config.compress
        conv = partial(CausalConv, pad_mode=config.pad_mode)
        self.block = nn.Sequential(
            nn.ELU(),
            conv(dim, hidden, config.residual_kernel_size, dilation=dilation),
            nn.ELU(),
            conv(hidden, dim, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T, C)."""
        return self.block(x).add_(x)  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Waveform to features at the rate of the transformer."""

    def __init__(self, config: SeanetConfig) -> None:
        super().__init__()
        conv = partial(CausalConv, pad_mode=config.pad_mode)
        dim = config.n_filters
        layers: list[nn.Module] = [conv(config.channels, dim, config.kernel_size)]
        for ratio in reversed(config.ratios):
            layers += _residual_blocks(dim, config)
            layers += [nn.ELU(), conv(dim, 2 * dim, 2 * ratio, stride=ratio)]
            dim *= 2
        layers += [nn.ELU(), conv(dim, config.dimension, config.last_kernel_size)]
        self.model = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """(S, 1) -> (T, C)."""
        return self.model(x)  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Features to waveform."""

    def __init__(self, config: SeanetConfig) -> None:
        super().__init__()
        conv = partial(CausalConv, pad_mode=config.pad_mode)
        dim = config.n_filters * 2 ** len(config.ratios)
        layers: list[nn.Module] = [conv(config.dimension, dim, config.kernel_size)]
        for ratio in config.ratios:
            layers += [nn.ELU(), CausalConvTranspose(dim, dim // 2, ratio)]
            dim //= 2
            layers += _residual_blocks(dim, config)
        layers += [nn.ELU(), conv(dim, config.channels, config.last_kernel_size)]
        self.model = nn.Sequential(*layers)
        self.hop = math.prod(config.ratios)  # samples of one position
        self.num_before = _positions_before(layers[1:], self.hop)

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (S, 1).

        The levels above the first go chunk by chunk, each with the positions before it that its
        first samples depend on; what these positions themselves give is thrown away.
        """
        x = self.model[0](x)
        upper, samples = self.model[1:], []
        for start in range(0, len(x), CHUNK):
            first = max(0, start - self.num_before)
            made = upper(x[first : start + CHUNK])
            samples.append(made[(start - first) * self.hop :])
        return torch.cat(samples)


def _positions_before(layers: list[nn.Module], hop: int) -> int:
    """How many positions before its own a sample depends on, through these layers of a decoder."""
    samples, num_samples = hop, 0  # of one position at this level, and those seen so far
    for layer in layers:
        if isinstance(layer, CausalConvTranspose):
            num_samples += samples
            samples //= layer.stride
        elif isinstance(layer, ResidualBlock):
            inner = (conv.num_before for conv in layer.block if isinstance(conv, CausalConv))
            num_samples += samples * sum(inner)
        elif isinstance(layer, CausalConv):
            num_samples += samples * layer.num_before
    return -(-num_samples // hop)


def _residual_blocks(dim: int, config: SeanetConfig) -> list[nn.Module]:
    return [
        ResidualBlock(dim, config, config.dilation_base**index)
        for index in range(config.n_residual_layers)
    ]


class WindowTransformer(nn.Module):
    """The layers of a transformer of Mimi."""

    def __init__(self, config: MimiTransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            Layer(config.d_model, config.num_heads, config.dim_feedforward, has_scale=True)
            for _ in range(config.num_layers)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T, C)."""
        config, x = self.config, x[None]
        positions = torch.arange(x.shape[1])[None]  # (1, T)
        rope = rotations(positions, config.d_model // config.num_heads, config.max_period)
        attend = partial(window_attention, context=config.context)
        for layer in self.layers:
            x = layer(x, rope, attend)
        return x[0]


class ProjectedTransformer(nn.Module):
    """A transformer between channels of other widths."""

    def __init__(self, config: MimiTransformerConfig) -> None:
        super().__init__()
        dim = config.d_model
        self.transformer = WindowTransformer(config)
        self.input_proj = _projection(config.input_dimension, dim)
        self.output_projs = nn.ModuleList(_projection(dim, d) for d in config.output_dimensions[:1])

    def forward(self, x: Tensor) -> Tensor:
        """(T, C) -> (T, C')."""
        return self.output_projs[0](self.transformer(self.input_proj(x)))  # type: ignore[no-any-return]


def _projection(from_dim: int, to_dim: int) -> nn.Module:
    return nn.Identity() if from_dim == to_dim else nn.Linear(from_dim, to_dim, bias=False)


class Quantizer(nn.Module):
    """Only the projection of latents is left of it."""

    def __init__(self, latent_dim: int, dim: int) -> None:
        super().__init__()
        self.output_proj = nn.Conv1d(latent_dim, dim, 1, bias=False)

    def pack(self) -> None:
        """Prepare the weights."""
        self.output_proj = Product(self.output_proj.weight.data[..., 0])  # type: ignore[assignment]


class Downsample(nn.Module):
    """From the rate of the transformer to that of frames."""

    def __init__(self, dim: int, out_dim: int, stride: int) -> None:
        super().__init__()
        self.conv = CausalConv(
            dim, out_dim, 2 * stride, stride=stride, bias=False, pad_mode="replicate"
        )


class ChannelwiseTranspose(nn.Module):
    """A `CausalConvTranspose` of each channel by itself."""

    def __init__(self, in_dim: int, dim: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.convtr = nn.ConvTranspose1d(in_dim, dim, 2 * stride, stride, groups=dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(F, C) -> (F * stride, C')."""
        y = self.convtr(x.T[None])  # (1, C', (F + 1) * stride)
        return y[0, :, : -self.stride].T.contiguous()  # type: ignore[no-any-return]


class Upsample(nn.Module):
    """From the rate of frames to that of the transformer."""

    def __init__(self, in_dim: int, dim: int, stride: int) -> None:
        super().__init__()
        self.convtr = ChannelwiseTranspose(in_dim, dim, stride)


class Mimi(nn.Module):
    """The codec, encoder and decoder."""

    def __init__(self, config: MimiConfig) -> None:
        super().__init__()
        self.config = config
        decoder = config.decoder_seanet or config.seanet
        self.encoder = Encoder(config.seanet)
        self.decoder = Decoder(decoder)
        self.encoder_transformer = ProjectedTransformer(config.transformer)
        self.decoder_transformer = ProjectedTransformer(
            config.decoder_transformer or config.transformer
        )
        self.quantizer = Quantizer(config.quantizer.dimension, config.quantizer.output_dimension)
        hop = torch.Size(decoder.ratios).numel()
        stride = config.frame_samples // hop
        self.runs_at_frame_rate = stride == 1  # the transformer already works at the rate of frames
        if not self.runs_at_frame_rate:
            dim = config.seanet.dimension
            self.downsample = Downsample(dim, config.inner_dim or dim, stride)
            self.upsample = Upsample(
                config.outer_dim or decoder.dimension, decoder.dimension, stride
            )

    def pack(self) -> None:
        """Prepare all weights; has to be called once, after they are loaded."""
        self._dtype = self.quantizer.output_proj.weight.dtype
        pack_linears(self)
        for child in list(self.modules()):
            if isinstance(child, CausalConv | CausalConvTranspose | Quantizer):
                child.pack()

    def encode(self, audio: Tensor) -> Tensor:
        """Features of a recording, for a voice prompt.

        Args:
            audio: (S,), mono at the codec's sampling rate, full scale 1.0.

        Returns:
            (F, inner), one row for each frame begun; the last is filled up with silence.
        """
        missing = -len(audio) % self.config.frame_samples
        x = F.pad(audio, (0, missing))[:, None].to(self._dtype)  # (S, 1)
        x = self.encoder_transformer(self.encoder(x))  # (T, C)
        return x if self.runs_at_frame_rate else self.downsample.conv(x)  # type: ignore[no-any-return]

    def decode(self, latents: Tensor) -> Tensor:
        """A whole utterance.

        Args:
            latents: (F, latent), of the codec (`LanguageModel.denormalise`).

        Returns:
            (F * 1920,), float32.
        """
        x = self.quantizer.output_proj(latents.to(self._dtype))  # (F, C)
        if not self.runs_at_frame_rate:
            x = self.upsample.convtr(x)  # (T, C)
        return self.decoder(self.decoder_transformer(x))[:, 0].float()  # type: ignore[no-any-return]
