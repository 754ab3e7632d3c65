"""`pocket-batch voices preview` and `export`: hear a voice, or write its state to a file."""

import argparse
import io
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pocket_batch.config import load_pipeline
from pocket_batch.data import Request
from pocket_batch.engine.base import Output
from pocket_batch.errors import OutputError, UsageError

if TYPE_CHECKING:
    from pocket_batch.audio.pcm import Pcm
    from pocket_batch.jobs.progress import Reporter
    from pocket_batch.jobs.voice import Speaker

END_PAUSE_MS = 200
NUM_THREADS = 2
CHARS_PER_S = 15.0  # of speech, roughly; for the bar alone


def preview(args: argparse.Namespace) -> int:
    """Speak a text of any length to a WAV file, as an audiobook would."""
    from pocket_batch.cli.show import make_reporter

    speaker = speaker_for(args.name, args.model, args.language)
    output = args.output or Path(f"{speaker.voice.name}-preview.wav")
    _check_output(output, ".wav", args.overwrite or args.output is None)
    rate_hz, started = speaker.engine.sampling_rate_hz, time.perf_counter()
    with make_reporter(None, quiet=False) as reporter:
        pcm, num_cut_off = _speak(speaker, args.text, reporter)
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
    from pocket_batch.jobs.voice import states_of

    states = states_of(speaker.engine)
    if states is None:
        raise UsageError(
            f"The voice `{speaker.voice.name}` is of the engine `{speaker.voice.engine}`, which "
            "has no states. Only voices of the engine `pocket` can be exported."
        )
    tell("Loading the voice.")
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


def tell(text: str) -> None:
    """Say what is being done, while the result goes to standard output."""
    print(text, file=sys.stderr, flush=True)


def _check_output(path: Path, suffix: str, overwrite: bool) -> None:
    if path.suffix.lower() != suffix:
        raise UsageError(f"The output is a {suffix} file: give -o NAME{suffix}, not {path}.")
    if not os.path.isdir(path.parent):
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}. Make it.")
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already. Give --overwrite to replace it.")


def _speak(speaker: "Speaker", text: str, reporter: "Reporter") -> tuple["Pcm", int]:
    """The samples (num_samples,) of a text, and how many of its pieces were cut off."""
    from pocket_batch.audio.mastering import utterance_piece
    from pocket_batch.audio.pcm import to_int16
    from pocket_batch.jobs.audiobook import check_voice
    from pocket_batch.jobs.library import segment_text
    from pocket_batch.jobs.plan import make_requests

    pipeline, engine = load_pipeline(None, {}), speaker.engine
    check_voice(speaker, reporter)
    segments = segment_text(text, speaker.voice, engine, speaker.language)
    if not segments:
        raise UsageError("There is nothing to speak in that text: give it some words.")
    requests = make_requests(segments, pipeline.seed, speaker.voice, engine)
    outputs = _outputs(speaker, {request.key: request for request in requests}, reporter)
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


def _outputs(
    speaker: "Speaker", requests: "dict[str, Request]", reporter: "Reporter"
) -> "dict[str, Output]":
    """Speak each request once, and show how far it is.

    Raises:
        OutputError: what the engine made is no sound.
    """
    from pocket_batch.jobs.progress import Meter
    from pocket_batch.words import plural

    voice, engine = speaker.voice, speaker.engine
    reporter.note("loading", "Loading the voice.")
    engine.load([voice], min(NUM_THREADS, len(os.sched_getaffinity(0))))
    reporter.note("speaking", f"Speaking {plural(len(requests), 'segment')}.")
    num_chars = sum(len(request.text) for request in requests.values())
    meter = Meter(reporter, "speaking", len(requests), num_chars / CHARS_PER_S)
    outputs: dict[str, Output] = {}
    for output in engine.generate(requests.values()):
        if not np.isfinite(output.audio).all():
            raise OutputError(
                f"The voice {voice.name} with the model {engine.spec.model or engine.name} made "
                "samples that are not numbers, so nothing was written. "
                "`pocket-batch models verify` checks the model's files."
            )
        outputs[output.key] = output
        meter.add(len(output.audio) / engine.sampling_rate_hz)
    meter.finish()
    return outputs


def _write_wav(path: Path, pcm: "Pcm", sampling_rate_hz: int) -> None:
    import soundfile

    from pocket_batch.manifest import write_atomic

    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, sampling_rate_hz, format="WAV", subtype="PCM_16")
    write_atomic(path, buffer.getvalue())
