"""Voice states: their files, how alike they are, and where those of a model come from."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import soundfile
import torch
from safetensors.torch import load_file, save_file

from pocket_batch.data import Voice
from pocket_batch.engine.base import Samples
from pocket_batch.engine.states import VoiceStates
from pocket_batch.engine.voice import VoiceState, read_state, similarity, write_state
from pocket_batch.errors import InputError, ModelUnavailableError, OutputError
from pocket_batch.models import hub
from pocket_batch.models.presets import ModelSource

SHAPE = (3, 2, 4)  # layers, heads of keys and values, width of a head
NUM_BYTES = 4 * 2 * 10 * SHAPE[0] * SHAPE[1] * SHAPE[2]  # of ten positions in float32


def make_state(seed: int = 0, num_positions: int = 10) -> VoiceState:
    layers, heads, width = SHAPE
    random = torch.Generator().manual_seed(seed)
    return VoiceState(torch.randn(layers, 2, num_positions, heads, width, generator=random))


def layer(index: int, name: str) -> str:
    return f"transformer.layers.{index}.self_attn/{name}"


# Files


def test_a_written_state_is_read_back_bit_for_bit(tmp_path: Path) -> None:
    state = make_state()
    write_state(state, tmp_path / "a.safetensors")
    assert torch.equal(read_state(tmp_path / "a.safetensors", *SHAPE).cache, state.cache)
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_state_in_bfloat16_is_exported_as_the_reference_computes_in_float32(
    tmp_path: Path,
) -> None:
    state = VoiceState(make_state().cache.bfloat16())
    write_state(state, tmp_path / "a.safetensors")
    found = read_state(tmp_path / "a.safetensors", *SHAPE)
    assert found.cache.dtype == torch.float32
    assert torch.equal(found.cache, state.cache.float())


def test_the_reference_reads_what_we_write_and_we_what_it_writes(tmp_path: Path) -> None:
    reference = pytest.importorskip("pocket_tts.models.model_state")
    state = make_state()
    write_state(state, tmp_path / "ours.safetensors")
    theirs = reference._import_model_state(tmp_path / "ours.safetensors", torch.device("cpu"))
    assert sorted(theirs) == [f"transformer.layers.{i}.self_attn" for i in range(SHAPE[0])]
    for index, module in enumerate(theirs.values()):
        assert int(module["offset"]) == 10
        assert int(module["pad"]) == 0
        assert torch.equal(module["cache"][:, 0], state.cache[index])
    reference.export_model_state(theirs, tmp_path / "theirs.safetensors")
    assert torch.equal(read_state(tmp_path / "theirs.safetensors", *SHAPE).cache, state.cache)


def test_an_older_file_tells_its_offset_by_a_length(tmp_path: Path) -> None:
    state = make_state()
    write_state(state, tmp_path / "new.safetensors")
    tensors = load_file(tmp_path / "new.safetensors")
    for index in range(SHAPE[0]):
        del tensors[layer(index, "offset")], tensors[layer(index, "pad")]
        tensors[layer(index, "current_end")] = torch.zeros(10)
    save_file(tensors, tmp_path / "old.safetensors")
    assert torch.equal(read_state(tmp_path / "old.safetensors", *SHAPE).cache, state.cache)


def test_positions_that_were_never_written_are_cut_off(tmp_path: Path) -> None:
    tensors = {}
    for index, cache in enumerate(make_state().cache):
        unused = torch.full((2, 1, 50, *SHAPE[1:]), float("nan"))
        tensors[layer(index, "cache")] = torch.cat([cache.unsqueeze(1), unused], dim=2)
        tensors[layer(index, "offset")] = torch.tensor([10])
    save_file(tensors, tmp_path / "long.safetensors")
    found = read_state(tmp_path / "long.safetensors", *SHAPE)
    assert found.num_positions == 10
    assert torch.equal(found.cache, make_state().cache)
    assert found.num_bytes == NUM_BYTES == found.cache.untyped_storage().nbytes()


FLAWS: dict[str, tuple[Callable[[dict[str, torch.Tensor]], object], str]] = {
    "a layer too few": (
        lambda t: [t.pop(layer(2, n)) for n in ("cache", "offset", "pad")],
        r"layers\.2\.self_attn` are missing: the model has 3 layers, the state is of 2",
    ),
    "a layer too many": (
        lambda t: t.update({layer(3, "cache"): torch.zeros(1)}),
        r"layers\.3\.self_attn` are not wanted: the model has 3 layers, the state is of 4",
    ),
    "no cache": (lambda t: t.pop(layer(1, "cache")), r"layers\.1\.self_attn/cache` is missing"),
    "no offset": (lambda t: t.pop(layer(1, "offset")), r"layers\.1\.self_attn/offset` is missing"),
    "other heads": (
        lambda t: t.update({layer(1, "cache"): torch.zeros(2, 1, 10, 7, 4)}),
        r"layers\.1\.self_attn/cache` should be \(2, 1, T, 2, 4\).* is \(2, 1, 10, 7, 4\)",
    ),
    "a batch": (
        lambda t: t.update({layer(1, "cache"): torch.zeros(2, 3, 10, 2, 4)}),
        r"should be \(2, 1, T, 2, 4\)",
    ),
    "padding": (lambda t: t.update({layer(0, "pad"): torch.tensor([2])}), "pad` is not 0"),
    "integers": (
        lambda t: t.update({layer(1, "cache"): torch.zeros(2, 1, 10, 2, 4, dtype=torch.int64)}),
        "a float was wanted",
    ),
    "an offset beyond the cache": (
        lambda t: t.update({layer(1, "offset"): torch.tensor([11])}),
        "11 positions of 10",
    ),
    "no positions": (lambda t: t.update({layer(1, "offset"): torch.tensor([0])}), "0 positions"),
    "offsets of a batch": (
        lambda t: t.update({layer(1, "offset"): torch.tensor([10, 10])}),
        "one number, and holds 2",
    ),
    "two lengths": (
        lambda t: t.update({layer(1, "offset"): torch.tensor([9])}),
        r"different offsets: \[9, 10\]",
    ),
    **{
        f"an offset of {value}": (
            lambda t, value=value: t.update({layer(1, "offset"): torch.tensor([value])}),
            "should be a count",
        )
        for value in (float("nan"), float("inf"), 9.5, 9 + 0j)
    },
    "not a number": (
        lambda t: t[layer(1, "cache")].view(-1)[3].fill_(float("nan")),
        r"layers\.1\.self_attn/cache` has values that are not numbers",
    ),
}


@pytest.mark.parametrize("name", FLAWS)
def test_a_state_that_does_not_fit_is_refused_by_the_name_of_its_tensor(
    name: str, tmp_path: Path
) -> None:
    spoil, message = FLAWS[name]
    write_state(make_state(), tmp_path / "a.safetensors")
    tensors = load_file(tmp_path / "a.safetensors")
    spoil(tensors)
    save_file(tensors, tmp_path / "b.safetensors")
    with pytest.raises(ModelUnavailableError, match=message) as caught:
        read_state(tmp_path / "b.safetensors", *SHAPE)
    assert "b.safetensors" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"RIFF and so on", None])
def test_a_file_that_is_no_state_is_refused(data: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ModelUnavailableError, match=r"a\.safetensors"):
        read_state(path, *SHAPE)


def test_a_folder_that_is_not_there_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be written"):
        write_state(make_state(), tmp_path / "none" / "a.safetensors")


# Likeness


def test_a_voice_is_like_itself_and_unlike_others() -> None:
    assert similarity(make_state(1), make_state(1)) == pytest.approx(1.0, abs=1e-12)
    assert abs(similarity(make_state(1), make_state(2))) < 0.8


def test_the_length_of_a_prompt_does_not_change_whom_it_is_like() -> None:
    character = make_state(3, num_positions=1).cache
    short, long = (
        VoiceState(character + 0.2 * make_state(seed, length).cache)
        for seed, length in ((4, 60), (5, 300))
    )
    assert similarity(short, long) > 0.95


# The voices of a model


class Model:
    """Stands in for a model that turns a recording into a state; counts how often."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.encoded: list[Samples] = []
        self.can_encode = True

    def encode(self, samples: Samples) -> VoiceState:
        if not self.can_encode:
            raise ModelUnavailableError("Cloning needs weights that are not here.")
        self.encoded.append(samples)
        return VoiceState(make_state(len(samples) % 1000).cache)

    def states(
        self, name: str = "small", identity: str = "1", template: str | None = None, **limits: int
    ) -> VoiceStates:
        template = str(self.folder / "{voice}.safetensors") if template is None else template
        config = cast(Any, None)  # the sizes are given
        source = ModelSource(name, "en", config, "alba", template)
        return VoiceStates(source, identity, self.encode, SHAPE, self.folder / "cache", **limits)

    def cached(self) -> list[Path]:
        return sorted((self.folder / "cache").iterdir())


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Two seconds of a tone that comes and goes."""
    seconds = np.arange(48_000) / 24_000
    tone = 0.3 * np.sin(2 * np.pi * 200 * seconds) * np.sin(2 * np.pi * seconds) ** 2
    soundfile.write(tmp_path / "voice.wav", tone, 24_000)
    return tmp_path / "voice.wav"


def voice(**parameters: object) -> Voice:
    given = {key: str(value) for key, value in parameters.items()}
    return Voice("ann", "pocket", "en", "CC0-1.0", parameters=given)


def released(folder: Path, name: str, seed: int) -> VoiceState:
    write_state(make_state(seed), folder / f"{name}.safetensors")
    return make_state(seed)


def test_a_released_voice_is_read_and_its_key_is_the_hash_of_its_file(
    model: Model, tmp_path: Path
) -> None:
    state = released(tmp_path, "alba", 1)
    states, alba = model.states(), voice(pocket_voice="alba", prompt="hf://a/b/c.wav")
    assert torch.equal(states.get(alba).cache, state.cache)
    assert states.get(alba) is states.get(alba)
    assert len(states.key(alba)) == 64
    same = model.states(name="other", identity="2").key(alba)
    assert same == states.key(alba)
    released(tmp_path, "alba", 2)
    assert model.states().key(alba) != same
    assert model.encoded == []
    assert not (tmp_path / "cache").exists()


def test_a_voice_without_parameters_is_the_released_one_of_its_name(
    model: Model, tmp_path: Path
) -> None:
    state = released(tmp_path, "ann", 1)
    assert torch.equal(model.states().get(voice()).cache, state.cache)


def test_a_voice_of_ones_own_is_never_taken_for_a_released_one_of_that_name(
    model: Model, tmp_path: Path, recording: Path
) -> None:
    released(tmp_path, "ann", 1)
    model.states().get(voice(prompt=recording))
    assert len(model.encoded) == 1


def test_a_recording_is_encoded_once_for_all_processes(model: Model, recording: Path) -> None:
    states, own = model.states(), voice(prompt=recording)
    first = states.get(own)
    assert [path.name for path in model.cached()] == [f"{states.key(own)}.safetensors"]
    again = model.states().get(own)
    assert torch.equal(first.cache, again.cache)
    assert len(model.encoded) == 1


def test_a_recording_is_prepared_before_it_is_encoded(model: Model, recording: Path) -> None:
    model.states().get(voice(prompt=recording))
    (samples,) = model.encoded
    assert samples.dtype == np.float32
    assert not samples[-1920:].any()


def test_the_key_of_a_recording_is_that_of_its_bytes_and_of_the_model(
    model: Model, recording: Path, tmp_path: Path
) -> None:
    key = model.states().key(voice(prompt=recording))
    moved = recording.rename(tmp_path / "moved.wav")
    assert model.states().key(voice(prompt=moved)) == key
    assert model.states(identity="2").key(voice(prompt=moved)) != key
    samples, rate_hz = soundfile.read(moved)
    soundfile.write(moved, samples / 2, rate_hz)
    assert model.states().key(voice(prompt=moved)) != key
    assert model.encoded == []


def test_a_state_that_a_model_made_is_used_with_that_model_alone(
    model: Model, tmp_path: Path, recording: Path
) -> None:
    state = released(tmp_path, "exported", 1)
    own = voice(state=tmp_path / "exported.safetensors", model="small", prompt=recording)
    assert torch.equal(model.states().get(own).cache, state.cache)
    model.states(name="large").get(own)
    assert len(model.encoded) == 1
    stateless = voice(state=tmp_path / "exported.safetensors", model="small")
    with pytest.raises(ModelUnavailableError, match=r"`large`.*made by `small`.*--model small"):
        model.states(name="large").key(stateless)


def test_a_folder_with_a_model_need_not_have_every_state(model: Model, recording: Path) -> None:
    states = model.states()
    alba = voice(pocket_voice="alba", prompt=recording)
    states.get(alba)
    states.fetch(alba, lambda *_: None)
    assert len(model.encoded) == 1


def test_the_recording_of_a_released_voice_never_stands_in_for_a_download(
    model: Model, recording: Path
) -> None:
    states = model.states(template="hf://kyutai/none/{voice}.safetensors@" + "0" * 40)
    with pytest.raises(ModelUnavailableError, match=r"`ann`.*kyutai/none/alba\.safetensors"):
        states.get(voice(pocket_voice="alba", prompt=recording))


def test_what_is_not_here_is_said_by_name(model: Model, tmp_path: Path) -> None:
    states = model.states()
    for missing in (
        voice(),
        voice(pocket_voice="alba"),
        voice(prompt=tmp_path / "gone.wav"),
        voice(state=tmp_path / "gone.safetensors"),
    ):
        for use in (states.key, states.get, lambda v: states.fetch(v, lambda *_: None)):
            with pytest.raises(ModelUnavailableError, match=r"`ann`.* does not exist"):
                use(missing)
    with pytest.raises(ModelUnavailableError, match="no voices of its own, such as `ann`"):
        model.states(template="").key(voice())


def test_fetching_downloads_only_what_is_not_here(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []
    monkeypatch.setattr(hub, "find", lambda location: tmp_path if "here" in location else None)
    monkeypatch.setattr(hub, "fetch", lambda location, *_, **__: fetched.append(location))
    states = model.states(template="hf://o/r/{voice}.safetensors@1")
    for name in ("here", "far"):
        states.fetch(voice(pocket_voice=name, prompt="hf://o/r/a.wav"), lambda *_: None)
    states.fetch(voice(prompt="hf://o/r/far.wav"), lambda *_: None)
    states.fetch(voice(prompt="hf://o/r/here.wav"), lambda *_: None)
    assert fetched == ["hf://o/r/far.safetensors@1", "hf://o/r/far.wav"]


def test_a_relative_path_is_one_in_the_users_folder_of_voices(
    model: Model, recording: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "pocket-batch" / "voices").mkdir(parents=True)
    recording.rename(tmp_path / "pocket-batch" / "voices" / "ann.wav")
    model.states().get(voice(prompt="ann.wav"))
    assert len(model.encoded) == 1


def test_a_model_that_cannot_clone_says_so_and_nothing_is_kept(
    model: Model, recording: Path
) -> None:
    model.can_encode = False
    with pytest.raises(ModelUnavailableError, match="Cloning needs"):
        model.states().get(voice(prompt=recording))
    model.can_encode = True
    model.states().get(voice(prompt=recording))


def test_a_recording_that_is_damaged_is_an_input_that_is_refused(
    model: Model, recording: Path
) -> None:
    recording.write_bytes(b"RIFF")
    with pytest.raises(InputError, match=r"voice\.wav"):
        model.states().get(voice(prompt=recording))


def test_a_voice_stays_what_it_was_when_its_file_is_replaced(
    model: Model, recording: Path, tmp_path: Path
) -> None:
    states, own = model.states(), voice(prompt=recording)
    key, state = states.key(own), states.get(own)
    samples, rate_hz = soundfile.read(recording)
    soundfile.write(recording, samples[:-4800], rate_hz)
    assert states.key(own) == key
    assert states.get(own) is state
    assert model.states().key(own) != key
    late = model.states()
    late.key(own)
    soundfile.write(recording, samples[:-9600], rate_hz)
    with pytest.raises(ModelUnavailableError, match="was changed while its voice was in use"):
        late.get(own)


def test_a_state_that_lost_a_bit_is_refused_and_a_cached_one_made_anew(
    model: Model, recording: Path
) -> None:
    own = voice(prompt=recording)
    whole = model.states().get(own)
    (path,) = model.cached()
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelUnavailableError, match="not those that were written"):
        read_state(path, *SHAPE)
    assert torch.equal(model.states().get(own).cache, whole.cache)
    assert len(model.encoded) == 2


def test_a_cache_for_reading_alone_is_used(
    model: Model, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = voice(prompt=recording)
    model.states().get(own)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.utime", refuse)
    model.states().get(own)
    assert len(model.encoded) == 1


def test_a_model_that_makes_no_numbers_is_refused_and_nothing_is_kept(
    model: Model, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = VoiceState(torch.full((3, 2, 5, 2, 4), float("nan")))
    monkeypatch.setattr(model, "encode", lambda _: broken)
    with pytest.raises(ModelUnavailableError, match="not numbers"):
        model.states().get(voice(prompt=recording))
    assert not (model.folder / "cache").exists()


def test_checking_a_recording_gives_its_warnings_or_refuses_it(
    model: Model, recording: Path, tmp_path: Path
) -> None:
    (warning,) = model.states().check(voice(prompt=recording))
    assert "s of speech" in warning
    noise = np.random.default_rng(1).standard_normal(72_000) / 10
    soundfile.write(tmp_path / "noise.wav", noise, 24_000)
    with pytest.raises(InputError, match=r"noise\.wav: .*not good enough"):
        model.states().check(voice(prompt=tmp_path / "noise.wav"))
    released(tmp_path, "ann", 1)
    assert model.states().check(voice()) == ()


def test_only_states_that_need_no_encoding_are_at_hand(
    model: Model, recording: Path, tmp_path: Path
) -> None:
    own = voice(prompt=recording)
    assert model.states().at_hand(own) is None
    state = model.states().get(own)
    found = model.states().at_hand(own)
    assert found is not None
    assert torch.equal(found.cache, state.cache)
    released(tmp_path, "ann", 1)
    assert model.states().at_hand(voice()) is not None
    assert len(model.encoded) == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "not a number"])
def test_a_damaged_cached_state_is_made_anew(damage: str, model: Model, recording: Path) -> None:
    own = voice(prompt=recording)
    whole = model.states().get(own)
    (path,) = model.cached()
    if damage == "not a number":
        tensors = load_file(path)
        tensors[layer(0, "cache")].fill_(float("inf"))
        save_file(tensors, path)
    else:
        size = path.stat().st_size
        path.write_bytes({"cut": path.read_bytes()[: size // 2], "empty": b""}.get(damage, b"x"))
    assert torch.equal(model.states().get(own).cache, whole.cache)
    assert len(model.encoded) == 2
    assert torch.equal(read_state(path, *SHAPE).cache, whole.cache)


def test_memory_holds_the_voices_used_last(model: Model, tmp_path: Path) -> None:
    for number in range(3):
        released(tmp_path, f"v{number}", number)
    states = model.states(max_memory_bytes=2 * NUM_BYTES)
    a, b, c = (voice(pocket_voice=f"v{number}") for number in range(3))
    first, second = states.get(a), states.get(b)
    states.get(a)
    states.get(c)
    assert states.get(a) is first
    assert states.get(b) is not second
    tiny = model.states(max_memory_bytes=1)
    assert tiny.get(a) is tiny.get(a)


def test_the_disk_holds_the_voices_used_last(model: Model, tmp_path: Path) -> None:
    own = []
    for number in range(3):
        tone = 0.3 * np.sin(np.arange(48_000 + 7 * number) / 20)
        soundfile.write(tmp_path / f"{number}.wav", tone, 24_000)
        own.append(voice(prompt=tmp_path / f"{number}.wav"))
    model.states().get(own[0])
    (size,) = (path.stat().st_size for path in model.cached())
    limited = {"max_disk_bytes": 2 * size}
    model.states(**limited).get(own[1])
    for path in model.cached():  # as if both were made long ago
        os.utime(path, (1, 1))
    stale = tmp_path / "cache" / "x.safetensors.1-2.part"
    stale.touch()
    os.utime(stale, (1, 1))
    model.states(**limited).get(own[0])  # used again
    model.states(**limited).get(own[2])
    names = {path.stem for path in model.cached()}
    assert names == {model.states().key(own[0]), model.states().key(own[2])}


def test_a_cache_that_cannot_be_written_is_done_without(
    model: Model, recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    own = voice(prompt=recording)
    model.states().get(own)
    model.states().get(own)
    assert len(model.encoded) == 2


def test_many_at_once_end_with_one_whole_file(model: Model, recording: Path) -> None:
    own = voice(prompt=recording)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.states().get(own).cache, range(16)))
    assert all(torch.equal(found[0], other) for other in found)
    assert [path.suffix for path in model.cached()] == [".safetensors"]


def test_a_key_needs_no_torch() -> None:
    code = (
        "import sys; import pocket_batch.engine.states, pocket_batch.audio.prompt\n"
        "sys.exit('torch' in sys.modules or 'safetensors' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
