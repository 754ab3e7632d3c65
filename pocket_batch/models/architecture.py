"""The shape of a Pocket TTS model, as its YAML file states it.

The keys are those of the configuration files that Kyutai releases with pocket-tts 4.0.1, so any of
them can be read. Numbers without a unit are widths (channels), counts, or token ids.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pocket_batch.config import read_settings
from pocket_batch.models.limits import check_model_config

FlowType = Literal["lsd", "flow_matching", "drifting", "pointwise"]
Dtype = Literal["float32", "bfloat16", "float16"]  # what weights may be stored in
PadMode = Literal["constant", "replicate"]
TokenizerKind = Literal["tokenizers", "json", "sentencepiece"]

# Time conditions of each kind of flow head. Source: arXiv 2505.18825 (LSD takes start and target).
NUM_TIMES: dict[str, int] = {"lsd": 2, "flow_matching": 1, "drifting": 0, "pointwise": 0}
# Steps of a head that nothing else is said about: flow matching integrates, the others jump.
DECODE_STEPS: dict[str, int] = {"lsd": 1, "flow_matching": 16, "drifting": 1, "pointwise": 1}


@dataclass(frozen=True, slots=True)
class FlowConfig:
    """The flow head: `depth` residual blocks of width `dim`."""

    dim: int
    depth: int
    type: FlowType = "lsd"


@dataclass(frozen=True, slots=True)
class BackboneConfig:
    """The causal transformer. None is a width or count equal to that of the model itself."""

    hidden_scale: int
    max_period: int
    d_model: int
    num_heads: int
    num_layers: int
    attn_dim: int | None = None
    num_kv_heads: int | None = None
    dim_feedforward: int | None = None

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return (self.attn_dim or self.d_model) // self.num_heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values; each serves `num_heads / kv_heads` query heads."""
        return self.num_kv_heads or self.num_heads

    @property
    def hidden_dim(self) -> int:
        """Width of the feed-forward layers."""
        return self.dim_feedforward or self.d_model * self.hidden_scale


@dataclass(frozen=True, slots=True)
class TextTableConfig:
    """The text embedding: `n_bins` tokens, low-rank when `rank` is given."""

    dim: int
    n_bins: int
    tokenizer: TokenizerKind
    tokenizer_path: str = ""  # empty: beside the configuration
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class LanguageModelConfig:
    """Text table, backbone and flow head; `z_dim` is the width between the last two."""

    dtype: Dtype
    flow: FlowConfig
    transformer: BackboneConfig
    lookup_table: TextTableConfig
    z_dim: int | None = None
    weights_path: str | None = None
    insert_bos_before_voice: bool = False


@dataclass(frozen=True, slots=True)
class SeanetConfig:
    """The convolutions of Mimi, from waveform to features or back. Source: arXiv 2009.02095."""

    dimension: int
    channels: int
    n_filters: int
    n_residual_layers: int
    ratios: tuple[int, ...]
    kernel_size: int
    residual_kernel_size: int
    last_kernel_size: int
    dilation_base: int
    pad_mode: PadMode
    compress: int


@dataclass(frozen=True, slots=True)
class MimiTransformerConfig:
    """A transformer of Mimi that sees `context` positions back."""

    d_model: int
    input_dimension: int
    output_dimensions: tuple[int, ...]
    num_heads: int
    num_layers: int
    layer_scale: float
    context: int
    dim_feedforward: int
    max_period: float = 10_000.0


@dataclass(frozen=True, slots=True)
class QuantizerConfig:
    """The projection from latents to features; Pocket TTS does not quantize."""

    dimension: int
    output_dimension: int


@dataclass(frozen=True, slots=True)
class MimiConfig:
    """The codec. The decoder has sizes of its own where `decoder_*` is given."""

    dtype: Dtype
    sample_rate: int
    channels: int
    frame_rate: float
    seanet: SeanetConfig
    transformer: MimiTransformerConfig
    quantizer: QuantizerConfig
    weights_path: str | None = None
    inner_dim: int | None = None
    outer_dim: int | None = None
    decoder_seanet: SeanetConfig | None = None
    decoder_transformer: MimiTransformerConfig | None = None

    @property
    def frame_samples(self) -> int:
        """Samples of one frame: 1,920 at 24 kHz and 12.5 frames a second."""
        return round(self.sample_rate / self.frame_rate)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A whole configuration file: the model, where its files are, and how it wants its text.

    Locations are paths, `https://...` or `hf://owner/repository/path@revision`.
    """

    flow_lm: LanguageModelConfig
    mimi: MimiConfig
    weights_path: str | None = None
    weights_path_without_voice_cloning: str | None = None
    pad_with_spaces_for_short_inputs: bool = False
    remove_semicolons: bool = False
    append_terminal_punctuation: bool = True
    capitalize_first_letter: bool = True
    replace_characters: dict[str, str] = field(default_factory=dict)
    model_recommended_frames_after_eos: int | None = None
    default_temperature: float = 0.3
    default_eos_threshold: float = -4.0


def load_model_config(path: Path) -> ModelConfig:
    """Read a configuration file; relative locations in it are relative to its folder.

    Raises:
        UsageError: it is not such a file, a key is unknown or a value does not fit.
    """
    config = read_settings(path, ModelConfig)
    check_model_config(config, str(path))
    folder = path.absolute().parent  # not resolved: in the hub's cache a file is a link elsewhere
    table = config.flow_lm.lookup_table
    table = replace(table, tokenizer_path=_absolute(table.tokenizer_path, folder) or "")
    return replace(
        config,
        flow_lm=replace(config.flow_lm, lookup_table=table),
        weights_path=_absolute(config.weights_path, folder),
        weights_path_without_voice_cloning=_absolute(
            config.weights_path_without_voice_cloning, folder
        ),
    )


def _absolute(location: str | None, folder: Path) -> str | None:
    """`model.safetensors` -> `/folder/model.safetensors`; what has a scheme stays."""
    if not location or "://" in location:
        return location
    return str(folder / location)
