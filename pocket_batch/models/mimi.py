"""Mimi, the codec: 24 kHz audio to latents of 12.5 frames a second and back.

It works on a whole utterance at once. Every layer is causal, so the samples are those that
frame-by-frame streaming makes, and nothing has to be carried from frame to frame. Attribute names
are those of the checkpoints. Source: arXiv 2410.00037 (Mimi), 2009.02095 (SEANet).
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.architecture import MimiConfig, MimiTransformerConfig, SeanetConfig
from pocket_batch.models.transformer import Layer, rotations, window_attention


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
        self.padding = (kernel_size - 1) * dilation + 1 - stride
        self.pad_mode = pad_mode  # "constant": zeros; "replicate": the first value

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T) -> (B, C', T / stride)."""
        return self.conv(F.pad(x, (self.padding, 0), mode=self.pad_mode))  # type: ignore[no-any-return]


class CausalConvTranspose(nn.Module):
    """A transposed convolution; what it says of times after the last input is cut off."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        stride: int,
        *,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.stride = stride
        self.convtr = nn.ConvTranspose1d(
            in_channels, out_channels, 2 * stride, stride, groups=groups, bias=bias
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T) -> (B, C', T * stride)."""
        return self.convtr(x)[..., : -self.stride]  # type: ignore[no-any-return]


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
        """(B, C, T) -> (B, C, T)."""
        return x + self.block(x)  # type: ignore[no-any-return]


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
        """(B, 1, S) -> (B, C, T)."""
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

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T) -> (B, 1, S)."""
        return self.model(x)  # type: ignore[no-any-return]


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
        """(B, T, C) -> (B, T, C)."""
        config = self.config
        positions = torch.arange(x.shape[1])[None]  # (1, T)
        rope = rotations(positions, config.d_model // config.num_heads, config.max_period)
        attend = partial(window_attention, context=config.context)
        for layer in self.layers:
            x = layer(x, rope, attend)
        return x


class ProjectedTransformer(nn.Module):
    """A transformer between channels of other widths."""

    def __init__(self, config: MimiTransformerConfig) -> None:
        super().__init__()
        dim = config.d_model
        self.transformer = WindowTransformer(config)
        self.input_proj = _projection(config.input_dimension, dim)
        self.output_projs = nn.ModuleList(_projection(dim, d) for d in config.output_dimensions[:1])

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T) -> (B, C', T)."""
        x = self.transformer(self.input_proj(x.transpose(1, 2)))
        return self.output_projs[0](x).transpose(1, 2)  # type: ignore[no-any-return]


def _projection(from_dim: int, to_dim: int) -> nn.Module:
    return nn.Identity() if from_dim == to_dim else nn.Linear(from_dim, to_dim, bias=False)


class Quantizer(nn.Module):
    """Only the projection of latents is left of it."""

    def __init__(self, latent_dim: int, dim: int) -> None:
        super().__init__()
        self.output_proj = nn.Conv1d(latent_dim, dim, 1, bias=False)


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
        self.convtr = CausalConvTranspose(in_dim, dim, stride, groups=dim, bias=False)


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

    def encode(self, audio: Tensor) -> Tensor:
        """Features of a recording, for a voice prompt.

        Args:
            audio: (S,), mono at the codec's sampling rate, full scale 1.0.

        Returns:
            (F, inner), one row for each frame begun; the last is filled up with silence.
        """
        missing = -len(audio) % self.config.frame_samples
        dtype = self.quantizer.output_proj.weight.dtype
        x = F.pad(audio, (0, missing))[None, None].to(dtype)  # (1, 1, S)
        x = self.encoder_transformer(self.encoder(x))  # (1, C, T)
        if not self.runs_at_frame_rate:
            x = self.downsample.conv(x)  # (1, inner, F)
        features: Tensor = x[0].T
        return features

    def decode(self, latents: Tensor) -> Tensor:
        """A whole utterance.

        Args:
            latents: (F, latent), of the codec (`LanguageModel.denormalise`).

        Returns:
            (F * 1920,), float32.
        """
        x = latents.to(self.quantizer.output_proj.weight.dtype).T[None]  # (1, latent, F)
        x = self.quantizer.output_proj(x)
        if not self.runs_at_frame_rate:
            x = self.upsample.convtr(x)  # (1, C, T)
        return self.decoder(self.decoder_transformer(x))[0, 0].float()  # type: ignore[no-any-return]
