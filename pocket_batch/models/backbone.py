"""The language model of Pocket TTS: text table, causal transformer, EOS head and flow head.

It reads a voice prompt and text tokens, then makes one latent (a frame of 80 ms) after another,
each from the last (CALM, Source: arXiv 2509.06926). Attribute names are those of the checkpoints.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.architecture import BackboneConfig, ModelConfig, TextTableConfig
from pocket_batch.models.cached_attention import TOKENS_STEP, Pass, StepPass, TextPass
from pocket_batch.models.flow_head import FlowHead
from pocket_batch.models.kv_cache import SlotCache
from pocket_batch.models.products import Int8Product, Product, pack_linears
from pocket_batch.models.transformer import Layer, pack_layers, rotations


class TextTable(nn.Module):
    """One vector a token; the last row of the table is padding and never looked up."""

    def __init__(self, config: TextTableConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.n_bins + 1, config.rank or config.dim)
        self.proj = nn.Linear(config.rank, config.dim, bias=False) if config.rank else None

    def forward(self, tokens: Tensor) -> Tensor:
        """(T,) -> (T, C)."""
        x: Tensor = self.embed(tokens)
        return x if self.proj is None else self.proj(x)


class Backbone(nn.Module):
    """The causal transformer over a `SlotCache`."""

    def __init__(self, config: BackboneConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            Layer(
                config.d_model,
                config.num_heads,
                config.hidden_dim,
                kv_heads=config.kv_heads,
                head_dim=config.head_dim,
            )
            for _ in range(config.num_layers)
        )

    def forward(self, x: Tensor, run: Pass) -> Tensor:
        """(B, T, C) -> (B, T, C), storing keys and values where the pass says."""
        rope = rotations(run.positions, self.config.head_dim, self.config.max_period)
        for index, layer in enumerate(self.layers):
            x = layer(x, rope, partial(run.attend, index))
        run.finish()
        return x


class LanguageModel(nn.Module):
    """From prompts to latents; called `flow_lm` in checkpoints."""

    emb_mean: Tensor
    emb_std: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        own, dim = config.flow_lm, config.flow_lm.transformer.d_model
        self.latent_dim = config.mimi.quantizer.dimension
        voice_dim = config.mimi.inner_dim or config.mimi.seanet.dimension
        hidden_dim = own.z_dim or dim
        self.conditioner = TextTable(own.lookup_table)
        self.transformer = Backbone(own.transformer)
        self.flow_net = FlowHead(own.flow, self.latent_dim, hidden_dim)
        self.input_linear = nn.Linear(self.latent_dim, dim, bias=False)
        self.out_norm = nn.LayerNorm(dim, eps=1e-5)
        self.z_proj = nn.Linear(dim, own.z_dim, bias=False) if own.z_dim else None
        self.out_eos = nn.Linear(hidden_dim, 1)
        self.bos_emb = nn.Parameter(torch.zeros(self.latent_dim))
        self.speaker_proj_weight = nn.Parameter(torch.zeros(dim, voice_dim))
        if own.insert_bos_before_voice:
            self.bos_before_voice = nn.Parameter(torch.zeros(1, 1, dim))
        self.register_buffer("emb_std", torch.ones(self.latent_dim))
        self.register_buffer("emb_mean", torch.zeros(self.latent_dim))

    def pack(self, large: type[Product] | type[Int8Product] = Product) -> None:
        """Prepare all weights for products; has to be called once, after they are loaded.

        Args:
            large: the kind of the transformer's products.
        """
        self.dtype = self.input_linear.weight.dtype
        pack_layers(self.transformer.layers, large)
        self.flow_net.pack()
        pack_linears(self)

    def make_cache(self, num_slots: int) -> SlotCache:
        """An empty cache of the right shape and precision."""
        config = self.transformer.config
        return SlotCache(config.num_layers, num_slots, config.kv_heads, config.head_dim, self.dtype)

    def voice_state(self, features: Tensor) -> Tensor:
        """What the backbone holds after a voice prompt.

        Args:
            features: (T, voice), of the prompt, from the Mimi encoder.

        Returns:
            (L, 2, T or T + 1, G, D), keys and values; see `make_prefix`.
        """
        cache = self.make_cache(1)
        cache.put(0, None)
        self.prefill(self.embed_voice(features), cache, 0)
        return cache.get(0)

    def embed_voice(self, features: Tensor) -> Tensor:
        """Features of a voice prompt from the Mimi encoder, (T, voice) -> (T or T + 1, C)."""
        x = features.to(self.speaker_proj_weight.dtype) @ self.speaker_proj_weight.T
        if hasattr(self, "bos_before_voice"):
            x = torch.cat((self.bos_before_voice[0], x))
        return x

    def prefill(self, x: Tensor, cache: SlotCache, slot: int) -> None:
        """Put embedded positions (T, C) into one slot; nothing is predicted from them."""
        self.prefill_many([x], cache, [slot])

    def prefill_many(self, texts: Sequence[Tensor], cache: SlotCache, slots: Sequence[int]) -> None:
        """Put embedded positions, (T, C) each, into as many slots with nothing but a voice."""
        x = torch.cat(list(texts))  # (N, C)
        x = F.pad(x, (0, 0, 0, -len(x) % TOKENS_STEP))
        self.transformer(x[None], TextPass(cache, slots, [len(text) for text in texts]))

    def decode_step(self, latents: Tensor, cache: SlotCache) -> tuple[Tensor, Tensor]:
        """Append one latent to each of the first slots and look at what follows.

        Args:
            latents: (B, latent), the last one of every slot, or `bos_emb` for its first step.

        Returns:
            hidden: (B, Z), float32, for `sample`.
            eos_logits: (B,), float32; speech ends where one is over the threshold.
        """
        x = self.input_linear(latents.to(self.dtype))[:, None]  # (B, 1, C)
        x = self.transformer(x, StepPass(cache, len(latents)))
        x = self.out_norm(x)[:, 0]  # (B, C)
        hidden = x if self.z_proj is None else self.z_proj(x)  # (B, Z)
        return hidden.float(), self.out_eos(hidden)[:, 0].float()

    def sample(self, hidden: Tensor, noise: Tensor, num_steps: int) -> Tensor:
        """The next latents: (B, Z), (B, latent) -> (B, latent), float32."""
        return self.flow_net(hidden.to(self.dtype), noise.to(self.dtype), num_steps).float()  # type: ignore[no-any-return]

    def denormalise(self, latents: Tensor) -> Tensor:
        """From the language model's latents to the codec's, (F, latent)."""
        return latents * self.emb_std + self.emb_mean
