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
from pocket_batch.models.attention import window_attention
from pocket_batch.models.convolution import (
    CausalConv,
    CausalConvTranspose,
    ChannelwiseTranspose,
)
from pocket_batch.models.products import Int8Product, Product, pack_linears
from pocket_batch.models.threads import Run, halves, on_threads, one_by_one
from pocket_batch.models.transformer import Layer, pack_layers, rotations

FRAMES_STEP = 2  # an utterance is filled up to a multiple, so that there are fewer lengths
NUM_LARGE = 3  # convolutions of the decoder, from its first, with large products
CHUNK = 512  # positions that go through the upper levels at a time, so that they stay in the cache


class ResidualBlock(nn.Module):
    """Two convolutions, the second of width 1, added to their input."""

    def __init__(self, dim: int, config: SeanetConfig, dilation: int) -> None:
        super().__init__()
        hidden = dim // config.compress
        conv = partial(CausalConv, pad_mode=config.pad_mode, elu_before=True)
        self.block = nn.Sequential(
            nn.Identity(),  # the place of ELU in checkpoints
            conv(dim, hidden, config.residual_kernel_size, dilation=dilation),
            nn.Identity(),
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
            layers += [nn.Identity(), conv(dim, 2 * dim, 2 * ratio, stride=ratio, elu_before=True)]
            dim *= 2
        last = conv(dim, config.dimension, config.last_kernel_size, elu_before=True)
        layers += [nn.Identity(), last]
        self.model = nn.Sequential(*layers)
        self.hop = math.prod(config.ratios)  # samples of one position
        self.num_before = _positions_before(layers, self.hop)

    def forward(self, x: Tensor, run: Run = one_by_one) -> Tensor:
        """(S, 1) -> (T, C), in chunks as `Decoder`."""
        num_positions = len(x) // self.hop
        spans = (range(first, first + CHUNK) for first in range(0, num_positions, CHUNK))
        return torch.cat(list(run(partial(self._chunk, x), spans)))

    def _chunk(self, x: Tensor, span: range) -> Tensor:
        """Some positions, from all samples that they depend on."""
        first = max(0, span.start - self.num_before)
        made = self.model(x[first * self.hop : span.stop * self.hop])
        return made[span.start - first :]  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Features to waveform."""

    def __init__(self, config: SeanetConfig) -> None:
        super().__init__()
        conv = partial(CausalConv, pad_mode=config.pad_mode)
        dim = config.n_filters * 2 ** len(config.ratios)
        layers: list[nn.Module] = [conv(config.dimension, dim, config.kernel_size)]
        for ratio in config.ratios:
            layers += [nn.Identity(), CausalConvTranspose(dim, dim // 2, ratio)]
            dim //= 2
            layers += _residual_blocks(dim, config)
        last = conv(dim, config.channels, config.last_kernel_size, elu_before=True)
        layers += [nn.Identity(), last]
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
    """How many positions before its own an output depends on, through layers of an encoder or
    decoder; `hop` samples are a position."""
    goes_up = any(isinstance(layer, CausalConvTranspose) for layer in layers)
    samples, num_samples = hop if goes_up else 1, 0  # of one row of a layer, and those seen so far
    for layer in layers:
        if isinstance(layer, CausalConvTranspose):
            num_samples += samples
            samples //= layer.stride
        elif isinstance(layer, ResidualBlock):
            inner = (conv.num_before for conv in layer.block if isinstance(conv, CausalConv))
            num_samples += samples * sum(inner)
        elif isinstance(layer, CausalConv):
            num_samples += samples * layer.num_before
            samples *= layer.stride
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

    def pack(self, large: type[Product] | type[Int8Product] = Product) -> None:
        """Prepare all weights; has to be called once, after they are loaded.

        Args:
            large: the kind of the decoder's large products.
        """
        self._dtype = self.quantizer.output_proj.weight.dtype
        pack_layers(self.encoder_transformer.transformer.layers, Product)
        pack_layers(self.decoder_transformer.transformer.layers, large)
        convolutions = (CausalConv, CausalConvTranspose)
        first = [c for c in self.decoder.model if isinstance(c, convolutions)][:NUM_LARGE]
        for child in list(self.modules()):
            if isinstance(child, convolutions):
                child.pack(large if child in first else Product)
            elif isinstance(child, ChannelwiseTranspose | Quantizer):
                child.pack()
        pack_linears(self)

    def encode(self, audio: Tensor, num_threads: int = 1) -> Tensor:
        """Features of a recording, for a voice prompt.

        Args:
            audio: (S,), mono at the codec's sampling rate, full scale 1.0.
            num_threads: to use; the bits of the result do not depend on it.

        Returns:
            (F, inner), one row for each frame begun; the last is filled up with silence.
        """
        missing = -len(audio) % self.config.frame_samples
        x = F.pad(audio, (0, missing))[:, None].to(self._dtype)  # (S, 1)
        with on_threads(num_threads) as run:
            x = self.encoder(x, run)  # (T, C)
            spans = halves(len(x), self._num_seen)
            x = torch.cat(list(run(partial(self._transformed, x), spans)))
        return x if self.runs_at_frame_rate else self.downsample.conv(x)

    def _transformed(self, x: Tensor, span: range) -> Tensor:
        """Some positions after the encoder's transformer, from all that they depend on."""
        first = max(0, span.start - self._num_seen)
        made = self.encoder_transformer(x[first : span.stop])
        return made[span.start - first :]  # type: ignore[no-any-return]

    @property
    def _num_seen(self) -> int:
        """How many positions before its own one depends on in the encoder's transformer."""
        return self.config.transformer.num_layers * (self.config.transformer.context - 1)

    def decode(self, latents: Tensor) -> Tensor:
        """A whole utterance.

        Args:
            latents: (F, latent), of the codec (`LanguageModel.denormalise`).

        Returns:
            (F * 1920,), float32.
        """
        num_samples = len(latents) * self.config.frame_samples
        latents = F.pad(latents, (0, 0, 0, -len(latents) % FRAMES_STEP))
        x = self.quantizer.output_proj(latents.to(self._dtype))  # (F, C)
        if not self.runs_at_frame_rate:
            x = self.upsample.convtr(x)  # (T, C)
        return self.decoder(self.decoder_transformer(x))[:num_samples, 0].float()  # type: ignore[no-any-return]
