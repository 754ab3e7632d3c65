"""A random model in the official format: noise, but of the true size, for measuring and tests.

Weights are scaled so that every part of the model moves the result: with the usual initial values
the latents would hardly depend on the text, and a comparison would prove little.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.weights import PocketModel

EOS_MARGIN = 1.0  # the EOS logit is so far under its threshold on average: it comes after a while
# A latent must not move the next one by more than it moved itself: free-running generation would
# be chaotic, and the smallest rounding error grow without bound.
GAINS = {"final_layer.linear": 0.15, "input_linear": 0.1, "out_eos": 4.0}


def write_made_up_model(folder: Path, config: ModelConfig, seed: int = 2) -> Path:
    """Write config.yaml, model.safetensors and a tokenizer of made-up words `w0 w1 ...`.

    Returns:
        The configuration; locations in it are absolute, as pocket-tts wants them.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = asdict(config)
    content["weights_path"] = str(folder / "model.safetensors")
    content["weights_path_without_voice_cloning"] = None
    table = content["flow_lm"]["lookup_table"]
    table |= {"tokenizer": "tokenizers", "tokenizer_path": str(folder / "tokenizer.json")}
    _write_tokenizer(folder / "tokenizer.json", table["n_bins"])
    path = folder / "config.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    save_file(random_weights(config, seed), folder / "model.safetensors")
    return path


def random_weights(config: ModelConfig, seed: int) -> dict[str, Tensor]:
    """Tensors of a model by their official names, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    model = PocketModel(config)
    for name, parameter in model.named_parameters():
        parameter.data = _random(name, parameter.data, generator)
    for name, buffer in model.named_buffers():
        if name.endswith(("emb_std", "emb_mean")):
            buffer.copy_(torch.rand(buffer.shape, generator=generator) * 0.5 + 0.3)
    nn.init.constant_(model.flow_lm.out_eos.bias, config.default_eos_threshold - EOS_MARGIN)
    return {name: tensor.contiguous() for name, tensor in model.state_dict().items()}


def random_voice_state(config: ModelConfig, num_positions: int) -> Tensor:
    """Keys and values that no voice has, (L, 2, T, G, D)."""
    backbone = config.flow_lm.transformer
    shape = (backbone.num_layers, 2, num_positions, backbone.kv_heads, backbone.head_dim)
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _random(name: str, like: Tensor, generator: torch.Generator) -> Tensor:
    noise = torch.randn(like.shape, generator=generator)
    if name.endswith(("norm1.weight", "norm2.weight", "out_norm.weight", "in_ln.weight", "alpha")):
        return 1 + 0.1 * noise
    if name.endswith(".scale"):
        return 0.3 + 0.1 * noise
    if like.dim() == 1:
        return 0.1 * noise
    if name.endswith(("embed.weight", "bos_before_voice")):
        return noise
    gain = next((gain for part, gain in GAINS.items() if part in name), 1.0)
    return noise.mul_(gain * like[0].numel() ** -0.5)


def _write_tokenizer(path: Path, num_pieces: int) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    words = ["<unk>", *(f"w{n}" for n in range(1, num_pieces))]
    library = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    library.pre_tokenizer = WhitespaceSplit()
    library.save(str(path))
