"""Media overlays: which clip of which audio file is heard with which element of a document.

Source: EPUB 3.3, chapter 9, https://www.w3.org/TR/epub-33/#sec-media-overlays
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from pocket_batch.outputs.spans import Wrapped
from pocket_batch.sources.markup import EPUB_NAMESPACE

SMIL = "http://www.w3.org/ns/SMIL"


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance: its chapter, its text, and when it is heard, samples from the chapter's begin.

    `end` is that of its speech, the pause after it left out; `begin` where nothing came of it.
    """

    chapter: int
    text: str
    begin: int
    end: int

    @property
    def is_heard(self) -> bool:
        """Whether there is speech of it."""
        return self.end > self.begin


@dataclass(frozen=True, slots=True)
class Clip:
    """A stretch of the audio of a chapter, in milliseconds, and the element that it belongs to."""

    document: str
    id: str
    chapter: int
    begin_ms: int
    end_ms: int


def make_clips(
    wrapped: Mapping[str, Sequence[Wrapped]],
    said: Sequence[Said],
    num_samples: Mapping[int, int],
    sampling_rate_hz: int,
) -> list[Clip]:
    """Cut the audio of all chapters into clips, in the order in which they are heard.

    Each goes on until the next begins, so pauses and utterances without a place in the text are
    heard, too. An utterance with several elements is divided by their letters.

    Args:
        wrapped: the elements of each document, in order; `stretch` is an index into `said`.
        said: all utterances, in order.
        num_samples: of each chapter.
        sampling_rate_hz: of all samples.
    """
    places: dict[int, list[tuple[str, Wrapped]]] = {}
    for document, spans in wrapped.items():
        for span in spans:
            places.setdefault(span.stretch, []).append((document, span))
    clips: list[Clip] = []
    for chapter, length in num_samples.items():
        heard = [i for i in sorted(places) if said[i].chapter == chapter]
        begins = [(b, d, s) for i in heard for b, d, s in _divided(said[i], places[i])]
        times = [0, *(_ms(b, sampling_rate_hz) for b, _, _ in begins[1:])]
        times.append(length * 1000 // sampling_rate_hz)
        clips += [
            Clip(document, span.id, chapter, times[i], times[i + 1])
            for i, (_, document, span) in enumerate(begins)
        ]
    return [clip for clip in clips if clip.end_ms > clip.begin_ms]


def _ms(num_samples: int, rate_hz: int) -> int:
    return num_samples * 1000 // rate_hz


def _divided(
    said: Said, places: Sequence[tuple[str, Wrapped]]
) -> Iterable[tuple[int, str, Wrapped]]:
    """When each element of an utterance begins to be heard, in samples."""
    total = max(1, sum(span.num_letters for _, span in places))
    letters = 0
    for document, span in places:
        yield said.begin + (said.end - said.begin) * letters // total, document, span
        letters += span.num_letters


def smil(clips: Sequence[Clip], text: str, audio: Mapping[int, str]) -> bytes:
    """The overlay document of one text document.

    Args:
        clips: those of the document, in order.
        text: where it is, as seen from the overlay.
        audio: likewise the audio file of each chapter.
    """
    root = etree.Element(
        f"{{{SMIL}}}smil", {"version": "3.0"}, nsmap={None: SMIL, "epub": EPUB_NAMESPACE}
    )
    body = etree.SubElement(root, f"{{{SMIL}}}body")
    for number, clip in enumerate(clips, 1):
        par = etree.SubElement(body, f"{{{SMIL}}}par", {"id": f"par{number}"})
        etree.SubElement(par, f"{{{SMIL}}}text", {"src": f"{text}#{clip.id}"})
        times = {"clipBegin": clock(clip.begin_ms), "clipEnd": clock(clip.end_ms)}
        etree.SubElement(par, f"{{{SMIL}}}audio", {"src": audio[clip.chapter], **times})
    made = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    return bytes(made)


def clock(time_ms: int) -> str:
    """`3723004` -> `1:02:03.004`."""
    seconds, ms = divmod(time_ms, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}.{ms:03d}"
