"""One chunk of text as Pocket TTS is prompted with it.

The model was trained on single sentences in a fixed typography: a capital first, a stop last, and
only some quotes and dashes. What it never saw it mumbles, so each model's file states what to
replace. Source: the text handling of pocket-tts 4.0.1, which this gives character for character.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pocket_batch.errors import InputError, UsageError

SHORT_WORDS = 4  # up to so many words, speech goes on longer after the EOS frame
FRAMES_AFTER_EOS = 3  # frames of 80 ms; the reference guesses 1 and always adds 2
FRAMES_AFTER_EOS_SHORT = 5  # 3 and 2 likewise
PADDING = " " * 8  # before a short text, for models that fail on few tokens

_STOPS = ".!?…"
_WEAK = ",;:-–—"
_CLOSERS = "\"'”’)]»"
# `Hi?, she said` -> `Hi? she said`: what deleted quotes leave of `"Hi?", she said`
_COMMA_AFTER_STOP = re.compile(r"([.!?…])\s*[,;:]")


@dataclass(frozen=True, slots=True)
class PromptRules:
    """How a model wants its text; the defaults are those of a file that says nothing.

    `replacements` maps single characters to what is spoken instead; an empty text deletes.

    Raises:
        UsageError: a key of `replacements` is not a single character.
    """

    pad_short: bool = False
    remove_semicolons: bool = False
    append_punctuation: bool = True
    capitalize: bool = True
    replacements: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be looked up character by character."""
        for key in self.replacements:
            if len(key) != 1:
                raise UsageError(
                    f"`replace_characters` maps single characters; `{key}` is {len(key)} of them."
                )


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text to tokenize, and how many frames of 80 ms follow the one that has EOS."""

    text: str
    frames_after_eos: int


def prepare_prompt(text: str, rules: PromptRules) -> Prompt:
    """Bring one chunk of text into the typography that a model was trained on.

    The rules are applied twice, as the reference does: before it looks for chunks, and to each
    chunk. A second time matters where the first one leaves something to do, such as four spaces
    that became two, or a dash alone at the end that counted as a word.

    Args:
        text: one chunk, not yet prepared; any white space.
        rules: of the model that will speak it.

    Raises:
        InputError: nothing is left to speak.
    """
    once = _apply(text, rules)
    return _apply(once.text, rules)


def _apply(text: str, rules: PromptRules) -> Prompt:
    words = _replace(text.strip(), rules)
    if not words:
        raise InputError(
            f"`{text.strip():.60}` has no text to speak once the characters that this model was "
            "not trained on are removed. Leave it out, or write it in words."
        )
    # Only pairs of spaces: a longer run keeps some, and tokenizers count them.
    words = words.replace("\n", " ").replace("\r", " ").replace("  ", " ")
    if rules.remove_semicolons:
        words = words.replace(";", ",")
    is_short = len(words.split()) <= SHORT_WORDS
    if rules.capitalize:
        words = words[0].upper() + words[1:]
    if rules.append_punctuation:
        words = _stop_at_end(words)
    # Counted anew: a dash that stood alone at the end is a stop by now.
    if rules.pad_short and len(words.split()) <= SHORT_WORDS:
        words = PADDING + words
    return Prompt(words, FRAMES_AFTER_EOS_SHORT if is_short else FRAMES_AFTER_EOS)


def _replace(text: str, rules: PromptRules) -> str:
    """Exchange characters, then fold white space and drop commas that follow a stop."""
    if not rules.replacements:
        return text
    replaced = text.translate({ord(old): new for old, new in rules.replacements.items()})
    return _COMMA_AFTER_STOP.sub(r"\1", " ".join(replaced.split()))


def _stop_at_end(text: str) -> str:
    """End with a stop, for without one the last word is often mispronounced or repeated.

    `so, "he left,"` -> `so, "he left."`; `(he left)` -> `(he left).`; `he left!"` stays.
    """
    inner = text.rstrip(_CLOSERS + " ")
    if not inner or inner[-1] in _STOPS:
        return text
    if inner[-1] in _WEAK:
        return inner.rstrip(_WEAK + " ") + "." + text[len(inner) :].strip()
    return text + "."
