"""The numbers that a reading system shows before the items of an ordered list."""

from dataclasses import dataclass

from pocket_batch.sources.markup import Element, local_name

ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass(slots=True)
class _List:
    is_ordered: bool
    number: int
    step: int
    style: str


class Numbering:
    """Follows lists while a document is walked, and gives each item its label once."""

    def __init__(self) -> None:
        self._lists: list[_List] = []
        self._label = ""

    def enter(self, element: Element, tag: str) -> None:
        """Enter a block element; only lists and their items matter."""
        if tag in ("ol", "ul", "menu"):
            self._lists.append(_new_list(element, tag))
        elif tag == "li":
            self._label = ""
            if self._lists and self._lists[-1].is_ordered:
                current = self._lists[-1]
                number = _integer(element.get("value"), current.number)
                self._label = _label(number, current.style)
                current.number = number + current.step

    def leave(self, tag: str) -> None:
        """Leave a block element; the label of an item without text is dropped."""
        if tag in ("ol", "ul", "menu") and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._label = ""

    def take_label(self, text: str) -> str:
        """The label of the item that begins with `text`, such as "3. "; empty if it had it."""
        label, self._label = self._label, ""
        number = label.strip(" .")
        is_written = label and text.startswith((f"{number}.", f"{number})", f"({number})"))
        return "" if is_written else label


def _new_list(element: Element, tag: str) -> _List:
    style = element.get("type", "1")
    if "list-style" in element.get("style", "") and "none" in element.get("style", ""):
        tag = "ul"
    if element.get("reversed") is None:
        return _List(tag == "ol", _integer(element.get("start"), 1), 1, style)
    num_items = sum(local_name(child) == "li" for child in element)
    return _List(tag == "ol", _integer(element.get("start"), num_items), -1, style)


def _integer(text: str | None, default: int) -> int:
    try:
        return int(text) if text is not None and len(text) < 10 else default
    except ValueError:
        return default


def _label(number: int, style: str) -> str:
    if style in "aA" and 1 <= number <= 26:
        letter = chr(ord("a") + number - 1)
        return f"{letter.upper() if style == 'A' else letter}. "
    if style in "iI" and 1 <= number <= 3999:
        roman = ""
        for value, digits in ROMAN:
            roman += digits * (number // value)
            number %= value
        return f"{roman.upper() if style == 'I' else roman}. "
    return f"{number}. "
