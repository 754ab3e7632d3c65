"""The ranges that settings of a run must lie in: what is outside would give nonsense."""

from dataclasses import fields

from pocket_batch.data import Pauses, Sampling
from pocket_batch.dataset_settings import (
    CorpusSettings,
    DatasetPipeline,
    FilterSettings,
    VoicesSettings,
)
from pocket_batch.settings import AudiobookPipeline, CheckSettings, ExecutorSettings

Range = tuple[str, float | None, float, float]  # dotted name, value, lowest, highest


def ranges_of(settings: AudiobookPipeline | DatasetPipeline) -> list[Range]:
    """Every setting that has a range, with its value; None is always right."""
    common = _of_sampling(settings.sampling) + _of_executor(settings.executor)
    if isinstance(settings, DatasetPipeline):
        return common + _of_dataset(settings)
    return common + _of_audiobook(settings)


def _of_audiobook(settings: AudiobookPipeline) -> list[Range]:
    master, pauses = settings.master, settings.segment.pauses
    return [
        ("master.target_lufs", master.target_lufs, -40, -8),
        ("master.true_peak_dbtp", master.true_peak_dbtp, -20, 0),
        ("master.trim_below_peak_db", master.trim_below_peak_db, 20, 120),
        ("master.keep_ms", master.keep_ms, 0, 500),
        ("master.lead_in_ms", master.lead_in_ms, 0, 60_000),
        ("master.fade_ms", master.fade_ms, 0, 100),
        ("master.level_db", master.level_db, 0, 12),
        ("master.room_tone_db", master.room_tone_db, -90, -50),
        ("segment.min_words", settings.segment.min_words, 1, 20),
        ("write.bitrate_kbps", settings.write.bitrate_kbps, 8, 512),
        *_of_pauses(pauses),
        *_of_check(settings.check),
    ]


def _of_check(check: CheckSettings) -> list[Range]:
    bounds = {
        "min_letters_per_s": (0, 1000),
        "max_letters_per_s": (0.1, 1000),
        "min_rms_db": (-120, 0),
        "max_clipped": (0, 1),
        "max_dc": (0, 1),
        "max_edge_silence_s": (0, 60),
        "max_gap_s": (0, 60),
        "max_silence_share": (0, 1),
        "max_click": (0, 10_000),
        "max_end_db": (-120, 60),
        "max_level_jump_db": (0, 120),
        "max_flatness": (0, 1),
        "max_noise_s": (0, 60),
        "min_voiced_share": (0, 1),
        "max_repetition": (0, 1),
        "rate_mads": (0, 1000),
        "level_mads": (0, 1000),
        "voice_mads": (0, 1000),
        "max_repetition_over": (0, 1),
        "max_attempts": (1, 20),
        "sample_fraction": (0, 1),
        "max_unlike_words": (0, 10),
        "max_edits": (0, 1000),
        "short_words": (0, 1000),
        "warn_wer": (0, 10),
        "critical_wer": (0, 10),
        "voice_sample": (2, 1_000_000),
        "warn_similarity": (0, 1),
        "critical_similarity": (0, 1),
    }
    return [(f"check.{name}", getattr(check, name), *bound) for name, bound in bounds.items()]


def _of_pauses(pauses: Pauses) -> list[Range]:
    return [
        (f"segment.pauses.{f.name}", getattr(pauses, f.name), 0, 60_000) for f in fields(pauses)
    ]


def _of_sampling(sampling: Sampling) -> list[Range]:
    return [
        ("sampling.temperature", sampling.temperature, 0, 2),
        ("sampling.decode_steps", sampling.decode_steps, 1, 1000),
        ("sampling.noise_clamp", sampling.noise_clamp, 0.001, 100),
        ("sampling.eos_threshold", sampling.eos_threshold, -30, 30),
        ("sampling.frames_after_eos", sampling.frames_after_eos, 0, 50),
    ]


def _of_executor(executor: ExecutorSettings) -> list[Range]:
    return [
        ("executor.workers", executor.workers, 1, 100_000),
        ("executor.cores_per_worker", executor.cores_per_worker, 1, 1024),
        ("executor.item_timeout_s", executor.item_timeout_s, 1, 86_400),
        ("executor.start_timeout_s", executor.start_timeout_s, 1, 86_400),
    ]


def _of_dataset(settings: DatasetPipeline) -> list[Range]:
    splits = settings.splits
    return [
        *_of_corpus(settings.corpus),
        *_of_voices(settings.voices),
        *_of_filters(settings.filters),
        ("splits.validation", splits.validation, 0, 1),
        ("splits.test", splits.test, 0, 1),
        ("splits.validation + splits.test", splits.validation + splits.test, 0, 1),
        ("unit_size", settings.unit_size, 1, 1024),
    ]


def _of_corpus(corpus: CorpusSettings) -> list[Range]:
    return [
        ("corpus.min_letters", corpus.min_letters, 1, 10_000),
        ("corpus.max_letters", corpus.max_letters, 0, 1_000_000),
        ("corpus.max_foreign", corpus.max_foreign, 0, 1),
        ("corpus.max_repetition", corpus.max_repetition, 0, 1),
    ]


def _of_voices(voices: VoicesSettings) -> list[Range]:
    weights = voices.voices.items()
    return [
        ("voices.per_text", voices.per_text, 0, 1000),
        *((f"voices.voices.{name}", weight, 0.000_001, 1_000_000) for name, weight in weights),
    ]


def _of_filters(filters: FilterSettings) -> list[Range]:
    return [
        ("filters.max_attempts", filters.max_attempts, 1, 20),
        ("filters.min_letters_per_s", filters.min_letters_per_s, 0, 1000),
        ("filters.max_letters_per_s", filters.max_letters_per_s, 0.1, 1000),
        ("filters.rate_mads", filters.rate_mads, 0, 1000),
        ("filters.min_rms_db", filters.min_rms_db, -120, 0),
        ("filters.max_clipped", filters.max_clipped, 0, 1),
        ("filters.max_dc", filters.max_dc, 0, 1),
        ("filters.max_edge_silence_s", filters.max_edge_silence_s, 0, 60),
        ("filters.max_gap_s", filters.max_gap_s, 0, 60),
        ("filters.asr_fraction", filters.asr_fraction, 0, 1),
        ("filters.max_wer", filters.max_wer, 0, 10),
        ("filters.max_edits", filters.max_edits, 0, 1000),
        ("filters.short_words", filters.short_words, 0, 1000),
    ]
