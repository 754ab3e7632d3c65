"""What the file of the released models, `voices/models/pocket.yaml`, says of each."""

from dataclasses import dataclass, field

from pocket_batch.models.architecture import (
    BackboneConfig,
    Dtype,
    FlowConfig,
    MimiConfig,
    TokenizerKind,
)

FALLBACK_VOICE = "alba"


@dataclass(frozen=True, slots=True)
class TableShape:
    """`TextTableConfig` without the place of the tokenizer."""

    dim: int
    n_bins: int
    tokenizer: TokenizerKind
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes that several models share."""

    num_parameters: int
    flow: FlowConfig
    transformer: BackboneConfig
    table: TableShape
    mimi: MimiConfig
    dtype: Dtype = "float32"
    z_dim: int | None = None
    insert_bos_before_voice: bool = True


@dataclass(frozen=True, slots=True)
class Repositories:
    """The two repositories of the hub: with what cloning needs, and without."""

    cloning: str
    plain: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One released model. `cloning`, `plain` and `tokenizer` are `path@revision`."""

    language: str
    architecture: str
    replacements: str
    cloning: str
    plain: str
    tokenizer: str
    default_voice: str = FALLBACK_VOICE
    remove_semicolons: bool = False
    pad_with_spaces_for_short_inputs: bool = False
    temperature: float = 0.3
    eos_threshold: float = -4.0
    sha256: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PresetTable:
    """The whole file."""

    repositories: Repositories
    states: str
    languages: dict[str, str]
    replacements: dict[str, dict[str, str]]
    architectures: dict[str, Architecture]
    models: dict[str, Entry]
