"""`pocket-batch voices preview` and `export`: hear a voice, or write its state to a file."""

import argparse
import io
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pocket_batch.config import load_pipeline
from pocket_batch.engine.base import Engine
from pocket_batch.errors import OutputError, UsageError, writing

if TYPE_CHECKING:
    from pocket_batch.audio.pcm import Pcm
    from pocket_batch.engine.states import VoiceStates
    from pocket_batch.jobs.voice import Speaker

END_PAUSE_MS = 200
NUM_THREADS = 2


def preview(args: argparse.Namespace) -> int:
    """Speak a text of any length to a WAV file, as an audiobook would."""
    speaker = speaker_for(args.name, args.model, args.language)
    output = args.output or Path(f"{speaker.voice.name}-preview.wav")
    _check_output(output, ".wav", args.overwrite or args.output is None)
    rate_hz, started = speaker.engine.sampling_rate_hz, time.perf_counter()
    pcm, num_cut_off = _speak(speaker, args.text)
    _write_wav(output, pcm, rate_hz)
    elapsed_s = time.perf_counter() - started
    print(f"{output}: {len(pcm) / rate_hz:.1f} s, made in {elapsed_s:.1f} s.")
    if num_cut_off:
        print("Warning: the voice did not come to an end by itself; listen to how it ends.")
    return 0


def export(args: argparse.Namespace) -> int:
    """Write the state of a voice, made from its recording if need be."""
    speaker = speaker_for(args.name, args.model)
    _check_output(args.output, ".safetensors", args.overwrite)
    states = states_of(speaker.engine)
    if states is None:
        raise UsageError(
            f"The voice `{speaker.voice.name}` is of the engine `{speaker.voice.engine}`, which "
            "has no states. Only voices of the engine `pocket` can be exported."
        )
    state = states.get(speaker.voice)
    from pocket_batch.engine.voice import write_state

    write_state(state, args.output)
    print(f"{args.output}: {state.num_positions} positions, of {speaker.engine.spec.model}.")
    return 0


def speaker_for(name: str, model: str | None, language: str | None = None) -> "Speaker":
    """A voice with its engine, chosen as for a book: by name or file, model and language.

    Raises:
        ModelUnavailableError: there is no such voice or model, or they do not read the language.
        UsageError: the engine of the voice has only one model, and one was asked for.
    """
    from pocket_batch.jobs.voice import BookLanguage, choose_speaker

    pipeline = load_pipeline(None, {"voice": name, "model": model})
    return choose_speaker(pipeline, BookLanguage(language or "", "You asked for"))


def states_of(engine: Engine) -> "VoiceStates | None":
    """The voice states of an engine that has such."""
    states: VoiceStates | None = getattr(engine, "states", None)
    return states


def _check_output(path: Path, suffix: str, overwrite: bool) -> None:
    if path.suffix.lower() != suffix:
        raise UsageError(f"The output is a {suffix} file: give -o NAME{suffix}, not {path}.")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already. Give --overwrite to replace it.")


def _speak(speaker: "Speaker", text: str) -> tuple["Pcm", int]:
    """The samples (num_samples,) of a text, and how many of its pieces were cut off."""
    from pocket_batch.audio.mastering import utterance_piece
    from pocket_batch.audio.pcm import to_int16
    from pocket_batch.jobs.library import segment_text
    from pocket_batch.jobs.plan import make_requests

    pipeline, engine = load_pipeline(None, {}), speaker.engine
    engine.check([speaker.voice])
    segments = segment_text(text, speaker.voice, engine, speaker.language)
    if not segments:
        raise UsageError("There is nothing to speak in that text: give it some words.")
    requests = make_requests(segments, pipeline.seed, speaker.voice, engine)
    engine.load([speaker.voice], min(NUM_THREADS, len(os.sched_getaffinity(0))))
    unique = {request.key: request for request in requests}
    outputs = {output.key: output for output in engine.generate(unique.values())}
    segments[-1] = replace(segments[-1], pause_after_ms=END_PAUSE_MS)
    pieces = [
        utterance_piece(
            to_int16(outputs[request.key].audio),
            engine.sampling_rate_hz,
            segment.pause_after_ms,
            pipeline.master,
        )
        for request, segment in zip(requests, segments, strict=True)
    ]
    num_cut_off = sum(output.finish_reason == "length" for output in outputs.values())
    return np.concatenate(pieces), num_cut_off


def _write_wav(path: Path, pcm: "Pcm", sampling_rate_hz: int) -> None:
    import soundfile

    from pocket_batch.manifest import write_atomic

    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, sampling_rate_hz, format="WAV", subtype="PCM_16")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, buffer.getvalue())
