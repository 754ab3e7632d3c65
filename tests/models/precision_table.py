"""How far each precision is from fp32, part by part, each part given what fp32 gave it.

`python tests/models/precision_table.py` prints the table of a tiny random model, with `--full-size`
of one as large as the released ones, and with `--model FOLDER` of that one.

Two figures a part, in dB, the more the better. The plain one is the power of what fp32 makes over
the power of the error. It flatters: much of what a random model makes is the same for every input,
and would be so if the part were to ignore its input. So the one that counts takes the power of what
depends on the input: of the differences from the mean over `NUM_INPUTS` inputs, at each place of
the output (the same frame and channel, or sample). 0 dB is an output that is as far from the right
one as that of another input is from the mean.
"""

import argparse
import runpy
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

import torch
from torch import Tensor

from pocket_batch.data import Precision
from pocket_batch.models.architecture import DECODE_STEPS, load_model_config
from pocket_batch.models.kv_cache import make_prefix
from pocket_batch.models.weights import PocketModel, load_model

HERE = Path(__file__).parent
_compare = runpy.run_path(str(HERE / "compare.py"))
random, recording, STD = _compare["random"], _compare["recording"], _compare["STD"]

NUM_INPUTS = 8
NUM_FRAMES = 10
NUM_TOKENS = 12
NUM_SAMPLES = 24_000
PRECISIONS = tuple(name for name in get_args(Precision) if name != "fp32")


class Ratio(NamedTuple):
    """Signal to error in dB: of what depends on the input, and of everything."""

    dependent: float
    plain: float


@dataclass(frozen=True, slots=True)
class Given:
    """What every part is given; all but the first three come from the exact model.

    `recordings` are (N, S), `tokens` (N, T), `latents` and `noise` (N, F, latent), `features`
    (N, F, voice), `states` (N, L, 2, T, G, D), `hidden` (N, F, Z). The noise is the same for all N,
    so that what differs comes from the backbone.
    """

    recordings: Tensor
    tokens: Tensor
    latents: Tensor
    noise: Tensor
    features: Tensor
    states: Tensor
    hidden: Tensor


@torch.no_grad
def given_by(exact: PocketModel) -> Given:
    """Inputs for the parts of all models with these weights."""
    num_bins = exact.config.flow_lm.lookup_table.n_bins
    latent_dim = exact.flow_lm.latent_dim
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(num_bins, (NUM_INPUTS, NUM_TOKENS), generator=generator)
    recordings = torch.stack([recording(NUM_SAMPLES, seed) for seed in range(NUM_INPUTS)])
    latents = random(2, NUM_INPUTS, NUM_FRAMES, latent_dim)
    noise = STD * random(3, 1, NUM_FRAMES, latent_dim).expand(NUM_INPUTS, -1, -1)
    features = torch.stack([exact.mimi.encode(audio) for audio in recordings])
    states = torch.stack([exact.flow_lm.voice_state(f) for f in features])
    hidden, _ = decode(exact, states, tokens, latents)
    return Given(recordings, tokens, latents, noise, features, states, hidden)


@torch.no_grad
def outputs(model: PocketModel, given: Given) -> dict[str, Tensor]:
    """What every part makes of its inputs, (N, ...) each."""
    language_model, steps = model.flow_lm, DECODE_STEPS[model.config.flow_lm.flow.type]
    hidden, logits = decode(model, given.states, given.tokens, given.latents)

    def latents_of(hidden: Tensor) -> Tensor:
        frames = zip(hidden.unbind(1), given.noise.unbind(1), strict=True)
        return torch.stack([language_model.sample(h, n, steps) for h, n in frames], 1)

    return {
        "Mimi encoder": torch.stack([model.mimi.encode(audio) for audio in given.recordings]),
        "voice state": torch.stack([language_model.voice_state(f) for f in given.features]),
        "prefill of text": prefill(model, given.states[0], given.tokens),
        "backbone, hidden": hidden,
        "backbone, EOS logit": logits,
        "flow head": latents_of(given.hidden),
        "backbone and flow head": latents_of(hidden),
        "Mimi decoder": torch.stack([model.mimi.decode(latents) for latents in given.latents]),
    }


