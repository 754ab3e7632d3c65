"""A measurement in tables to read, in Markdown for `docs/performance.md`, and in JSON."""

import statistics
from dataclasses import asdict
from typing import Any

from pocket_batch.jobs.bench.measure import Measurement, SideResult, cpu_ratios, ratios
from pocket_batch.jobs.bench.sides import added

MB = 1_000_000

Table = list[list[str]]  # rows of cells, the first is the head


def spread(values: list[float]) -> dict[str, float]:
    """Median, smallest and largest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def as_dict(found: Measurement) -> dict[str, Any]:
    """Everything, in plain types."""
    plan = asdict(found.plan)
    plan["texts"] = plan["texts"] and str(plan["texts"])
    return {
        "machine": found.machine,
        "plan": plan,
        "made_up_model": found.is_made_up,
        "audio_s": found.num_frames / found.frame_rate,
        "sides": [_side(found, side) for side in found.sides],
    }


def as_text(found: Measurement, memory: bool = False) -> str:
    """For a terminal: what ran where, then tables with columns in line."""
    tables = [f"{heading}:\n{aligned(table)}" for heading, table in _tables(found, memory)]
    return "\n\n".join([_about(found), *tables, *_remarks(found)])


def as_markdown(found: Measurement, memory: bool = False) -> str:
    """The same, to be pasted into `docs/performance.md`."""
    title = f"### {found.machine['date']}, {found.machine['commit']}"
    parts = [title, _about(found)]
    for heading, table in _tables(found, memory):
        head, *rows = table
        lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
        parts += [f"{heading}:", "\n".join(lines)]
    return "\n\n".join(parts)


def aligned(table: Table) -> str:
    """Columns of one width, the first to the left and the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for first, *others in table:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _about(found: Measurement) -> str:
    """Two sentences: the work, and the machine."""
    plan, machine = found.plan, found.machine
    audio_s = found.num_frames / found.frame_rate
    like = plan.texts.name if plan.texts else "books"
    texts = f"texts as long as those of {like}"
    kind = "a random checkpoint of the size of" if found.is_made_up else "the model"
    slots = next((side.num_slots for side in found.sides if not side.is_reference), 0)
    work = (
        f"{plan.num_utterances:,} {texts}, {audio_s:,.0f} s of audio, lengths forced; {kind} "
        f"{plan.model}; lanes x rows {plan.lanes} x {slots}; alternations: {plan.repeats}; "
        f"{'median' if plan.repeats == 1 else 'median (smallest to largest)'}."
    )
    where = (
        f"{machine['processor']} ({machine['instructions']}), {machine['cores']} cores, load "
        f"{machine['load before']} before; Python {machine['python']}, torch {machine['torch']}, "
        f"pocket-tts {machine['pocket-tts']}; {machine['date']}, {machine['commit']}."
    )
    return f"{work}\n{where}"


def _remarks(found: Measurement) -> list[str]:
    """What to know before the figures are believed."""
    ours = [side for side in found.sides if not side.is_reference]
    enough = max((2 * found.plan.lanes * side.num_slots for side in ours), default=0)
    is_thin = any(rows_in_a_step(side) < side.num_slots / 2 for side in ours)
    if not is_thin or found.plan.num_utterances >= enough:
        return []
    return [f"Too few utterances to fill the batch; {enough} or more tell more."]


def _tables(found: Measurement, memory: bool) -> list[tuple[str, Table]]:
    """Each with its heading."""
    ours = [side for side in found.sides if not side.is_reference]
    frame_ms = 1000 / found.frame_rate
    tables = [
        ("Speed, in seconds of audio a second", _speed(found)),
        (f"Milliseconds of processor time a frame of {frame_ms:.0f} ms", _parts(ours)),
        ("A process, its memory in MB", _processes(found.sides)),
    ]
    if memory:
        tables.append(("Resident memory in MB after so much of the texts", _memory(ours)))
    return tables


