"""What a finished file depends on, as one hash: whether a command would make the same again."""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pocket_batch.config import as_dict
from pocket_batch.data import Choices
from pocket_batch.jobs.reading import Reading
from pocket_batch.manifest import content_key
from pocket_batch.settings import AudiobookPipeline, CheckSettings


def fingerprint(reading: Reading, pipeline: AudiobookPipeline, choices: Choices) -> str:
    """Everything a finished file depends on; where and by how many workers it is made is not.

    A voice is the same whether it was named or is the default; of a lexicon and a cast file the
    content counts.

    Raises:
        ModelUnavailableError: a voice or its weights are not on this machine.
    """
    settings = as_dict(pipeline)
    for name in ("executor", "voice", "model", "precision", "sampling", "dialogue_voice", "cast"):
        del settings[name]  # what they lead to is in the reading
    del settings["normalize"]["lexicon"]
    for name in ("subtitles", "read_along"):
        del settings["write"][name]  # made beside the audiobook, at any time
    _leave_out_what_is_new(settings["check"])
    speaker = reading.speaker
    voice, engine = speaker.voice, speaker.engine
    cast = sorted((v.name, engine.voice_key(v)) for v in speaker.cast.values())
    return content_key(
        source=reading.book.id,
        settings=json.dumps(settings, sort_keys=True),
        chapters=json.dumps(sorted(choices.chapters)),
        language=speaker.language,
        title=choices.title,
        authors=json.dumps(choices.authors),
        voice_name=voice.name,
        voice=engine.voice_key(voice),
        cast_voices=json.dumps(cast),
        **{f"text_{name}": value for name, value in reading.texts.items()},
        engine=engine.name,
        **{f"engine_{name}": value for name, value in engine.identity().items()},
        version=version("pocket-batch"),
    )


def _leave_out_what_is_new(check: dict[str, Any]) -> None:
    """What a finished book was made without is no change to it while it is not asked for."""
    defaults = asdict(CheckSettings())
    for name in (
        "fail_on",
        "voice_model",
        "voice_sample",
        "warn_similarity",
        "critical_similarity",
    ):
        if check[name] == defaults[name]:
            del check[name]
    for name in ("asr_model", "voice_model"):  # wherever it is named from
        if name in check:
            check[name] = Path(check[name]).name
