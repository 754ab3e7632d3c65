"""An utterance that fails its check is tried again, and the best attempt is kept."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.engine.base import EngineError, Output
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings
from pocket_batch.stages import attempts, repair
from pocket_batch.stages.repair import CheckSpec, Repair
from pocket_batch.stages.synthesize import Spoken, Synthesize

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
SPEC = CheckSpec(CheckSettings(), "en")
LONG = "The tide came in, and nobody had asked it to."


class QuieterEachTime(FakeEngine):
    """A tone that is half as loud with each attempt; remembers what it was asked.

    `broken:` in a text raises in its first attempt.
    """

    def __init__(self) -> None:
        super().__init__(EngineSpec("fake"))
        self.asked: list[Request] = []

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        for request in requests:
            self.asked.append(request)
            if "broken:" in request.text and request.attempt == 0:
                raise EngineError("It broke.")
            (output,) = super().generate([request])
            yield replace(output, audio=output.audio * np.float32(0.5**request.attempt))


def loud_is_bad(limit_db: float) -> object:
    def find(scores: Scores, *_: object) -> tuple[str, ...]:
        return ("loud",) if scores.rms_db > limit_db else ()

    return find


def run(
    monkeypatch: pytest.MonkeyPatch,
    requests: list[Request],
    limit_db: float,
    spec: CheckSpec = SPEC,
) -> tuple[list[Spoken | Failure], QuieterEachTime]:
    monkeypatch.setattr(repair, "find_problems", loud_is_bad(limit_db))
    monkeypatch.setattr(repair, "badness", lambda problems, scores: scores.rms_db)
    engine = QuieterEachTime()
    stage = Repair(Synthesize(engine), spec)
    return list(stage.run(requests)), engine


def request(text: str = LONG, key: str = "key", seed: int = 7) -> Request:
    return Request(key, "001-0001", text, VOICE, seed)


def test_a_good_utterance_is_spoken_once_and_has_its_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (spoken,), engine = run(monkeypatch, [request()], 0.0)
    assert isinstance(spoken, Spoken)
    assert spoken.checked is not None
    assert (spoken.checked.num_attempts, spoken.checked.problems) == (1, ())
    assert spoken.checked.scores["rms_db"] < 0
    assert len(engine.asked) == 1


def test_a_bad_one_gets_another_seed_and_is_kept_once_it_is_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (spoken,), engine = run(monkeypatch, [request()], -26.0)
    assert isinstance(spoken, Spoken)
    assert spoken.utterance.key == "key"
    assert [r.attempt for r in engine.asked] == [0, 1]
    assert engine.asked[0].seed != engine.asked[1].seed == spoken.utterance.seed
    assert spoken.checked is not None
    assert (spoken.checked.attempt, spoken.checked.num_attempts) == (1, 2)


def test_then_it_is_calmer_then_in_two_parts_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    (spoken,), engine = run(monkeypatch, [request()], -99.0)
    assert isinstance(spoken, Spoken)
    assert [r.text for r in engine.asked[:3]] == [LONG] * 3
    assert [r.calm for r in engine.asked[:3]] == [1.0, 1.0, attempts.CALM]
    assert " ".join(r.text for r in engine.asked[3:]) == LONG
    assert len(engine.asked) == 5
    assert spoken.checked is not None
    assert spoken.checked.num_attempts == 4
    assert spoken.checked.problems == ("loud",)
    assert spoken.checked.is_split


def test_the_best_attempt_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one in two parts is the quietest here; both parts are in it, and what it says of itself
    is true."""
    (spoken,), _ = run(monkeypatch, [request()], -99.0)
    assert isinstance(spoken, Spoken)
    assert spoken.checked is not None
    assert spoken.checked.is_split
    pcm = decode_flac(spoken.flac)
    assert len(pcm) == spoken.utterance.num_samples
    assert len(spoken.flac) == spoken.utterance.num_bytes
    assert len(pcm) / 24_000 > 0.06 * len(LONG) - 0.8


def test_a_short_text_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    _, engine = run(monkeypatch, [request("Oh no, no.")], -99.0)
    assert [r.text for r in engine.asked] == ["Oh no, no."] * 4


def test_what_the_engine_fails_over_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    (spoken,), _ = run(monkeypatch, [request(f"broken: {LONG}")], 0.0)
    assert isinstance(spoken, Spoken)
    assert spoken.utterance.attempt == 1


def test_each_of_many_gets_one_result_that_depends_on_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests = [request(f"{LONG} {'Again. ' * i}", f"key-{i}", i) for i in range(12)]
    together, _ = run(monkeypatch, requests, -29.0)
    alone = [run(monkeypatch, [one], -29.0)[0][0] for one in requests]
    by_key = {r.utterance.key: r.flac for r in together if isinstance(r, Spoken)}
    assert by_key == {r.utterance.key: r.flac for r in alone if isinstance(r, Spoken)}
    assert len(together) == len(by_key) == 12


