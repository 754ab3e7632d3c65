"""What the reference makes of the tiny checkpoints, kept in files: no reference is needed here.

`pytest tests/models/test_golden.py --save-golden` writes them anew, from the reference.
"""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from pocket_batch.models.architecture import DECODE_STEPS, load_model_config
from pocket_batch.models.weights import PocketModel, load_model, read_tensors

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "models"
VARIANTS = list(runpy.run_path(str(HERE / "make_checkpoint.py"))["variants"]())
compare = runpy.run_path(str(HERE / "compare.py"))
NUM_CODEC_FRAMES = 3
LIMIT = compare["LIMIT"]


def inputs(model: PocketModel, weights: Path) -> dict[str, Tensor]:
    """What both sides start from; kept too, so that another generator of noise is noticed."""
    latent_dim = model.flow_lm.latent_dim
    num_bins = model.config.flow_lm.lookup_table.n_bins
    tokens = torch.randint(num_bins, (11,), generator=torch.Generator().manual_seed(1))
    return {
        "weights": torch.stack([t.double().sum() for t in read_tensors(weights).values()]).float(),
        "recording": compare["recording"](24_000),
        "codec latents": compare["random"](1, NUM_CODEC_FRAMES, latent_dim),
        "tokens": tokens,
        "latents": compare["random"](2, compare["NUM_FRAMES"], latent_dim),
        "noise": compare["STD"] * compare["random"](3, compare["NUM_FRAMES"], latent_dim),
    }


def ours(model: PocketModel, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """Features, samples, voice state, latents and EOS logits as we make them."""
    features = model.mimi.encode(given["recording"])
    row = compare["Row"](features, given["tokens"], given["latents"], given["noise"])
    steps = DECODE_STEPS[model.config.flow_lm.flow.type]
    (decoded,) = compare["decode_rows"](model, [row], 1, steps)
    return {
        "features": features,
        "samples": model.mimi.decode(given["codec latents"]),
        "voice state": model.flow_lm.voice_state(features),
        "next latents": decoded[0],
        "eos logits": decoded[1],
    }


@torch.no_grad
def by_reference(config: Path, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same as the reference makes them."""
    from pocket_tts.modules.stateful_module import init_states

    pair = compare["Pair"](config)
    codec = pair.reference.mimi
    features = codec.encode_to_latent(given["recording"][None, None])[0]
    row = compare["Row"](features, given["tokens"], given["latents"], given["noise"])
    latents, logits = pair.reference_row(row)
    state = init_states(codec, 1, 1000)
    samples = codec.decode_from_latent(given["codec latents"][None], state)[0, 0]
    layers = pair.reference_state(features).values()
    return {
        "features": features,
        "samples": samples,
        "voice state": torch.stack([layer["cache"][:, 0] for layer in layers]),
        "next latents": latents,
        "eos logits": logits,
    }


@pytest.mark.parametrize("name", VARIANTS)
def test_results_are_those_kept_from_the_reference(
    name: str, tiny_model: Callable[[str], Path], save_golden: bool
) -> None:
    path, config = GOLDEN / f"{name}.safetensors", tiny_model(name) / "config.yaml"
    weights = config.with_name("model.safetensors")
    model = load_model(load_model_config(config), weights)
    given = inputs(model, weights)
    if save_golden:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"weights": given["weights"], **by_reference(config, given)}
        save_file({key: value.contiguous() for key, value in kept.items()}, path)
    golden = load_file(path)
    assert compare["difference"](golden.pop("weights"), given["weights"]) < 0.01, (
        "The random weights are others than those the golden file was made with."
    )
    found = ours(model, given)
    assert found.keys() == golden.keys()
    for key, value in golden.items():
        assert compare["difference"](found[key], value) <= LIMIT, key
