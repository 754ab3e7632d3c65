"""A batch on random models: what a row becomes is its own affair, and nothing piles up."""

import gc
import os
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pocket_batch.data import Precision, Request, Voice
from pocket_batch.engine.base import Samples
from pocket_batch.engine.batch import PARTS, Batch, Speech
from pocket_batch.engine.scheduler import Settings
from pocket_batch.engine.voice import VoiceState
from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.made_up import random_voice_state
from pocket_batch.models.weights import PocketModel, load_model

PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16", "mixed")
SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
VOICE = Voice("v", "pocket", "en", "CC0-1.0")
NEVER = Settings(0.3, 1, None, 1e9, None)  # no EOS: lengths are those asked for
PREFIXES = (127, 60, 251)  # positions of three voices
MAX_GROWTH_BYTES = 20_000_000


class Latents(Batch):
    """A batch that gives latents in place of samples."""

    def _decode_audio(self, latents: torch.Tensor) -> Samples:
        samples: Samples = latents.flatten().numpy()
        return samples


class Speeches:
    """Utterances by number, always the same, with three voices."""

    def __init__(self, model: PocketModel) -> None:
        self._config = model.config
        self._voices = [VoiceState(random_voice_state(model.config, n)) for n in PREFIXES]

    def __call__(self, number: int, max_frames: int = 60) -> Speech:
        rng = random.Random(number)
        num_frames, num_tokens = rng.randint(1, max_frames), rng.randint(1, 50)
        latent = self._config.mimi.quantizer.dimension
        table = self._config.flow_lm.lookup_table
        return Speech(
            request=Request(str(number), "", "", VOICE, number),
            max_frames=num_frames,
            frames_after_eos=0,
            voice=self._voices[number % len(self._voices)],
            tokens=[rng.randrange(table.n_bins) for _ in range(num_tokens)],
            noise=0.5 * torch.randn(num_frames, latent, generator=_generator(number)),
        )


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def run(batch: Batch, speeches: Iterable[Speech], num_at_once: int = 99) -> dict[str, Samples]:
    """Speak everything, with at most so many started before a step."""
    waiting, found = list(speeches), {}
    while waiting or not batch.is_idle:
        for _ in range(min(num_at_once, batch.num_wanted, len(waiting))):
            batch.add(waiting.pop(0))
        for speech in batch.step():
            found[speech.request.key] = batch.output(speech).audio
    return found


@pytest.fixture(scope="module")
def load(tiny_model: Callable[[str], Path]) -> Callable[..., PocketModel]:
    def loaded(name: str, precision: Precision = "fp32") -> PocketModel:
        folder = tiny_model(name)
        config = load_model_config(folder / "config.yaml")
        return load_model(config, folder / "model.safetensors", precision)

    return loaded


