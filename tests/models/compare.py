"""Our model beside the reference, with the same weights, inputs and noise.

`python tests/models/compare.py` prints the largest differences of every variant, and with
`--full-size` of a random checkpoint as large as the released ones.
"""

import argparse
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import torch
from torch import Tensor

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.engine.voice import VoiceState, read_state, write_state
from pocket_batch.models.architecture import DECODE_STEPS, load_model_config
from pocket_batch.models.kv_cache import make_prefix
from pocket_batch.models.weights import PocketModel, load_model

HERE = Path(__file__).parent
LIMIT = 1e-4  # of every difference, in float32
NUM_ROWS = 8
NUM_FRAMES = 12
STD = 0.3**0.5  # of the noise at the default temperature
TEXTS = (
    "The tide came in.",
    "He had wound the clock for years, and it was never right.",
    "Nobody answered",
    "Where does the water go; and who has seen it?",
)


@dataclass(frozen=True, slots=True)
class Row:
    """An utterance with given latents in place of its own, so that errors do not add up."""

    voice: Tensor  # (F, voice), features of a prompt
    tokens: Tensor  # (T,)
    latents: Tensor  # (NUM_FRAMES, latent)
    noise: Tensor  # (NUM_FRAMES, latent)


class Pair:
    """One checkpoint, loaded by us and by the reference."""

    def __init__(self, config: Path) -> None:
        """Load both.

        Args:
            config: a configuration that `make_checkpoint` wrote.
        """
        from pocket_tts.models.tts_model import TTSModel

        self.config_path = config
        self.config = load_model_config(config)
        self.num_steps = DECODE_STEPS[self.config.flow_lm.flow.type]
        self.ours: PocketModel = load_model(self.config, Path(str(self.config.weights_path)))
        self.reference = TTSModel.load_model(config=config, sampler_decode_steps=self.num_steps)
        self.latent_dim = self.config.mimi.quantizer.dimension

    @torch.no_grad
    def encoder(self) -> float:
        """Features of a recording that is no whole number of frames."""
        audio = recording(24_000 * 2 + 333)
        wanted = self.reference.mimi.encode_to_latent(audio[None, None])[0]  # (F, voice)
        return difference(self.ours.mimi.encode(audio), wanted)

    @torch.no_grad
    def decoder(self, frames_per_call: int) -> float:
        """Samples of an utterance that the reference decodes so many frames at a time."""
        from pocket_tts.modules.stateful_module import increment_steps, init_states

        codec = self.reference.mimi
        latents = random(1, 37, self.latent_dim)  # (F, latent)
        per_frame = int(codec.encoder_frame_rate / codec.frame_rate)
        state = init_states(codec, 1, len(latents) * per_frame)
        pieces = []
        for chunk in latents.split(frames_per_call):
            pieces.append(codec.decode_from_latent(chunk[None], state)[0, 0])
            increment_steps(codec, state, len(chunk) * per_frame)
        return difference(self.ours.mimi.decode(latents), torch.cat(pieces))

    def voice_state(self) -> float:
        """Keys and values after a voice prompt, which both have to read from each other's file."""
        features = self.ours.mimi.encode(recording(24_000 * 3))
        ours = VoiceState(self.ours.flow_lm.voice_state(features))
        theirs = self.reference_state(features)
        backbone = self.config.flow_lm.transformer
        shape = (backbone.num_layers, backbone.kv_heads, backbone.head_dim)
        from pocket_tts.models.model_state import _import_model_state, export_model_state

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.safetensors"
            export_model_state(theirs, path)
            read = read_state(path, *shape).cache
            write_state(ours, path)
            back = _import_model_state(path, torch.device("cpu"))
        caches = torch.stack([state["cache"][:, 0] for state in back.values()])  # (L, 2, T, G, D)
        return max(difference(ours.cache, read), difference(caches, read))

    @torch.no_grad
    def reference_state(self, features: Tensor) -> dict[str, dict[str, Tensor]]:
        """The reference's voice state of features (F, voice)."""
        from pocket_tts.modules.stateful_module import init_states

        model = self.reference.flow_lm
        prompt = torch.nn.functional.linear(features[None], model.speaker_proj_weight)
        if model.insert_bos_before_voice:
            prompt = torch.cat([model.bos_before_voice, prompt], dim=1)
        state = init_states(model, 1, prompt.shape[1])
        self.reference._run_flow_lm_and_increment_step(state, audio_conditioning=prompt)
        return state

    def teacher_forced(self, num_rows: int) -> tuple[float, float]:
        """Latents and EOS logits of rows that are admitted one after the other, each three steps
        after the one before; the reference makes them one at a time."""
        rows = [self.row(number) for number in range(num_rows)]
        ours = decode_rows(self.ours, rows, max(num_rows, 1), self.num_steps)
        latents = logits = 0.0
        for row, (our_latents, our_logits) in zip(rows, ours, strict=True):
            their_latents, their_logits = self.reference_row(row)
            latents = max(latents, difference(our_latents, their_latents))
            logits = max(logits, difference(our_logits, their_logits))
        return latents, logits

    def row(self, number: int) -> Row:
        """A made-up row: its own voice, of its own length, text and noise."""
        tokenizer = self.reference.flow_lm.conditioner.tokenizer
        return Row(
            voice=self.ours.mimi.encode(recording(24_000 + 9_000 * number, seed=number)),
            tokens=torch.tensor(tokenizer.encode(TEXTS[number % len(TEXTS)] + " So." * number)),
            latents=random(number, NUM_FRAMES, self.latent_dim),
            noise=STD * random(100 + number, NUM_FRAMES, self.latent_dim),
        )

    @torch.no_grad
    def reference_row(self, row: Row) -> tuple[Tensor, Tensor]:
        """Latents (F, latent) and EOS logits (F,) of one row by the reference."""
        model, state = self.reference, self.reference_state(row.voice)
        logits: list[Tensor] = []
        hook = model.flow_lm.out_eos.register_forward_hook(
            lambda _module, _inputs, output: logits.append(output[0])
        )
        length = model._flow_lm_current_end(state) + len(row.tokens) + NUM_FRAMES + 1
        model._expand_kv_cache(state, length)
        last = torch.full((1, 1, self.latent_dim), float("nan"))
        latents = []
        with given_noise([torch.zeros(self.latent_dim), *row.noise]):
            model._run_flow_lm_and_increment_step(state, text_tokens=row.tokens[None])
            logits.clear()
            for forced in row.latents:
                latent, _ = model._run_flow_lm_and_increment_step(
                    state, backbone_input_latents=last
                )
                latents.append(latent[0, 0])
                last = forced[None, None]
        hook.remove()
        return torch.stack(latents), torch.cat(logits)

    def free_running(self) -> tuple[float, int, int]:
        """Whole utterances through the engine and through `generate_audio`, same seeds.

        Returns:
            The largest difference of samples, how many of the utterances end with an EOS, and how
            many have another length than the reference's.
        """
        features = self.ours.mimi.encode(recording(24_000 * 2))
        state = self.reference_state(features)
        engine = PocketEngine(EngineSpec("pocket", str(self.config_path.parent)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "voice.safetensors"
            write_state(VoiceState(self.ours.flow_lm.voice_state(features)), path)
            voice = Voice("made-up", "pocket", "en", "CC0-1.0", parameters={"state": str(path)})
            requests = [
                Request(str(seed), "", text, voice, seed) for seed, text in enumerate(TEXTS, 7)
            ]
            outputs = {output.key: output for output in engine.generate(requests)}
        largest, num_other = 0.0, 0
        for request in requests:
            torch.manual_seed(request.seed)
            wanted = self.reference.generate_audio(state, request.text)
            audio = torch.from_numpy(outputs[request.key].audio)
            num_other += len(audio) != len(wanted)
            length = min(len(audio), len(wanted))
            largest = max(largest, difference(audio[:length], wanted[:length]))
        ended = sum(output.finish_reason == "eos" for output in outputs.values())
        return largest, ended, num_other


def decode_rows(
    model: PocketModel, rows: list[Row], num_slots: int, num_steps: int
) -> list[tuple[Tensor, Tensor]]:
    """Latents (F, latent) and EOS logits (F,) of all rows, decoded together in one cache."""
    language_model = model.flow_lm
    cache = language_model.make_cache(num_slots)
    done: list[tuple[list[Tensor], list[Tensor]]] = [([], []) for _ in rows]
    for step in range(3 * len(rows) + NUM_FRAMES):
        running = [n for n in range(len(rows)) if 3 * n <= step < 3 * n + NUM_FRAMES]
        if step % 3 == 0 and step // 3 < len(rows):
            admitted = step // 3
            state = language_model.voice_state(rows[admitted].voice)
            cache.put(admitted, make_prefix(state))
            language_model.prefill(
                language_model.conditioner(rows[admitted].tokens), cache, admitted
            )
        last = torch.zeros(num_slots, language_model.latent_dim)
        noise = torch.zeros_like(last)
        for n in running:
            frame = step - 3 * n
            last[n] = rows[n].latents[frame - 1] if frame else language_model.bos_emb
            noise[n] = rows[n].noise[frame]
        hidden, logits = language_model.decode_step(last, cache)
        latents = language_model.sample(hidden, noise, num_steps)
        for n in running:
            done[n][0].append(latents[n])
            done[n][1].append(logits[n])
            if step == 3 * n + NUM_FRAMES - 1:
                cache.clear(n)
    return [(torch.stack(latents), torch.stack(logits)) for latents, logits in done]


@contextmanager
def given_noise(frames: list[Tensor]) -> Iterator[None]:
    """Make the reference take these frames, each (latent,), for its noise."""
    left = iter(frames)

    def fill(tensor: Tensor, *_args: object, **_options: object) -> Tensor:
        return tensor.copy_(next(left).expand_as(tensor))

    with (
        mock.patch("torch.nn.init.normal_", fill),
        mock.patch("torch.nn.init.trunc_normal_", fill),
    ):
        yield


def random(seed: int, *shape: int) -> Tensor:
    """Normal noise, the same for the same seed and shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def recording(num_samples: int, seed: int = 0) -> Tensor:
    """Something between noise and a tone, (num_samples,)."""
    time = torch.arange(num_samples) / 24_000
    tone = torch.sin(2 * torch.pi * (110 + 15 * seed) * time)
    return 0.1 * tone + 0.05 * random(seed, num_samples)


def difference(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference; the shapes must be the same."""
    assert a.shape == b.shape, (a.shape, b.shape)
    return float((a.float() - b.float()).abs().max()) if a.numel() else 0.0


def differences(pair: Pair) -> dict[str, float | int]:
    """Everything that is compared, by name."""
    latents_1, logits_1 = pair.teacher_forced(1)
    latents_8, logits_8 = pair.teacher_forced(NUM_ROWS)
    samples, num_ended, num_other = pair.free_running()
    return {
        "encoder": pair.encoder(),
        "decoder": pair.decoder(37),
        "streamed": pair.decoder(1),
        "voice state": pair.voice_state(),
        "latents, 1 row": latents_1,
        "logits, 1 row": logits_1,
        "latents, 8 rows": latents_8,
        "logits, 8 rows": logits_8,
        "audio": samples,
        "ended": num_ended,
        "other length": num_other,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full-size", action="store_true")
    args = parser.parse_args()
    checkpoints = runpy.run_path(str(HERE / "make_checkpoint.py"))
    tokenizers = runpy.run_path(str(HERE / "make_tokenizer.py"))
    variants: Callable[[], dict[str, dict]] = checkpoints["variants"]
    configs = checkpoints["full_size"]() if args.full_size else variants()
    with tempfile.TemporaryDirectory() as folder:
        for name, config in configs.items():
            table = config["flow_lm"]["lookup_table"]
            tokenizer = tokenizers["make_tokenizer"](
                Path(folder), table["n_bins"], table["tokenizer"]
            )
            path = checkpoints["make_checkpoint"](Path(folder) / name, config, tokenizer)
            row = differences(Pair(path))
            cells = (f"{k} {v:.1e}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
            print(f"{name:<16}{'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