def prefill(model: PocketModel, state: Tensor, tokens: Tensor) -> Tensor:
    """Keys and values of texts (N, T) behind one voice, (N, L, 2, T, G, D)."""
    language_model, found = model.flow_lm, []
    prefix = make_prefix(state, language_model.dtype)
    for text in tokens:
        cache = language_model.make_cache(1)
        cache.put(0, prefix)
        language_model.prefill(language_model.conditioner(text), cache, 0)
        found.append(cache.get(0))
    return torch.stack(found)


def decode(
    model: PocketModel, states: Tensor, tokens: Tensor, latents: Tensor
) -> tuple[Tensor, Tensor]:
    """Hidden (N, F, Z) and EOS logits (N, F) when the latents before are as given, each row with
    its own voice and text."""
    language_model = model.flow_lm
    cache = language_model.make_cache(len(tokens))
    for slot, (state, text) in enumerate(zip(states, tokens, strict=True)):
        cache.put(slot, make_prefix(state, language_model.dtype))
        language_model.prefill(language_model.conditioner(text), cache, slot)
    start = language_model.bos_emb.float().expand(len(tokens), 1, -1)
    before = torch.cat((start, latents[:, :-1]), 1)
    steps = [language_model.decode_step(last, cache) for last in before.unbind(1)]
    return torch.stack([s[0] for s in steps], 1), torch.stack([s[1] for s in steps], 1)


def ratio(exact: Tensor, found: Tensor) -> Ratio:
    """How much louder than its error a part is, (N, ...) both."""
    exact, found = exact.double(), found.double()
    error = (found - exact).square().mean()
    deviation = exact.var(dim=0).mean()  # of one output from the mean, at its place
    power = exact.square().mean()
    decibels = [10 * float(torch.log10(p / error)) if error else 200.0 for p in (deviation, power)]
    return Ratio(*decibels)


class Exact:
    """A checkpoint in fp32, with what every part was given and made."""

    def __init__(self, folder: Path) -> None:
        """Load it."""
        self.config = load_model_config(folder / "config.yaml")
        self.weights = folder / "model.safetensors"
        model = load_model(self.config, self.weights)
        self.given = given_by(model)
        self.wanted = outputs(model, self.given)

    def ratios(self, model: PocketModel) -> dict[str, Ratio]:
        """How far a model with these weights is from this one, by part."""
        found = outputs(model, self.given)
        return {part: ratio(wanted, found[part]) for part, wanted in self.wanted.items()}

    def ratios_of(self, precision: Precision) -> dict[str, Ratio]:
        """How far the same checkpoint in another precision is."""
        return self.ratios(load_model(self.config, self.weights, precision))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full-size", action="store_true")
    parser.add_argument("--model", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    torch.set_num_threads(1)  # more would wait for each other where something else runs
    with tempfile.TemporaryDirectory() as name:
        folder = args.model or make_model(Path(name), "english" if args.full_size else "lsd")
        exact = Exact(folder)
        columns = {precision: exact.ratios_of(precision) for precision in PRECISIONS}
    print(f"{'dB, of what depends on the input (plain)':<42}", *(f"{p:>14}" for p in columns))
    for part in exact.wanted:
        found = [columns[p][part] for p in columns]
        cells = (f"{f'{r.dependent:.1f} ({r.plain:.1f})':>14}" for r in found)
        print(f"{part:<42}", *cells)


def make_model(folder: Path, name: str) -> Path:
    """A random checkpoint by the name of its variant."""
    checkpoints = runpy.run_path(str(HERE / "make_checkpoint.py"))
    tokenizers = runpy.run_path(str(HERE / "make_tokenizer.py"))
    config = (checkpoints["variants"]() | checkpoints["full_size"]())[name]
    table = config["flow_lm"]["lookup_table"]
    tokenizer = tokenizers["make_tokenizer"](folder, table["n_bins"], table["tokenizer"])
    path: Path = checkpoints["make_checkpoint"](folder / name, config, tokenizer)
    return path.parent


if __name__ == "__main__":
    sys.exit(main())
