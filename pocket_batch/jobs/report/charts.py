"""Charts as inline SVG, drawn with the colours of the page; each says in words what it shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 18, 12, 34
NUM_COLUMNS = 320  # of a curve: more points than that are drawn as a band
NUM_BINS = 30


@dataclass(frozen=True, slots=True)
class Axis:
    """From which value to which, and where its lines and labels are."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """Where a value lies, 0 to 1, cut off at the ends."""
        return min(1.0, max(0.0, (value - self.low) / max(1e-9, self.high - self.low)))


def time_axis(total_s: float) -> Axis:
    """Seconds, with labels in minutes or hours."""
    steps = (10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 36_000, 86_400)
    step = next((s for s in steps if total_s / s <= 8), 172_800)
    ticks = tuple((float(t), _moment(t, step)) for t in range(0, int(total_s) + 1, step))
    return Axis(0.0, max(total_s, 1.0), ticks)


def value_axis(values: Sequence[float], least_span: float, unit: str = "") -> Axis:
    """A range that holds the values, at least `least_span` wide, with round numbers on it."""
    low, high = min(values), max(values)
    if high - low < least_span:
        middle = (low + high) / 2
        low, high = middle - least_span / 2, middle + least_span / 2
    step = _round_step((high - low) / 4)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    marks = np.arange(low, high + step / 2, step)
    return Axis(low, high, tuple((float(m), f"{_short(float(m))}{unit}") for m in marks))


def line_chart(
    points: Sequence[tuple[float, float]],
    across: Axis,
    up: Axis,
    title: str,
    description: str,
    marks: Sequence[float] = (),
    target: float | None = None,
) -> str:
    """A line of the medians, in a band from the 10th to the 90th percentile where points are many.

    Args:
        points: (across, up), in order.
        across: its axis.
        up: its axis.
        title: what a screen reader says first.
        description: what the chart shows, in a sentence or two.
        marks: thin lines across the chart, such as the beginnings of chapters.
        target: a dashed line.
    """
    columns = _columns(points, across)
    body = [f'<line class="mark" {_upright(across.share(m))}/>' for m in marks]
    if target is not None and up.low <= target <= up.high:
        body.append(f'<line class="target" {_level(up.share(target))}/>')
    if len(points) > len(columns):
        above = [f"{_x(x):.1f},{_y(up.share(high)):.1f}" for x, _, _, high in columns]
        below = [f"{_x(x):.1f},{_y(up.share(low)):.1f}" for x, low, _, _ in reversed(columns)]
        body.append(f'<polygon class="band" points="{" ".join(above + below)}"/>')
    path = " ".join(f"{_x(x):.1f},{_y(up.share(middle)):.1f}" for x, _, middle, _ in columns)
    body.append(f'<polyline class="curve" points="{path}"/>')
    return _chart(body, across, up, title, description)


def histogram(
    values: Sequence[float], title: str, description: str, bounds: tuple[float, float] | None
) -> str:
    """How often each value occurs; `bounds` are dashed lines where they are in sight."""
    low, high = np.percentile(values, (0.5, 99.5))
    across = value_axis((float(low), float(high)), 2.0)
    edges = np.linspace(across.low, across.high, NUM_BINS + 1)
    counts, _ = np.histogram(np.clip(values, across.low, across.high), edges)
    up = Axis(0.0, float(max(1, counts.max())), _count_ticks(int(counts.max())))
    body = []
    for index, count in enumerate(counts):
        if not count:
            continue
        left = _x(across.share(edges[index])) + 0.5
        width = _x(across.share(edges[index + 1])) - left - 0.5
        top = _y(up.share(float(count)))
        label = f"{edges[index]:.1f} to {edges[index + 1]:.1f}: {count}"
        body.append(
            f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{_y(0) - top:.1f}"><title>{label}</title></rect>'
        )
    for bound in bounds or ():
        if across.low < bound < across.high:
            body.append(f'<line class="target" {_upright(across.share(bound))}/>')
    return _chart(body, across, up, title, description)


def waveform(bars: Sequence[float]) -> str:
    """A small outline of an utterance, 0 to 1 each; as wide as its place."""
    top = max((*bars, 0.05))
    parts = []
    for index, bar in enumerate(bars):
        half = max(0.6, 19 * bar / top)
        parts.append(f"M{index * 2 + 1} {20 - half:.1f}V{20 + half:.1f}")
    width = max(2, 2 * len(bars))
    return (
        f'<svg class="wave" viewBox="0 0 {width} 40" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false"><path d="{"".join(parts)}"/></svg>'
    )


def _chart(body: Sequence[str], across: Axis, up: Axis, title: str, description: str) -> str:
    lines = [f'<line class="grid" {_level(up.share(value))}/>' for value, _ in up.ticks]
    lines += [
        f'<text x="{LEFT - 6}" y="{_y(up.share(value)) + 4:.1f}" class="up">{escape(label)}</text>'
        for value, label in up.ticks
    ]
    lines += [
        f'<text x="{_x(across.share(value)):.1f}" y="{HEIGHT - 9}" class="across">'
        f"{escape(label)}</text>"
        for value, label in across.ticks
    ]
    name = f"{escape(title)}. {escape(description)}"
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">'
        f"{''.join((*lines, *body))}</svg>"
    )


def _columns(
    points: Sequence[tuple[float, float]], across: Axis
) -> list[tuple[float, float, float, float]]:
    """(share, 10th percentile, median, 90th percentile) of the points of each column."""
    if not points:
        return []
    shares = np.array([across.share(x) for x, _ in points])
    values = np.array([y for _, y in points])
    if len(points) <= NUM_COLUMNS:
        return [
            (float(s), float(v), float(v), float(v)) for s, v in zip(shares, values, strict=True)
        ]
    numbers = np.minimum((shares * NUM_COLUMNS).astype(int), NUM_COLUMNS - 1)
    found = []
    for number in np.unique(numbers):
        low, middle, high = np.percentile(values[numbers == number], (10, 50, 90))
        found.append(((number + 0.5) / NUM_COLUMNS, float(low), float(middle), float(high)))
    return found


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _upright(share: float) -> str:
    x = _x(share)
    return f'x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'


def _level(share: float) -> str:
    y = _y(share)
    return f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'


def _count_ticks(highest: int) -> tuple[tuple[float, str], ...]:
    step = max(1, round(_round_step(max(1, highest) / 4)))
    return tuple((float(n), f"{n:,}") for n in range(0, highest + 1, step))


def _round_step(rough: float) -> float:
    """`3.2` -> `5`: the next of 1, 2, 5, 10 and so on."""
    power = 10.0 ** np.floor(np.log10(max(rough, 1e-6)))
    return float(next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999))


def _short(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")


def _moment(seconds: int, step: int) -> str:
    """`5400` -> `1 h 30`, `1800` -> `30 min`, `90` of short steps -> `1:30`."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if step < 60:
        return f"{seconds // 60}:{rest:02d}"
    if hours:
        return f"{hours} h {minutes:02d}" if minutes else f"{hours} h"
    return f"{minutes} min" if minutes else "0"
