"""Elements in the middle of a line that are read in a way of their own."""

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.breaks import LINE_BREAK
from pocket_batch.sources.formula import (
    formula_source,
    is_formula_image,
    shifted_digits,
    spoken_math,
)
from pocket_batch.sources.markup import Element
from pocket_batch.sources.pictures import described, drop_cap
from pocket_batch.sources.reasons import ALIASED, MOVED_NOTE, RUBY_BASE, Omission
from pocket_batch.sources.ssml import said_as
from pocket_batch.sources.visible import drawing_labels, split_ruby, visible_text
from pocket_batch.sources.writer import PieceWriter


class InlineReader:
    """Writes the text of such elements, as the settings say."""

    def __init__(
        self,
        out: PieceWriter,
        plan: dict[Element, Omission],
        settings: ReadSettings,
        language: str,
    ) -> None:
        self._out = out
        self._plan = plan
        self._settings = settings
        self._language = language

    def read(self, element: Element, tag: str) -> bool:
        """Write what stands for the begin of an element; True if it is read in whole by that."""
        match tag:
            case "br":
                self._out.add(LINE_BREAK)
            case "q":
                self._out.add("“")
            case "img":
                self._out.add(self._picture(element))
            case "svg":
                self._out.add(f" {self._drawing(element)} ")
                return True
            case "math":
                self._out.add(spoken_math(element, self._language))
                return True
            case "ruby" | "sup" | "sub" | "say-as":
                text = self._special(element, tag)
                self._out.add(text)
                return bool(text)
        return False

    def _special(self, element: Element, tag: str) -> str:
        """The text of an element that may be read in its own way; empty if it is not."""
        if tag == "sub" and (alias := element.get("alias")) and not self._is_silent():
            self._out.take_out(visible_text(element), ALIASED, element.sourceline)
            return str(alias)
        if tag == "ruby":
            return self._ruby(element) if self._settings.ruby == "reading" else ""
        if any(inner in self._plan for inner in element.iterdescendants()):
            return ""
        if tag == "say-as":
            kind = element.get("interpret-as", "").lower()
            return said_as(visible_text(element), kind, self._language)
        return shifted_digits(visible_text(element), is_raised=tag == "sup")

    def _ruby(self, ruby: Element) -> str:
        reading, rest = split_ruby(ruby)
        self._out.take_out(rest if reading else "", RUBY_BASE, ruby.sourceline)
        return reading

    def _drawing(self, svg: Element) -> str:
        is_described = self._settings.alt and not self._is_silent()
        labels = [described(svg) if is_described else "", *drawing_labels(svg)]
        return ", ".join(filter(None, labels))

    def _picture(self, image: Element) -> str:
        if self._is_silent():
            return ""
        if is_formula_image(image):
            return f" {formula_source(image)} "
        letter = drop_cap(image)
        return letter or (f" {described(image)} " if self._settings.alt else "")

    def _is_silent(self) -> bool:
        # What is left out is listed as it is written, without what would be said instead.
        return any(omission is not MOVED_NOTE for omission in self._out.omissions)
