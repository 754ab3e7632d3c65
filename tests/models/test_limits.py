"""A model's file is refused for what it says before anything is built of it."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from pocket_batch.errors import UsageError
from pocket_batch.models.architecture import load_model_config

Change = Callable[..., Path]
MIMI_TRANSFORMERS = ("mimi.transformer", "mimi.decoder_transformer")
SEANETS = ("mimi.seanet", "mimi.decoder_seanet")


@pytest.fixture
def changed(tmp_path: Path, tiny_model: Callable[[str], Path]) -> Change:
    """The configuration of a tiny model with its own decoder and one value exchanged."""

    def change(key: str, value: Any) -> Path:
        raw = yaml.safe_load((tiny_model("small") / "config.yaml").read_text())
        inner = raw
        *parents, last = key.split(".")
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(raw))
        return path

    return change


def _refuses(path: Path, key: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_model_config(path)
    assert f"`{key}" in str(caught.value)
    assert str(path) in str(caught.value)


def test_no_size_may_be_zero_negative_huge_or_no_number(
    changed: Change, tiny_model: Callable[[str], Path]
) -> None:
    config = load_model_config(tiny_model("small") / "config.yaml")
    may_be_zero = ("n_residual_layers", "layer_scale")
    for key, value in _numbers(config):
        bad = [-1, 10**9 + 1] + [0] * (not key.endswith(may_be_zero))
        bad += [float("nan"), float("inf")] * isinstance(value, float)
        for number in bad:
            _refuses(changed(key, [number, 5, 4] if key.endswith("ratios") else number), key)


def _numbers(settings: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Keys and values of all sizes; of lists only `ratios`, the others have one value."""
    found: list[tuple[str, Any]] = []
    for field in fields(settings):
        key, value = prefix + field.name, getattr(settings, field.name)
        is_size = type(value) in (int, float) and not key.startswith(("model_", "default_"))
        if is_dataclass(value):
            found += _numbers(value, f"{key}.")
        elif is_size or key.endswith("ratios"):
            found.append((key, value))
    return found


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("default_temperature", -0.1),
        ("default_temperature", 11),
        ("default_temperature", float("nan")),
        ("default_eos_threshold", float("nan")),
        ("default_eos_threshold", float("-inf")),
        ("model_recommended_frames_after_eos", -1),
        ("flow_lm.dtype", "int8"),
        ("mimi.dtype", "float8"),
        ("flow_lm.transformer.num_layers", 1001),
        ("flow_lm.flow.depth", 1001),
        ("flow_lm.flow.dim", 1),
        ("flow_lm.transformer.d_model", 100_001),
        ("flow_lm.transformer.num_heads", 7),
        ("flow_lm.transformer.num_kv_heads", 4),
        ("flow_lm.lookup_table.dim", 33),
        ("flow_lm.lookup_table.tokenizer", "words"),
        ("mimi.sample_rate", 48_000),
        ("mimi.channels", 2),
        ("mimi.frame_rate", 11.1),
        ("mimi.outer_dim", 12),
        ("mimi.quantizer.output_dimension", 9),
        *((f"{seanet}.pad_mode", "reflect") for seanet in SEANETS),
        *((f"{seanet}.ratios", []) for seanet in SEANETS),
        *((f"{seanet}.ratios", [6, 5]) for seanet in SEANETS),
        *((f"{seanet}.compress", 5) for seanet in SEANETS),
        *((f"{transformer}.num_heads", 5) for transformer in MIMI_TRANSFORMERS),
        *((f"{transformer}.input_dimension", 9) for transformer in MIMI_TRANSFORMERS),
        *((f"{transformer}.output_dimensions", []) for transformer in MIMI_TRANSFORMERS),
        *((f"{transformer}.output_dimensions", [8, 16]) for transformer in MIMI_TRANSFORMERS),
    ],
)
def test_a_value_that_does_not_fit_is_named(changed: Change, key: str, value: Any) -> None:
    _refuses(changed(key, value), key if key != "mimi.decoder_seanet.ratios" else "mimi.")


def test_the_width_of_a_head_is_even(changed: Change) -> None:
    _refuses(changed("mimi.transformer.num_heads", 16), "mimi.transformer.d_model")
    _refuses(changed("mimi.decoder_transformer.num_heads", 4), "mimi.decoder_transformer.d_model")
    _refuses(changed("flow_lm.transformer.attn_dim", 54), "flow_lm.transformer.d_model")


def test_a_dilation_that_grows_without_bound_is_refused(changed: Change) -> None:
    path = changed("mimi.seanet.n_residual_layers", 20)
    _refuses(path, "mimi.seanet.dilation_base")
