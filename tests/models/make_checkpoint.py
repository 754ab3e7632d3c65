"""Random but seeded checkpoints of every architecture, in the official format."""

import argparse
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from safetensors.torch import save_file

from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.made_up import random_weights
from pocket_batch.models.presets import load_presets

TINY_MIMI: dict[str, Any] = {
    "dtype": "float32", "sample_rate": 24000, "inner_dim": 32, "outer_dim": 16, "channels": 1,
    "frame_rate": 12.5,
    "seanet": {
        "dimension": 16, "channels": 1, "n_filters": 4, "n_residual_layers": 1,
        "ratios": [6, 5, 4], "kernel_size": 7, "residual_kernel_size": 3, "last_kernel_size": 3,
        "dilation_base": 2, "pad_mode": "constant", "compress": 2,
    },
    "transformer": {
        "d_model": 16, "num_heads": 2, "num_layers": 2, "layer_scale": 0.01, "context": 30,
        "dim_feedforward": 32, "input_dimension": 16, "output_dimensions": [16],
    },
    "quantizer": {"dimension": 32, "output_dimension": 16},
}  # fmt: skip

TINY_FLOW_LM: dict[str, Any] = {
    "dtype": "float32", "insert_bos_before_voice": True,
    "flow": {"dim": 24, "depth": 2},
    "transformer": {
        "d_model": 32, "hidden_scale": 4, "max_period": 10000, "num_heads": 4, "num_layers": 2,
    },
    "lookup_table": {"dim": 32, "n_bins": 300, "tokenizer": "tokenizers"},
}  # fmt: skip


def variants() -> dict[str, dict[str, Any]]:
    """A tiny configuration for every way in which the released models differ."""
    small_mimi = _merged(
        TINY_MIMI,
        outer_dim=8,
        quantizer={"output_dimension": 8},
        decoder_seanet=TINY_MIMI["seanet"] | {"dimension": 8, "n_filters": 3, "kernel_size": 3},
        decoder_transformer=TINY_MIMI["transformer"]
        | {"d_model": 12, "num_heads": 3, "num_layers": 3, "context": 10, "input_dimension": 8,
           "output_dimensions": [8], "dim_feedforward": 20},
    )  # fmt: skip
    small = _merged(
        TINY_FLOW_LM,
        flow={"type": "pointwise"},
        transformer={"attn_dim": 48, "num_heads": 6, "num_kv_heads": 2, "dim_feedforward": 40},
        lookup_table={"rank": 8, "tokenizer": "sentencepiece"},
        z_dim=16,
    )
    return {
        "lsd": {"flow_lm": TINY_FLOW_LM, "mimi": TINY_MIMI},
        "deep": {
            "flow_lm": _merged(TINY_FLOW_LM, transformer={"num_layers": 8}),
            "mimi": TINY_MIMI,
        },
        "old": {
            "flow_lm": _merged(TINY_FLOW_LM, insert_bos_before_voice=False),
            "mimi": _merged(TINY_MIMI, inner_dim=16),
            "pad_with_spaces_for_short_inputs": True,
        },
        "drifting": {
            "flow_lm": _merged(TINY_FLOW_LM, flow={"type": "drifting"}),
            "mimi": TINY_MIMI,
        },
        "flow_matching": {
            "flow_lm": _merged(TINY_FLOW_LM, flow={"type": "flow_matching"}),
            "mimi": TINY_MIMI,
        },
        "small": {"flow_lm": small, "mimi": small_mimi, "default_eos_threshold": -1.0},
        "small_drifting": {
            "flow_lm": _merged(small, flow={"type": "drifting"}, transformer={"num_kv_heads": 3}),
            "mimi": _merged(small_mimi, frame_rate=12.5),
            "model_recommended_frames_after_eos": 2,
        },
    }


def full_size() -> dict[str, dict[str, Any]]:
    """The configuration of the released English model, 118 million parameters."""
    config = asdict(load_presets()["english"].config)
    config["weights_path_without_voice_cloning"] = None
    return {"english": config}


def make_checkpoint(
    folder: Path,
    config: dict[str, Any],
    tokenizer: Path,
    seed: int = 2,
) -> Path:
    """Write config.yaml and model.safetensors; returns the path of the configuration.

    Locations in it are absolute, because the reference takes relative ones from where it runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.yaml"
    weights = str(folder.resolve() / "model.safetensors")
    table = {"lookup_table": {"tokenizer_path": str(tokenizer.resolve())}}
    content = _merged(config, flow_lm=table, weights_path=weights)
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    save_file(random_weights(load_model_config(path), seed), weights)
    return path


def _merged(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A copy of nested dictionaries with some values changed."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        nested = isinstance(value, dict) and isinstance(old, dict)
        result[key] = _merged(old, **value) if nested else value
    return result


def main() -> None:
    """Write the checkpoint that the command line asks for, with a tokenizer, and print its path."""
    configs = variants() | full_size()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=configs, help="english is of full size, the others tiny")
    parser.add_argument("folder", type=Path, help="where to write it")
    args = parser.parse_args()
    config, folder = configs[args.name], args.folder
    table = config["flow_lm"]["lookup_table"]
    helper = runpy.run_path(str(Path(__file__).with_name("make_tokenizer.py")))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = helper["make_tokenizer"](folder, table["n_bins"], table["tokenizer"])
    print(make_checkpoint(folder, config, tokenizer))


if __name__ == "__main__":
    main()
