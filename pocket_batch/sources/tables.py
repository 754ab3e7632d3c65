"""Tables: which rows are data, and the names of columns that are said before their cells."""

import re

from pocket_batch.sources.elements import HEADINGS
from pocket_batch.sources.markup import Element, fold, local_name, semantic_types, text_of

CELL = "\x1f"  # between the cells of a row; a character that XML cannot hold
CELLS = frozenset({"td", "th"})
ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
LAYOUT = HEADINGS | {"table", "section", "article", "nav", "aside"}  # never inside a data table
MAX_SPOKEN_ROW = 1_000  # characters; a longer table row lays out text, it is no data
MIN_NAMED_COLUMNS = 3
MAX_COLUMN_NAME = 40  # characters; longer ones would be heard again and again
# "z3998:persona" -> matches: a play set as a table is prose
PROSE = re.compile(r"z3998:(?:persona|verse|poem|drama|dialogue|scene|letter)")


def is_data_row(row: Element) -> bool:
    """Whether a table row is one thing to say, and not the frame of a page laid out in cells."""
    num_paragraphs = 0
    for element in row.iter():
        tag = local_name(element)
        if tag in HEADINGS or tag == "table":
            return False
        num_paragraphs += tag == "p"
    num_cells = sum(local_name(cell) in CELLS for cell in row)
    is_short = len(text_of(row)) <= MAX_SPOKEN_ROW or num_cells > 1
    return is_short and num_paragraphs <= num_cells


def is_data_table(table: Element) -> bool:
    """Whether a table holds data, and not a page, a play or a poem laid out in cells."""
    if {"presentation", "none"} & set(table.get("role", "").split()):
        return False
    for element in table.iterdescendants():
        tag = local_name(element)
        if tag in LAYOUT or (tag == "tr" and len(text_of(element)) > MAX_SPOKEN_ROW):
            return False
        if element.attrib and any(map(PROSE.match, semantic_types(element))):
            return False
    return True


def column_names(table: Element) -> list[str]:
    """The names in the header row of a table, for each column; empty without a real one.

    A real header row is the first of its table, of `th` cells alone or inside `thead`, followed by
    at least one row of data. With two columns the cells explain themselves.
    """
    rows = _rows(table)
    if len(rows) < 2 or (table.get("role") or "") in ("presentation", "none"):
        return []
    cells = [cell for cell in rows[0] if local_name(cell) in CELLS]
    is_header = local_name(rows[0].getparent()) == "thead" or (
        all(local_name(cell) == "th" for cell in cells)
        and any(local_name(cell) == "td" for cell in rows[1])
    )
    if any(cell.get("rowspan", "1") != "1" for row in rows for cell in row):
        return []  # the cells of the rows below stand in other columns
    names: list[str] = []
    for cell in cells:
        name = text_of(cell).rstrip(":")
        if len(name) > MAX_COLUMN_NAME:
            return []
        names += [name] * num_columns(cell)
    return names if is_header and len(names) >= MIN_NAMED_COLUMNS else []


def num_columns(cell: Element) -> int:
    """How many columns a cell covers."""
    span = cell.get("colspan", "1").strip()
    return min(int(span), 1_000) if span.isascii() and span.isdecimal() and int(span) else 1


def joined_cells(line: str) -> str:
    """ "Monday<cell>12" -> "Monday, 12"; no comma where a cell ends with punctuation."""
    if CELL not in line:
        return fold(line)
    joined = ""
    for cell in filter(None, map(fold, line.split(CELL))):
        glue = "" if not joined else " " if joined[-1] in ".,:;!?…" else ", "
        joined += glue + cell
    return joined


def _rows(table: Element) -> list[Element]:
    rows = []
    for child in table:
        if local_name(child) == "tr":
            rows.append(child)
        elif local_name(child) in ROW_GROUPS:
            rows.extend(row for row in child if local_name(row) == "tr")
    return rows
