"""What a text asks of a Pocket TTS model: its tokens, and how many frames it may have."""

import math
from dataclasses import dataclass
from functools import cached_property

from pocket_batch.data import Sampling
from pocket_batch.engine.base import EngineError
from pocket_batch.engine.scheduler import Settings
from pocket_batch.errors import InputError
from pocket_batch.models import files, hub
from pocket_batch.models.architecture import DECODE_STEPS, ModelConfig
from pocket_batch.models.presets import ModelSource
from pocket_batch.models.tokenizer import Tokenizer, load_tokenizer
from pocket_batch.text.prompt import PromptRules, prepare_prompt

MAX_TOKENS = 50  # the model was trained on single sentences. Source: pocket-tts 4.0.1
TOKENS_PER_S = 3.0  # slower speech than this does not exist. Source: pocket-tts 4.0.1
EXTRA_S = 2.0  # likewise


@dataclass(frozen=True, slots=True)
class Asked:
    """A text as the model reads it; see `Row` for the limits."""

    tokens: list[int]
    max_frames: int
    frames_after_eos: int


class TextReader:
    """Makes tokens and limits of texts, for one model and its `settings`."""

    def __init__(self, source: ModelSource, sampling: Sampling) -> None:
        """Nothing is read yet."""
        self.settings = _settings(sampling, source.config)
        self._source = source
        self._rules = _rules(source.config)

    def count_tokens(self, text: str) -> int:
        """Length of a text in tokens, as it will be prompted; 0 when it has nothing to say.

        Raises:
            ModelUnavailableError: the tokenizer is not on this machine.
        """
        try:
            return len(self._tokenizer.encode(prepare_prompt(text, self._rules).text))
        except InputError:
            return 0  # nothing of it can be spoken

    def read(self, text: str) -> Asked | None:
        """What a text asks for; None when it has nothing to say.

        Raises:
            EngineError: it is longer than the model can speak in one go.
            ModelUnavailableError: as `count_tokens`.
        """
        try:
            prompt = prepare_prompt(text, self._rules)
        except InputError:
            return None
        tokens = self._tokenizer.encode(prompt.text)
        if len(tokens) > MAX_TOKENS:
            raise EngineError(
                f"The text has {len(tokens)} tokens, and the model speaks {MAX_TOKENS} at a time: "
                f"`{text:.60}`."
            )
        after = self.settings.frames_after_eos
        return Asked(
            tokens,
            self.max_frames(len(tokens)),
            prompt.frames_after_eos if after is None else after,
        )

    def max_frames(self, num_tokens: int) -> int:
        """Where an utterance of so many tokens is cut when no EOS comes."""
        seconds = num_tokens / TOKENS_PER_S + EXTRA_S
        return math.ceil(seconds * self._source.config.mimi.frame_rate)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        table = self._source.config.flow_lm.lookup_table
        path = hub.find(table.tokenizer_path)
        if path is None:
            raise files.not_here(self._source, "tokenizer")
        return load_tokenizer(path, table.tokenizer, table.n_bins)


def _settings(asked: Sampling, config: ModelConfig) -> Settings:
    """What was asked for, and for the rest what the model's file says."""
    steps, after = asked.decode_steps, asked.frames_after_eos
    temperature, threshold = asked.temperature, asked.eos_threshold
    return Settings(
        config.default_temperature if temperature is None else temperature,
        DECODE_STEPS[config.flow_lm.flow.type] if steps is None else steps,
        asked.noise_clamp,
        config.default_eos_threshold if threshold is None else threshold,
        config.model_recommended_frames_after_eos if after is None else after,
    )


def _rules(config: ModelConfig) -> PromptRules:
    return PromptRules(
        pad_short=config.pad_with_spaces_for_short_inputs,
        remove_semicolons=config.remove_semicolons,
        append_punctuation=config.append_terminal_punctuation,
        capitalize=config.capitalize_first_letter,
        replacements=config.replace_characters,
    )