def _speed(found: Measurement) -> Table:
    references = [side for side in found.sides if side.is_reference]
    table = [["", "x real time", "a CPU second", *(f"ratio to {r.name}" for r in references)]]
    for side in found.sides:
        cells = [_shown(side.x_realtime), _shown(side.x_realtime_cpu)]
        cells += ["" if side.is_reference else _shown(ratios(side, r)) for r in references]
        table.append([side.name, *cells])
    return table


def _parts(ours: list[SideResult]) -> Table:
    """One row a part, one column a precision."""
    all_parts = [frame_parts_ms(side) for side in ours]
    names = list(dict.fromkeys(name for parts in all_parts for name in parts))
    rows = [
        [name, *(f"{parts[name]:.2f}" if name in parts else "" for parts in all_parts)]
        for name in names
    ]
    return [["part", *(side.name for side in ours)], *rows]


def frame_parts_ms(side: SideResult) -> dict[str, float]:
    """Milliseconds of processor time of each part for a frame, and what no part counted."""
    num_frames = sum(spoken.num_frames for spoken in side.passes)
    if not num_frames:
        return {}
    counted: dict[str, float] = {}
    for spoken in side.passes:
        counted = added(counted, spoken.parts_s)
    total_s = sum(spoken.cpu_s for spoken in side.passes)
    parts = {**counted, "outside steps": total_s - sum(counted.values()), "all": total_s}
    return {name: 1000 * seconds / num_frames for name, seconds in parts.items()}


def rows_in_a_step(side: SideResult) -> float:
    """How many of the slots of a lane speak, on average; 1 for the reference."""
    num_steps = sum(spoken.num_steps for spoken in side.passes)
    return sum(spoken.num_frames for spoken in side.passes) / num_steps if num_steps else 1.0


def _processes(sides: list[SideResult]) -> Table:
    table = [["", "loads in s", "rows in a step", "MB loaded", "MB after use", "MB at most"]]
    for side in sides:
        occupancy = f"{rows_in_a_step(side):.1f} of {side.num_slots}"
        sizes = (side.loaded_bytes, side.passes[-1].memory_bytes[-1], side.peak_bytes)
        cells = [f"{side.load_s:.1f}", occupancy, *(f"{size / MB:,.0f}" for size in sizes)]
        table.append([side.name, *cells])
    return table


def _memory(ours: list[SideResult]) -> Table:
    width = max(len(spoken.memory_bytes) for side in ours for spoken in side.passes)
    head = ["", *(f"{100 * n // max(1, width - 1)} %" for n in range(width))]
    table = [head]
    for side in ours:
        for number, spoken in enumerate(side.passes, 1):
            cells = [f"{size / MB:,.0f}" for size in spoken.memory_bytes]
            table.append([f"{side.name}, {number}", *cells, *[""] * (width - len(cells))])
    return table


def _shown(values: list[float]) -> str:
    """`11.3 (10.9 to 11.8)`, with a digit more below ten; `11.3` of one value."""
    found = spread(values)
    digits = 1 if found["median"] >= 10 else 2
    median, low, high = (f"{found[key]:.{digits}f}" for key in ("median", "min", "max"))
    return f"{median} ({low} to {high})" if len(values) > 1 else median


def _side(found: Measurement, side: SideResult) -> dict[str, Any]:
    references = [] if side.is_reference else [r for r in found.sides if r.is_reference]
    return {
        **asdict(side),
        "x_realtime": spread(side.x_realtime),
        "x_realtime_cpu": spread(side.x_realtime_cpu),
        "ratio_to": {r.name: spread(ratios(side, r)) for r in references},
        "cpu_ratio_to": {r.name: spread(cpu_ratios(side, r)) for r in references},
        "frame_parts_ms": frame_parts_ms(side),
        "rows_in_a_step": rows_in_a_step(side),
    }
