"""The released models are data equal to the reference's own files; folders are models too."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pocket_batch.config import read_settings, shipped
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.limits import check_model_config
from pocket_batch.models.location import parse_hub
from pocket_batch.models.preset_table import PresetTable
from pocket_batch.models.presets import (
    find_model,
    load_presets,
    model_for_language,
)

VOICES = "italian giovanni spanish lola german juergen portuguese rafael french estelle dutch daan"


def _reference_folder() -> Path:
    spec = find_spec("pocket_tts")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the reference is not installed")
    return Path(spec.submodule_search_locations[0]) / "config"


def test_every_released_configuration_is_equal_to_the_file_of_the_reference() -> None:
    files = {path.stem: path for path in _reference_folder().glob("*.yaml")}
    presets = load_presets()
    assert len(files) == 27
    assert presets.keys() == files.keys()
    for name, path in files.items():
        theirs = load_model_config(path)
        assert presets[name].config == theirs, name
        replaced = list(presets[name].config.replace_characters)
        assert sorted(replaced) == sorted(theirs.replace_characters), name


def test_the_states_are_where_the_reference_has_them() -> None:
    source = (_reference_folder().parent / "utils" / "utils.py").read_text(encoding="utf-8")
    template = find_model("german").states.replace("german", "{language}")
    assert template.replace("{voice}", "{name}") in source
    assert find_model("german").state("juergen").split("@")[0].endswith("/juergen.safetensors")


def test_every_preset_is_whole() -> None:
    for name, source in load_presets().items():
        assert source.name == name
        check_model_config(source.config, name)
        weights = source.config.weights_path or ""
        plain = source.config.weights_path_without_voice_cloning or ""
        for location in (weights, plain, source.tokenizer, source.state("alba")):
            file = parse_hub(location)
            assert file
            assert file.is_pinned
        assert source.num_parameters > 1_000_000


def test_default_voices_are_those_of_the_reference() -> None:
    words = VOICES.split()
    expected = dict(zip(words[::2], words[1::2], strict=True))
    for name, source in load_presets().items():
        assert source.default_voice == expected.get(name.split("_")[0], "alba")


def test_no_table_is_unused() -> None:
    table = read_settings(shipped("voices") / "models" / "pocket.yaml", PresetTable)
    assert {entry.architecture for entry in table.models.values()} == set(table.architectures)
    assert {entry.replacements for entry in table.models.values()} == set(table.replacements)
    assert set(table.languages.values()) <= set(table.models)
    assert {e.language for e in table.models.values()} <= set(table.languages)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("en", "english"),
        ("en-GB", "english"),
        ("EN_us", "english"),
        ("deu", "german"),
        ("pt", "portuguese"),
        ("pt-BR", "portuguese"),
        ("nl", "dutch"),
        ("no", None),
        ("ja", None),
        ("", None),
    ],
)
def test_a_language_chooses_its_model(tag: str, name: str | None) -> None:
    source = model_for_language(tag)
    assert (source.name if source else None) == name
    if source:
        assert source.language == tag[:2].lower()


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(ModelUnavailableError, match="Did you mean `english`"):
        find_model("englsh")


@pytest.mark.parametrize(
    "name", ["", "x" * 5000, "~nobody-of-this-name", "\ud800", "~\ud800", "a\0b"]
)
def test_a_name_that_cannot_be_one_is_an_error_like_any_other(name: str) -> None:
    with pytest.raises(ModelUnavailableError, match="There is no model"):
        find_model(name)


def _write_preset_folder(folder: Path, tokenizer: str = "tokenizer.json") -> Path:
    folder.mkdir()
    for name in ("model.safetensors", tokenizer):
        (folder / name).write_bytes(b"")
    return folder


def test_a_folder_named_like_a_preset_is_that_preset_with_its_files(tmp_path: Path) -> None:
    folder = _write_preset_folder(tmp_path / "french_24l")
    source, released = find_model(str(folder)), find_model("french_24l")
    assert (source.name, source.language, source.default_voice) == (str(folder), "fr", "estelle")
    assert source.config.weights_path == str(folder / "model.safetensors")
    assert source.config.weights_path_without_voice_cloning == str(folder / "model.safetensors")
    assert source.tokenizer == str(folder / "tokenizer.json")
    assert source.config.mimi == released.config.mimi
    assert source.config.flow_lm.transformer.num_layers == 24
    assert source.states == released.states
    (folder / "embeddings").mkdir()
    assert find_model(str(folder)).state("x") == str(folder / "embeddings" / "x.safetensors")


def test_the_tokenizer_in_a_folder_tells_its_kind(tmp_path: Path) -> None:
    folder = _write_preset_folder(tmp_path / "english", "tokenizer.model")
    assert find_model(str(folder)).config.flow_lm.lookup_table.tokenizer == "sentencepiece"


def test_a_folder_that_lacks_a_file_says_which(tmp_path: Path) -> None:
    folder = _write_preset_folder(tmp_path / "english")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json or tokenizer\.model"):
        find_model(str(folder))
    (folder / "tokenizer.json").write_bytes(b"")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelUnavailableError, match=r"no model\.safetensors"):
        find_model(str(folder))


def test_a_folder_that_is_no_model_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "germann").mkdir()
    with pytest.raises(ModelUnavailableError, match=r"no config\.yaml.*Did you mean `german`"):
        find_model(str(tmp_path / "germann"))


CONFIG = """
weights_path: weights.safetensors
flow_lm:
  dtype: float32
  flow: {depth: 1, dim: 8}
  transformer: {d_model: 8, hidden_scale: 1, max_period: 100, num_heads: 2, num_layers: 1}
  lookup_table: {dim: 8, n_bins: 10, tokenizer: sentencepiece, tokenizer_path: hf://a/b/c@d}
mimi:
  dtype: float32
  sample_rate: 24000
  channels: 1
  frame_rate: 12.5
  seanet:
    {dimension: 8, channels: 1, n_filters: 2, n_residual_layers: 1, ratios: [6, 5, 4],
     kernel_size: 3, residual_kernel_size: 3, last_kernel_size: 3, dilation_base: 2,
     pad_mode: constant, compress: 2}
  transformer:
    {d_model: 8, input_dimension: 8, output_dimensions: [8], num_heads: 2, num_layers: 1,
     layer_scale: 0.01, context: 10, dim_feedforward: 8}
  quantizer: {dimension: 4, output_dimension: 8}
"""


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_configuration_file_of_the_users_is_a_model(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    source = find_model(str(tmp_path if kind == "folder" else file))
    assert source.config.weights_path == str(tmp_path / "weights.safetensors")
    assert source.tokenizer == "hf://a/b/c@d"
    assert (source.language, source.default_voice, source.states) == ("", "alba", "")
    (tmp_path / "embeddings").mkdir()
    assert find_model(str(file)).state("me") == str(tmp_path / "embeddings" / "me.safetensors")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with a configuration that says of no file where it is."""
    folder = tmp_path / "mine"
    folder.mkdir()
    text = CONFIG.replace("weights_path: weights.safetensors", "")
    (folder / "config.yaml").write_text(text.replace(", tokenizer_path: hf://a/b/c@d", ""))
    return folder


def test_files_beside_a_configuration_that_names_none_are_taken(bare: Path) -> None:
    with pytest.raises(
        ModelUnavailableError, match=r"`weights_path`.*Put model\.safetensors there"
    ):
        find_model(str(bare))
    (bare / "model.safetensors").write_bytes(b"")
    with pytest.raises(
        ModelUnavailableError, match=r"Put tokenizer\.json or tokenizer\.model there"
    ):
        find_model(str(bare))
    for file, kind in (("tokenizer.model", "sentencepiece"), ("tokenizer.json", "tokenizers")):
        (bare / file).write_bytes(b"")
        source = find_model(str(bare))
        assert source.config.weights_path == str(bare / "model.safetensors")
        assert source.tokenizer == str(bare / file)
        assert source.config.flow_lm.lookup_table.tokenizer == kind


def test_a_folder_of_links_is_a_model_as_the_hub_leaves_one(bare: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshots" / "german"
    (snapshot / "embeddings").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (bare / name).write_bytes(b"")
    for number, path in enumerate(bare.iterdir()):
        (snapshot / path.name).symlink_to(path.rename(tmp_path / f"blob{number}"))
    source = find_model(str(snapshot))
    assert source.config.weights_path == str(snapshot / "model.safetensors")
    assert source.tokenizer == str(snapshot / "tokenizer.json")
    assert source.state("x") == str(snapshot / "embeddings" / "x.safetensors")
    assert (source.language, source.default_voice) == ("de", "juergen")


@pytest.mark.parametrize("has_config", [True, False])
@pytest.mark.parametrize(("link", "folder"), [("german", "bare"), ("link", "german")])
def test_a_link_to_a_folder_has_the_language_of_its_name_or_its_target(
    bare: Path, tmp_path: Path, has_config: bool, link: str, folder: str
) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (bare / name).write_bytes(b"")
    if not has_config:
        (bare / "config.yaml").unlink()
    (tmp_path / "there").mkdir()
    target = bare.rename(tmp_path / "there" / folder)
    (tmp_path / link).symlink_to(target)
    source = find_model(str(tmp_path / link))
    assert (source.language, source.default_voice) == ("de", "juergen")
    assert source.tokenizer == str(tmp_path / link / "tokenizer.json")


def test_a_configuration_file_that_is_wrong_names_the_key(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG.replace("weights_path:", "weight_path:", 1))
    with pytest.raises(UsageError, match="Did you mean `weights_path`"):
        find_model(str(tmp_path))


def test_presets_need_neither_torch_nor_the_hub() -> None:
    code = (
        "import sys; from pocket_batch.models.presets import load_presets; load_presets()\n"
        "sys.exit(', '.join({'torch', 'huggingface_hub', 'numpy'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
