"""Subtitle files: SubRip (SRT), WebVTT and Advanced SubStation Alpha (ASS)."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.cues import Cue, SpokenLine, TimedUnit, make_cues

JOINER = "\u2060"  # is not seen and has no width; breaks up what would be read as a tag

Render = Callable[[Sequence[Cue], int, str], str]


def write_subtitles(
    target: Path,
    kind: str,
    lines: Sequence[SpokenLine],
    sampling_rate_hz: int,
    title: str = "",
) -> int:
    """Write the subtitles of one audio file; what is there is replaced.

    Args:
        target: the file to make.
        kind: a key of `SUBTITLES`.
        lines: texts with their times from the beginning of the audio file, in order.
        sampling_rate_hz: of those times.
        title: of the book or chapter, where the format has a place for it.

    Returns:
        How many cues it has.

    Raises:
        OutputError: it cannot be written.
    """
    cues = make_cues(lines, sampling_rate_hz)
    write_atomic(target, SUBTITLES[kind](cues, sampling_rate_hz, title).encode("utf-8", "replace"))
    return len(cues)


def srt(cues: Sequence[Cue], sampling_rate_hz: int, title: str = "") -> str:
    """SubRip. It has no escapes: what players would take for tags is broken up invisibly.

    Source: https://www.matroska.org/technical/subtitles.html (SRT)
    """
    blocks: list[str] = []
    for begin_ms, end_ms, cue in _rounded(cues, sampling_rate_hz, 1000):
        time = f"{_clock(begin_ms, ',')} --> {_clock(end_ms, ',')}"
        text = "\n".join(_broken_up(line) for line in cue.texts)
        blocks.append(f"{len(blocks) + 1}\n{time}\n{text}\n")
    return "\n".join(blocks)


def _broken_up(text: str) -> str:
    """`<i>` -> `<`, joiner, `i>`; likewise what begins a style of ASS, and an arrow."""
    for begin in ("<", "{"):
        text = text.replace(begin, begin + JOINER)
    return text.replace("-->", f"--{JOINER}>")


def vtt(cues: Sequence[Cue], sampling_rate_hz: int, title: str = "") -> str:
    """WebVTT, with a time stamp before each word where the times of words are known.

    Source: https://www.w3.org/TR/webvtt1/
    """
    blocks = ["WEBVTT\n"]
    for begin_ms, end_ms, cue in _rounded(cues, sampling_rate_hz, 1000):
        time = f"{_clock(begin_ms, '.')} --> {_clock(end_ms, '.')}"
        last_ms = begin_ms
        lines = []
        for line in cue.lines:
            text = ""
            for index, unit in enumerate(line):
                at_ms = _round(unit.begin, sampling_rate_hz, 1000)
                is_stamped = cue.has_words and last_ms < at_ms < end_ms
                text += " " * (unit.has_space and index > 0)
                text += f"<{_clock(at_ms, '.')}>" * is_stamped + _escaped(unit.text)
                last_ms = at_ms if is_stamped else last_ms
            lines.append(text)
        blocks.append(f"{time}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_ASS_HEAD = """[Script Info]
Title: {title}
ScriptType: v4.00+
WrapStyle: 2
ScaledBorderAndShadow: yes
PlayResX: 1280
PlayResY: 720

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, \
Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, \
Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,48,&H00FFFFFF,&H00B0B0B0,&H00000000,&H80000000,\
0,0,0,0,100,100,0,0,1,2,1,2,40,40,40,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def ass(cues: Sequence[Cue], sampling_rate_hz: int, title: str = "") -> str:
    """Advanced SubStation Alpha, with karaoke where the times of words are known.

    Source: libass, `ass_parse.c`: a backslash before a brace makes it a character.
    """
    events = []
    for begin_cs, end_cs, cue in _rounded(cues, sampling_rate_hz, 100):
        texts = [_ass_line(line) for line in cue.lines]
        if cue.has_words:
            texts = _karaoke(cue, begin_cs, end_cs, sampling_rate_hz)
        time = f"{_clock(begin_cs, '.', 100)},{_clock(end_cs, '.', 100)}"
        events.append(f"Dialogue: 0,{time},Default,,0,0,0,," + r"\N".join(texts))
    head = _ASS_HEAD.format(title=" ".join(title.split()))
    return head + "".join(f"{event}\n" for event in events)


def _karaoke(cue: Cue, begin_cs: int, end_cs: int, rate_hz: int) -> list[str]:
    """Each word after how long it is sung, in hundredths."""
    units = [unit for line in cue.lines for unit in line]
    begins = [min(max(_round(unit.begin, rate_hz, 100), begin_cs), end_cs) for unit in units]
    lengths = iter([b - a for a, b in zip(begins, [*begins[1:], end_cs], strict=True)])
    return [_ass_line(line, [f"{{\\kf{next(lengths)}}}" for _ in line]) for line in cue.lines]


def _ass_line(line: Sequence[TimedUnit], tags: Sequence[str] = ()) -> str:
    marks = tags or [""] * len(line)
    return "".join(
        " " * (unit.has_space and index > 0) + mark + _safe(unit.text)
        for index, (unit, mark) in enumerate(zip(line, marks, strict=True))
    )


def _safe(text: str) -> str:
    """`{` -> `\\{`, and a backslash that is no escape."""
    text = text.replace("\\", f"\\{JOINER}")
    return text.replace("{", r"\{").replace("}", r"\}")


def _rounded(cues: Sequence[Cue], rate_hz: int, per_second: int) -> list[tuple[int, int, Cue]]:
    """Begin and end in units of a format; what would be over as it begins is left out."""
    found = [
        (_round(cue.begin, rate_hz, per_second), _round(cue.end, rate_hz, per_second), cue)
        for cue in cues
    ]
    return [(begin, end, cue) for begin, end, cue in found if end > begin]


def _round(num_samples: int, rate_hz: int, per_second: int) -> int:
    """Samples -> units of a format, to the nearest; the same for an end and the next begin."""
    return (2 * num_samples * per_second + rate_hz) // (2 * rate_hz)


def _clock(time: int, point: str, per_second: int = 1000) -> str:
    """`3723004` ms -> `01:02:03.004`; hundredths are written `1:02:03.00`."""
    seconds, rest = divmod(time, per_second)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    if per_second == 100:
        return f"{hours}:{minute:02d}:{second:02d}{point}{rest:02d}"
    return f"{hours:02d}:{minute:02d}:{second:02d}{point}{rest:03d}"


SUBTITLES: dict[str, Render] = {"srt": srt, "vtt": vtt, "ass": ass}