def arrangements(
    model: PocketModel, num: int
) -> tuple[dict[str, Samples], dict[str, dict[str, Samples]]]:
    """Latents of utterances started together, and of the same ones in other company."""
    made = Speeches(model)
    numbers = range(num)
    together = run(Latents(model, NEVER, 32), map(made, numbers))
    chosen = (0, num // 2, num - 1)
    return together, {
        "other slots, read one by one": run(Latents(model, NEVER, 32), map(made, numbers[::-1]), 1),
        "few slots": run(Latents(model, NEVER, 8), map(made, numbers), 3),
        "no full number of slots": run(Latents(model, NEVER, 5), map(made, numbers)),
        "one voice": run(Latents(model, NEVER, 32), map(made, numbers[::3])),
        **{f"{n} alone": run(Latents(model, NEVER, 32), [made(n)]) for n in chosen},
    }


@pytest.mark.parametrize("name", ["lsd", "small"])
def test_an_utterance_is_the_same_in_any_company(
    load: Callable[..., PocketModel], name: str
) -> None:
    """Kernels of such narrow layers round by the place of a row; full-size ones do not."""
    together, others = arrangements(load(name), 12)
    assert len(together) == 12
    for company, found in others.items():
        for key, latents in found.items():
            np.testing.assert_allclose(latents, together[key], rtol=0, atol=1e-4, err_msg=company)


@pytest.mark.slow
@pytest.mark.parametrize("precision", PRECISIONS)
def test_bits_of_a_full_size_model_are_the_same_in_any_company(
    load: Callable[..., PocketModel], precision: Precision
) -> None:
    """Slot, number of slots, neighbours and their voices, who is started along, who moves up."""
    together, others = arrangements(load("english", precision), 12 if SHORT else 45)
    for company, found in others.items():
        for key, latents in found.items():
            assert np.array_equal(latents, together[key]), (company, key)


def test_all_time_is_that_of_a_part(load: Callable[..., PocketModel]) -> None:
    model = load("lsd")
    batch, made = Batch(model, NEVER, 8), Speeches(model)
    run(batch, map(made, range(5)))
    assert set(batch.cpu_s) == set(PARTS)
    assert all(seconds > 0 for seconds in batch.cpu_s.values())
    assert batch.num_frames == sum(made(n).max_frames for n in range(5))


def test_a_step_has_no_more_rows_than_it_needs(
    load: Callable[..., PocketModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, sizes = load("lsd"), []
    batch, made = Latents(model, NEVER, 32), Speeches(model)
    decode_step = model.flow_lm.decode_step

    def counted(latents: torch.Tensor, cache: object) -> object:
        sizes.append((len(latents), len(batch._scheduler.running)))
        return decode_step(latents, cache)  # type: ignore[arg-type]

    monkeypatch.setattr(model.flow_lm, "decode_step", counted)
    run(batch, map(made, range(29)))
    assert {rows for rows, _ in sizes} == {8, 16, 24, 32}
    assert all(0 <= rows - running < 8 for rows, running in sizes)


def test_an_utterance_that_overflows_spoils_no_other(load: Callable[..., PocketModel]) -> None:
    model = load("lsd")
    made = Speeches(model)
    wanted = run(Latents(model, NEVER, 8), [made(n) for n in range(1, 8)])
    bad = made(0)
    bad.voice = VoiceState(torch.full_like(bad.voice.cache, 3e38))
    found = run(Latents(model, NEVER, 8), [bad, *(made(n) for n in range(1, 8))])
    assert not np.isfinite(found.pop("0")).all()
    for key, latents in wanted.items():
        assert np.array_equal(found[key], latents), key


class PlantedError(Exception):
    """What a test makes go wrong."""


def fail_at(call: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but for one of its calls: that one does its work and then fails."""
    num_calls = 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal num_calls
        num_calls += 1
        result = function(*args, **kwargs)
        if num_calls == call:
            raise PlantedError
        return result

    return counted


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("language_model.prefill_many", 1),
        ("language_model.decode_step", 9),
        ("language_model.sample", 9),
        ("cache.put", 3),
        ("cache.reserve", 40),
        ("cache.move", 1),
        ("cache.clear", 9),
        ("scheduler.finish", 12),
    ],
)
def test_whatever_failed_in_a_step_a_batch_that_was_reset_speaks_like_a_new_one(
    load: Callable[..., PocketModel], monkeypatch: pytest.MonkeyPatch, place: str, call: int
) -> None:
    model = load("lsd")
    batch, made = Latents(model, NEVER, 8), Speeches(model)
    again = [made(n, 20) for n in range(10)]
    wanted = run(Latents(model, NEVER, 8), map(replace, again), 2)
    parts = {
        "language_model": model.flow_lm,
        "cache": batch._cache,
        "scheduler": batch._scheduler,
    }
    owner, _, name = place.partition(".")
    with monkeypatch.context() as patch:
        patch.setattr(parts[owner], name, fail_at(call, getattr(parts[owner], name)))
        with pytest.raises(PlantedError):
            run(batch, map(made, range(20, 60)), 3)
    batch.reset()
    assert batch.is_idle
    found = run(batch, again, 2)
    assert found.keys() == wanted.keys()
    for key, latents in wanted.items():
        assert np.array_equal(found[key], latents), key


def spoil(batch: Batch, speech: Speech, place: str) -> None:
    """Put what is no number where one utterance that runs has something."""
    ((slot, _),) = [pair for pair in batch._scheduler.running.items() if pair[1] is speech]
    page = batch._cache.slots[slot].pages[0]
    if place == "keys":
        batch._cache.keys[-1, page, 0, 0, 0] = np.nan
    elif place == "values":
        batch._cache.values[0, page, 0, 0, 0] = np.nan
    elif place == "noise":
        with torch.inference_mode():
            batch._frames[slot, speech.num_frames] = np.nan
    else:
        batch._last[slot] = np.inf


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("place", ["keys", "values", "noise", "latent"])
def test_a_nan_stays_in_its_utterance_and_leaves_nothing_behind(
    load: Callable[..., PocketModel], place: str, precision: Precision
) -> None:
    """Neither those beside it nor those in its slot and its pages later have another bit."""
    model = load("lsd", precision)
    made, numbers = Speeches(model), range(14)

    def spoken(bad: int | None) -> dict[str, Samples]:
        batch, found, waiting = Latents(model, NEVER, 8), {}, [made(n, 20) for n in numbers]
        by_number = dict(zip(numbers, waiting, strict=True))
        while waiting or not batch.is_idle:
            for _ in range(min(2, batch.num_wanted, len(waiting))):
                batch.add(waiting.pop(0))
            for speech in batch.step():
                found[speech.request.key] = batch.output(speech).audio
            if bad is not None and by_number[bad].num_frames == 3:
                spoil(batch, by_number[bad], place)
        return found

    wanted, found = spoken(None), spoken(4)
    assert not np.isfinite(found.pop("4")).all()
    assert len(found) == len(numbers) - 1
    for key, latents in found.items():
        assert np.isfinite(latents).all()
        assert np.array_equal(latents, wanted[key]), key


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_nan_among_the_latents_is_heard_in_the_samples(
    load: Callable[..., PocketModel], precision: Precision
) -> None:
    """So that whoever looks at the samples finds it: nothing in the codec covers it up."""
    model = load("lsd", precision)
    batch, speech = Batch(model, NEVER, 8), Speeches(model)(3)
    speech.num_frames = 20
    latents = 0.5 * torch.randn(20, model.config.mimi.quantizer.dimension, generator=_generator(1))
    for frame in (0, 11, 19):
        speech.latents = latents.clone()
        speech.latents[frame, 0] = np.nan
        assert not np.isfinite(batch.output(speech).audio).all(), frame


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_utterances(
    load: Callable[..., PocketModel],
) -> None:
    model = load("lsd")
    batch, made = Batch(model, NEVER, 32), Speeches(model)
    curve = []
    for number in range(0, 320 if SHORT else 2000, 40):
        run(batch, (made(number + n, 120) for n in range(40)))
        curve.append(_resident_bytes())
    half = len(curve) // 2
    growth = max(curve[half:]) - max(curve[:half])
    assert growth < MAX_GROWTH_BYTES, curve


def _resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
