"""What the sizes in a model's file may be, and how they have to fit each other.

Everything is checked before a module is built: a size of zero would be a division by it, and one
of a billion a computer that stands still.
"""

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pocket_batch.errors import UsageError

if TYPE_CHECKING:
    from pocket_batch.models.architecture import MimiConfig, ModelConfig, SeanetConfig

SAMPLING_RATE_HZ = 24_000  # of voice prompts and of everything that is written
MAX_DILATION = 10_000

# Key, lowest and highest value; the first that matches a number counts.
RANGES: tuple[tuple[str, float, float], ...] = (
    ("mimi.sample_rate", SAMPLING_RATE_HZ, SAMPLING_RATE_HZ),
    ("mimi.*channels", 1, 1),
    ("mimi.frame_rate", 0.1, 1000),
    ("*.num_layers", 1, 1000),
    ("*.depth", 1, 1000),
    ("*.num_heads", 1, 1000),
    ("*.num_kv_heads", 1, 1000),
    ("*.hidden_scale", 1, 1000),
    ("*.max_period", 1, 1e9),
    ("*.n_bins", 1, 10_000_000),
    ("flow_lm.flow.dim", 2, 100_000),  # its variance is taken
    ("*seanet.ratios", 1, 1000),
    ("*seanet.*kernel_size", 1, 1000),
    ("*seanet.n_residual_layers", 0, 20),
    ("*seanet.dilation_base", 1, 1000),
    ("*.layer_scale", 0, 1000),
    ("*.context", 1, 1_000_000),
    ("model_recommended_frames_after_eos", 0, 1000),
    ("default_temperature", 0, 10),
    ("default_eos_threshold", -1000, 1000),
    ("*", 1, 100_000),  # a width
)
MAX_RATIOS = 10  # each doubles the width


def check_model_config(config: "ModelConfig", origin: str) -> None:
    """Refuse sizes that make no sense or do not fit each other, and weights in several files.

    Raises:
        UsageError: naming the key.
    """
    for key, value in _numbers(config):
        low, high = next((a, b) for pattern, a, b in RANGES if fnmatchcase(key, pattern))
        if not low <= value <= high:  # which NaN never is
            wanted = f"be {low:,}" if low == high else f"be from {low:,} to {high:,}"
            raise UsageError(f"{origin}: `{key}` is {value:.12g}; it must {wanted}.")
    for key, location in (
        ("flow_lm.weights_path", config.flow_lm.weights_path),
        ("mimi.weights_path", config.mimi.weights_path),
    ):
        if location:
            raise UsageError(
                f"{origin}: `{key}` is not supported. Put all weights into one file, as the "
                "released models do, and name it with `weights_path`."
            )
    for key, fits, wanted in (*_language_model_fits(config), *_mimi_fits(config)):
        if not fits:
            raise UsageError(f"{origin}: `{key}` does not fit the other sizes: {wanted}.")


def _numbers(settings: object, prefix: str = "") -> Iterator[tuple[str, float]]:
    """Every number in a dataclass with its dotted key; those of a list have the list's key."""
    for field in fields(settings):  # type: ignore[arg-type]
        key, value = prefix + field.name, getattr(settings, field.name)
        if is_dataclass(value):
            yield from _numbers(value, f"{key}.")
            continue
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool):
                yield key, number


def _language_model_fits(config: "ModelConfig") -> Iterator[tuple[str, bool, str]]:
    """Keys, whether their values fit, and what is wanted; a later one relies on those before."""
    backbone = config.flow_lm.transformer
    key, width = "flow_lm.transformer", backbone.attn_dim or backbone.d_model
    yield from _heads_fit(key, width, backbone.num_heads)
    is_shared = backbone.num_heads % backbone.kv_heads == 0
    yield f"{key}.num_kv_heads", is_shared, "it has to divide `num_heads`"
    table = config.flow_lm.lookup_table
    yield "flow_lm.lookup_table.dim", table.dim == backbone.d_model, "`d_model` is wanted"


def _heads_fit(key: str, width: int, num_heads: int) -> Iterator[tuple[str, bool, str]]:
    yield f"{key}.num_heads", width % num_heads == 0, f"it has to divide the width {width}"
    is_even = width // num_heads % 2 == 0
    yield f"{key}.d_model", is_even, "the width of a head has to be even"


def _mimi_fits(config: "ModelConfig") -> Iterator[tuple[str, bool, str]]:
    mimi = config.mimi
    decoder = mimi.decoder_seanet or mimi.seanet
    yield from _seanet_fits("mimi.seanet", mimi.seanet)
    yield from _seanet_fits("mimi.decoder_seanet", decoder)
    hop = math.prod(decoder.ratios)
    yield "mimi.seanet.ratios", math.prod(mimi.seanet.ratios) == hop, "the decoder has others"
    fits = mimi.frame_samples > 0 and mimi.frame_samples % hop == 0
    yield "mimi.frame_rate", fits, f"a frame has to be a multiple of {hop} samples (`ratios`)"
    yield from _transformers_fit(mimi, decoder, mimi.frame_samples == hop)


def _seanet_fits(key: str, seanet: "SeanetConfig") -> Iterator[tuple[str, bool, str]]:
    num_ratios = len(seanet.ratios)
    yield f"{key}.ratios", 1 <= num_ratios <= MAX_RATIOS, f"1 to {MAX_RATIOS} are wanted"
    is_wide = seanet.compress <= seanet.n_filters
    yield f"{key}.compress", is_wide, "it must not be over `n_filters`"
    dilation = seanet.dilation_base ** max(0, seanet.n_residual_layers - 1)
    yield f"{key}.dilation_base", dilation <= MAX_DILATION, "with so many layers it is too large"


def _transformers_fit(
    mimi: "MimiConfig", decoder: "SeanetConfig", runs_at_frame_rate: bool
) -> Iterator[tuple[str, bool, str]]:
    """Encoder and decoder each are a transformer between two widths of their convolutions."""
    dim = mimi.seanet.dimension
    encoded = (mimi.inner_dim or dim) if runs_at_frame_rate else dim
    for key, one, before, after in (
        ("mimi.transformer", mimi.transformer, dim, encoded),
        (
            "mimi.decoder_transformer",
            mimi.decoder_transformer or mimi.transformer,
            decoder.dimension,
            decoder.dimension,
        ),
    ):
        yield from _heads_fit(key, one.d_model, one.num_heads)
        yield f"{key}.input_dimension", one.input_dimension == before, f"{before} is wanted"
        fits = one.output_dimensions == (after,)
        yield f"{key}.output_dimensions", fits, f"[{after}] is wanted"
    latent = decoder.dimension if runs_at_frame_rate else mimi.outer_dim or decoder.dimension
    fits = latent % decoder.dimension == 0
    yield "mimi.outer_dim", fits, f"a multiple of {decoder.dimension} is wanted"
    fits = mimi.quantizer.output_dimension == latent
    yield "mimi.quantizer.output_dimension", fits, f"{latent} is wanted"
