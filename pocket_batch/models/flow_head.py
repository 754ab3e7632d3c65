"""The flow head: from the backbone's output and noise to the next latent, mostly in one step.

An MLP with adaptive layer norm (Source: arXiv 2406.11838), trained by Lagrangian self distillation
(Source: arXiv 2505.18825), flow matching (Source: arXiv 2210.02747), or to jump without a time.
Attribute names are those of the checkpoints.
"""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.architecture import NUM_TIMES, FlowConfig
from pocket_batch.models.products import Product, pack_linears

TIME_FREQUENCIES = 128  # cosines, and as many sines
TIME_MAX_PERIOD = 10_000


class VarianceNorm(nn.Module):
    """Divides by the standard deviation without taking the mean away, as the checkpoints expect."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C); the variance is the unbiased one."""
        return x * (self.alpha * torch.rsqrt(x.var(dim=-1, keepdim=True) + 1e-5))


class TimeEmbedding(nn.Module):
    """A time between 0 and 1 as a vector."""

    freqs: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(2 * TIME_FREQUENCIES, dim), nn.SiLU(), nn.Linear(dim, dim), VarianceNorm(dim)
        )
        steps = torch.arange(TIME_FREQUENCIES) / TIME_FREQUENCIES
        self.register_buffer("freqs", torch.exp(-math.log(TIME_MAX_PERIOD) * steps))

    def forward(self, time: float) -> Tensor:
        """A time -> (1, C)."""
        angles = (time * self.freqs)[None]  # (1, TIME_FREQUENCIES), float32
        waves = torch.cat((angles.cos(), angles.sin()), dim=-1)  # (1, 2 * TIME_FREQUENCIES)
        return self.mlp(waves.to(next(self.parameters()).dtype))  # type: ignore[no-any-return]


class ResidualBlock(nn.Module):
    """A two-layer network whose input and output are shifted and scaled by the condition."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.in_ln = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(dim, 3 * dim))

    def forward(self, x: Tensor, shift: Tensor, scale: Tensor, gate: Tensor) -> Tensor:
        """All (B, C)."""
        return torch.addcmul(x, gate, self.mlp(torch.addcmul(shift, self.in_ln(x), scale)))


class FinalLayer(nn.Module):
    """Normalise, shift and scale by the condition, project to a latent."""

    def __init__(self, dim: int, latent_dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(dim, latent_dim)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(dim, 2 * dim))

    def forward(self, x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
        """(B, C), (B, C), (B, C) -> (B, latent)."""
        normalised = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        return self.linear(torch.addcmul(shift, normalised, scale))  # type: ignore[no-any-return]


class FlowHead(nn.Module):
    """The sampler of latents."""

    def __init__(self, config: FlowConfig, latent_dim: int, condition_dim: int) -> None:
        super().__init__()
        self.kind = config.type
        dim, num_times = config.dim, NUM_TIMES[config.type]
        self.time_embed = nn.ModuleList(TimeEmbedding(dim) for _ in range(num_times))
        self.cond_embed = nn.Linear(condition_dim, dim)
        self.input_proj = nn.Linear(latent_dim, dim)
        self.res_blocks = nn.ModuleList(ResidualBlock(dim) for _ in range(config.depth))
        self.final_layer = FinalLayer(dim, latent_dim)
        self._times: dict[tuple[float, float], Tensor] = {}

    def pack(self) -> None:
        """Prepare the weights; nothing runs before. All shifts, scales and gates are one product.

        The 1 that is added to every scale is part of its bias.
        """
        weights: list[Tensor] = []
        biases: list[Tensor] = []
        for owner in (*self.res_blocks, self.final_layer):
            assert isinstance(owner, ResidualBlock | FinalLayer)
            linear = owner.adaLN_modulation[1]
            assert isinstance(linear, nn.Linear)
            weights.append(linear.weight.data)
            shift, scale, *gate = linear.bias.data.view(-1, len(self.cond_embed.bias))
            biases += [shift, scale + 1, *gate]
            del owner.adaLN_modulation
        self.modulation = Product(torch.cat(weights), torch.cat(biases))
        pack_linears(self)

    def forward(self, hidden: Tensor, noise: Tensor, num_steps: int) -> Tensor:
        """Turn noise into the latent that goes with the backbone's output.

        Args:
            hidden: (B, Z), output of the backbone.
            noise: (B, latent).
            num_steps: of a head that takes times; the others jump once.

        Returns:
            (B, latent).
        """
        condition = self.cond_embed(hidden)  # (B, C)
        if self.kind == "drifting":
            return self._flow(condition, noise)
        if self.kind == "pointwise":
            return noise + self._flow(condition, noise)
        latent = noise
        times = [step / num_steps for step in range(num_steps + 1)]
        for start, end in pairwise(times):
            time = self._time(start, end)  # (1, C)
            latent = latent + self._flow(condition + time, latent) / num_steps
        return latent

    def _time(self, start: float, end: float) -> Tensor:
        """The embedding of a step, the mean of those of its times; flow matching has one."""
        if (start, end) not in self._times:
            embedded = [embed(t) for embed, t in zip(self.time_embed, (start, end), strict=False)]
            self._times[start, end] = torch.stack(embedded).mean(dim=0)
        return self._times[start, end]

    def _flow(self, condition: Tensor, x: Tensor) -> Tensor:
        x = self.input_proj(x)
        modulation = self.modulation(F.silu(condition)).split(condition.shape[-1], dim=-1)
        for index, block in enumerate(self.res_blocks):
            x = block(x, *modulation[3 * index : 3 * index + 3])
        return self.final_layer(x, *modulation[-2:])  # type: ignore[no-any-return]
