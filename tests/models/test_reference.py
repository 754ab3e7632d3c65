"""With the same weights, inputs and noise, the reference and we agree."""

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pocket_tts")

HERE = Path(__file__).parent
VARIANTS = list(runpy.run_path(str(HERE / "make_checkpoint.py"))["variants"]())


@pytest.fixture(scope="module")
def compare() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(HERE / "compare.py")))


@pytest.fixture(scope="module", params=VARIANTS)
def pair(
    request: pytest.FixtureRequest, compare: SimpleNamespace, tiny_model: Callable[[str], Path]
) -> Any:
    return compare.Pair(tiny_model(request.param) / "config.yaml")


def test_recordings_are_encoded_alike(compare: SimpleNamespace, pair: Any) -> None:
    assert pair.encoder() <= compare.LIMIT


@pytest.mark.parametrize("frames_per_call", [37, 5, 1])
def test_a_whole_utterance_is_decoded_to_what_streaming_gives(
    compare: SimpleNamespace, pair: Any, frames_per_call: int
) -> None:
    assert pair.decoder(frames_per_call) <= compare.LIMIT


def test_voice_states_agree_and_each_reads_the_file_of_the_other(
    compare: SimpleNamespace, pair: Any
) -> None:
    assert pair.voice_state() <= compare.LIMIT


@pytest.mark.parametrize("num_rows", [1, 8])
def test_latents_and_eos_logits_agree_alone_and_in_a_mixed_batch(
    compare: SimpleNamespace, pair: Any, num_rows: int
) -> None:
    latents, logits = pair.teacher_forced(num_rows)
    assert latents <= compare.LIMIT
    assert logits <= compare.LIMIT


def test_whole_utterances_have_the_same_length_and_samples(
    compare: SimpleNamespace, pair: Any
) -> None:
    largest, num_ended, num_other = pair.free_running()
    assert num_other == 0
    assert largest <= compare.LIMIT
    assert num_ended >= 1  # else lengths would only be those of the limit


def test_the_comparison_notices_a_wrong_weight(
    compare: SimpleNamespace, tiny_model: Callable[[str], Path]
) -> None:
    pair = compare.Pair(tiny_model("lsd") / "config.yaml")
    pair.ours.flow_lm.out_norm.bias.data[0] += 0.01
    latents, logits = pair.teacher_forced(1)
    assert latents > compare.LIMIT
    assert logits > compare.LIMIT


@pytest.mark.parametrize("clamp", [None, 0.7])
def test_noise_is_what_the_reference_draws_with_that_seed(
    clamp: float | None, tiny_model: Callable[[str], Path]
) -> None:
    import torch

    from pocket_batch.engine.batch import Batch
    from pocket_batch.engine.scheduler import Settings
    from pocket_batch.models.architecture import load_model_config
    from pocket_batch.models.weights import load_model

    folder, seed, std = tiny_model("lsd"), 2**40 + 3, 0.3**0.5
    torch.manual_seed(seed)
    drawn = []
    for _ in range(6):
        frame = torch.empty(1, 32)
        if clamp is None:
            torch.nn.init.normal_(frame, 0.0, std)
        else:
            torch.nn.init.trunc_normal_(frame, 0.0, std, -clamp, clamp)
        drawn.append(frame)
    config = load_model_config(folder / "config.yaml")
    model = load_model(config, folder / "model.safetensors")
    batch = Batch(model, Settings(0.3, 1, clamp, -4.0, None), num_slots=8)
    assert torch.equal(batch.draw_noise(seed, 5), torch.cat(drawn[1:]))


@pytest.mark.slow
def test_a_checkpoint_as_large_as_the_released_ones_agrees(
    compare: SimpleNamespace, tiny_model: Callable[[str], Path]
) -> None:
    found = compare.differences(compare.Pair(tiny_model("english") / "config.yaml"))
    assert found.pop("other length") == 0
    assert found.pop("ended") >= 2
    assert max(found.values()) <= compare.LIMIT


def test_a_recording_becomes_the_voice_that_the_reference_makes_of_it(
    corpus: Path, compare: SimpleNamespace, pair: Any
) -> None:
    import torch

    from pocket_batch.audio.prompt import prepare_prompt, read_prompt

    path = corpus / "voice" / "librispeech_2412-153948-0000_en.flac"
    samples, _ = prepare_prompt(*read_prompt(path), trim=False, level=False)
    features = pair.ours.mimi.encode(torch.from_numpy(samples))
    ours = pair.ours.flow_lm.voice_state(features)  # (L, 2, T, G, D)
    theirs = pair.reference.get_state_for_audio_prompt(path)
    caches = torch.stack([state["cache"][:, 0] for state in theirs.values()])
    assert compare.difference(ours, caches) <= compare.LIMIT