def test_what_was_spoken_before_is_only_checked_if_it_is_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (first,), _ = run(monkeypatch, [request()], 0.0)
    assert isinstance(first, Spoken)
    again = replace(request(), spoken=first.flac)
    (spoken,), engine = run(monkeypatch, [again], 0.0)
    assert isinstance(spoken, Spoken)
    assert spoken.flac == first.flac
    assert engine.asked == []
    (repaired,), engine = run(monkeypatch, [again], -26.0)
    assert isinstance(repaired, Spoken)
    assert [r.attempt for r in engine.asked] == [1]
    assert repaired.flac != first.flac


def test_damaged_audio_of_an_earlier_run_is_as_if_it_were_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (first,), _ = run(monkeypatch, [request()], 0.0)
    assert isinstance(first, Spoken)
    rotten = first.flac[:400] + bytes(300) + first.flac[700:]
    (spoken,), engine = run(monkeypatch, [replace(request(), spoken=rotten, attempt=2)], 0.0)
    assert isinstance(spoken, Spoken)
    assert spoken.flac == first.flac
    assert [r.attempt for r in engine.asked] == [0]


def test_what_is_only_checked_comes_as_it_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in the middle of hours of listening loses little, and memory stays flat."""
    monkeypatch.setattr(repair, "find_problems", loud_is_bad(0.0))
    (first,), _ = run(monkeypatch, [request()], 0.0)
    assert isinstance(first, Spoken)
    num_read = 0

    def known() -> Iterator[Request]:
        nonlocal num_read
        for num_read in range(1, 61):
            yield replace(request(key=f"key-{num_read}"), spoken=first.flac)

    results = Repair(Synthesize(QuieterEachTime()), SPEC).run(known())
    next(results)
    assert num_read <= repair.MAX_READY + 1
    assert len(list(results)) == 59


@pytest.mark.parametrize(("most", "asked"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2])])
def test_fewer_attempts_are_the_first_ones(
    most: int, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = CheckSpec(CheckSettings(max_attempts=most), "en")
    _, engine = run(monkeypatch, [request()], -99.0, spec)
    assert [r.attempt for r in engine.asked] == asked
    assert {r.text for r in engine.asked} == {LONG}


def test_more_attempts_go_on_with_other_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = CheckSpec(CheckSettings(max_attempts=6), "en")
    _, engine = run(monkeypatch, [request()], -99.0, spec)
    assert [r.attempt for r in engine.asked] == [0, 1, 2, 3, 3, 4, 5]
    assert len({r.seed for r in engine.asked}) == 7


def test_an_engine_that_always_speaks_alike_is_only_asked_for_two_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = CheckSpec(CheckSettings(), "en", varies=False)
    (spoken,), engine = run(monkeypatch, [request()], -99.0, spec)
    assert isinstance(spoken, Spoken)
    assert " ".join(r.text for r in engine.asked) == f"{LONG} {LONG}"
    assert spoken.checked is not None
    assert spoken.checked.num_attempts == len(spec.attempts(LONG)) == 2
    _, engine = run(monkeypatch, [request("Oh no, no.")], -99.0, spec)
    assert [r.text for r in engine.asked] == ["Oh no, no."]


@pytest.mark.parametrize(
    ("lenient_db", "limit_db"), list(combinations([0.0, -26.0, -32.0, -99.0], 2))
)
def test_a_stricter_check_keeps_what_a_fresh_run_would_keep(
    lenient_db: float, limit_db: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the best attempt of all came before the one that was good enough."""
    (first,), _ = run(monkeypatch, [request()], lenient_db)
    (fresh,), _ = run(monkeypatch, [request()], limit_db)
    assert isinstance(first, Spoken)
    kept = replace(request(), spoken=first.flac, attempt=first.utterance.attempt)
    (again,), _ = run(monkeypatch, [kept], limit_db)
    assert isinstance(again, Spoken)
    assert isinstance(fresh, Spoken)
    assert again.flac == fresh.flac
    assert again.checked == fresh.checked


def test_attempts_that_were_tried_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    (spoken,), engine = run(monkeypatch, [replace(request(), tried=1)], 0.0)
    assert [r.attempt for r in engine.asked] == [1]
    assert isinstance(spoken, Spoken)
    assert spoken.checked is not None
    assert (spoken.checked.attempt, spoken.checked.num_attempts) == (1, 2)


def test_judging_in_threads_gives_what_judging_at_once_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With ears, several utterances are judged while others are spoken."""
    requests = [request(f"{LONG} {'Again. ' * i}", f"key-{i}", i) for i in range(12)]
    calm, _ = run(monkeypatch, requests, -29.0)
    monkeypatch.setattr(repair.Listener, "listens_to", lambda *_: False)
    ears = CheckSpec(CheckSettings(listen="all"), "en")
    found, _ = run(monkeypatch, requests, -29.0, ears)

    def by_key(results: list[Spoken | Failure]) -> dict[str, tuple[bytes, object]]:
        spoken = [result for result in results if isinstance(result, Spoken)]
        return {r.utterance.key: (r.flac, r.checked) for r in spoken}

    assert by_key(found) == by_key(calm)
    assert len(found) == 12
