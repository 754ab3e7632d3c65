"""Measure the engine `pocket` on a random model of the released size, or beside pocket-tts.

Lengths are forced: no text ends before its limit, on either side. With `--against reference` both
speak in turn, ours all texts and the package `pocket-tts` a few, and what counts is the ratio of
audio per second of wall time; the machine may be busy with other things.
"""

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pocket_batch.data import EngineSpec, Request, Sampling, Voice
from pocket_batch.errors import ModelUnavailableError

# Tokens of the segments of a novel, every sixteenth quantile, with a few words a sentence joined.
TOKENS = (1, 6, 7, 9, 10, 12, 13, 15, 18, 20, 23, 26, 29, 33, 38, 43, 50)
NEVER = 1000.0  # an EOS threshold that no logit passes
VOICE_POSITIONS = 127  # ten seconds of a prompt
REFERENCE_TOKENS = (10, 18, 26)  # of its utterances each time: few, as it is slow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--utterances", type=int, default=128, help="default: 128")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--lanes", type=int, default=2, help="threads (default: 2)")
    parser.add_argument("--rows", type=int, help="utterances a lane at a time (default: 32)")
    parser.add_argument("--repeats", type=int, default=5, help="default: 5")
    parser.add_argument("--against", choices=("reference", "reference-int8"), help="pocket-tts")
    parser.add_argument("--model", default="english", help="whose sizes (default: english)")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="pocket-batch-bench-") as name:
        folder = Path(name)
        result = measure(args, folder)
    if args.json:
        print(json.dumps(result))
        return 0
    for key, value in result.items():
        print(f"{key:<22} {_shown(value)}")
    return 0


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures by name."""
    from pocket_batch.models.made_up import write_made_up_model
    from pocket_batch.models.presets import find_model

    config = write_made_up_model(folder, find_model(args.model).config)
    engine, voice = _engine(folder, args)
    requests = _requests(args.utterances, voice)
    reference = _reference(config, voice, args.against) if args.against else None
    ours: list[float] = []
    theirs: list[float] = []
    cpu: list[float] = []
    for _ in range(args.repeats):
        started, started_cpu = time.perf_counter(), time.process_time()
        audio_s = sum(len(output.audio) for output in engine.generate(requests)) / 24_000
        ours.append(audio_s / (time.perf_counter() - started))
        cpu.append(audio_s / (time.process_time() - started_cpu))
        if reference is not None:
            theirs.append(reference())
    result: dict[str, Any] = {
        "precision": args.precision,
        "lanes x rows": f"{args.lanes} x {engine.batches[0].num_slots}",
        "audio s a repeat": round(audio_s, 1),
        "x real time": _spread(ours),
        "x real time per CPU s": _spread(cpu),
        **_parts(engine.batches),
        "peak memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if theirs:
        result["reference x real time"] = _spread(theirs)
        result["ratio"] = _spread([a / b for a, b in zip(ours, theirs, strict=True)])
    return result


def _engine(folder: Path, args: argparse.Namespace) -> tuple[Any, Voice]:
    """A loaded engine that never hears an end, and a voice that is noise."""
    from pocket_batch.engine.pocket import PocketEngine
    from pocket_batch.engine.voice import VoiceState, write_state
    from pocket_batch.models.made_up import random_voice_state

    sampling = Sampling(eos_threshold=NEVER)
    engine = PocketEngine(EngineSpec("pocket", str(folder), args.precision, sampling))
    if args.rows:
        engine.batch_size = args.rows
    state = folder / "voice.safetensors"
    write_state(VoiceState(random_voice_state(engine.source.config, VOICE_POSITIONS)), state)
    voice = Voice("noise", "pocket", "en", "CC0-1.0", parameters={"state": str(state)})
    engine.load([voice], args.lanes)
    return engine, voice


def _requests(num: int, voice: Voice) -> list[Request]:
    """Made-up texts as long as those of a book, longest first as a worker gets them."""
    tokens = sorted((TOKENS[n % len(TOKENS)] for n in range(num)), reverse=True)
    return [Request(str(n), "", _text(t, n), voice, n) for n, t in enumerate(tokens)]


def _text(num_tokens: int, seed: int) -> str:
    """A word a token; the last one has the stop that every prompt ends with."""
    words = [f"w{random.Random(seed + n).randrange(1, 4000)}" for n in range(num_tokens)]
    return " ".join(words).capitalize() + "."


def _reference(config: Path, voice: Voice, kind: str) -> Callable[[], float]:
    """A function that has pocket-tts speak a few texts, and tells x real time.

    Raises:
        ModelUnavailableError: it is not installed.
    """
    try:
        from pocket_tts.models.tts_model import TTSModel
    except ImportError as error:
        raise ModelUnavailableError(
            "The reference is the package pocket-tts: run `pip install pocket-tts==4.0.1`."
        ) from error
    model = TTSModel.load_model(
        config=config, eos_threshold=NEVER, quantize=kind == "reference-int8"
    )
    state = model.get_state_for_audio_prompt(Path(voice.parameters["state"]))
    texts = [_text(num_tokens, num_tokens) for num_tokens in REFERENCE_TOKENS]

    def speak() -> float:
        started = time.perf_counter()
        num_samples = sum(len(model.generate_audio(state, text)) for text in texts)
        return float(num_samples / model.sample_rate / (time.perf_counter() - started))

    return speak


def _parts(batches: list[Any]) -> dict[str, str]:
    """Processor time of each part for a frame, and how full the slots were."""
    cpu: Counter[str] = Counter()
    for batch in batches:
        cpu += batch.cpu_s
    frames, steps = sum(b.num_frames for b in batches), sum(b.num_steps for b in batches)
    parts = {f"{part} ms a frame": f"{1000 * s / frames:.2f}" for part, s in cpu.items()}
    return parts | {"rows in a step": f"{frames / steps:.1f}"}


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['median']:.2f} ({value['min']:.2f} to {value['max']:.2f})"
    return str(value)
