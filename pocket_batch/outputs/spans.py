"""Wraps stretches of a document's text in `span` elements, and leaves all else as it is."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pocket_batch.sources.elements import BLOCKS
from pocket_batch.sources.markup import Element, local_name
from pocket_batch.sources.visible import is_invisible
from pocket_batch.text.align import Range

# Their text is drawn, or is not the book's; nothing inside is wrapped.
CLOSED = frozenset(
    "svg math select textarea button object audio video iframe canvas map rt rp rtc option".split()
)
# A span may not stand in these themselves, but in what they hold.
NO_SPAN = frozenset(
    "html head ul ol dl menu dir table thead tbody tfoot tr colgroup hgroup optgroup ruby "
    "datalist picture".split()
)
MAX_SILENT = 12  # letters in the middle of a sentence that nobody speaks, such as a note mark
FREE, BARRIER = -1, -2  # may stand in a span of any stretch; stands in none


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A span that was made: its id, the stretch that it belongs to, and how many letters it has."""

    id: str
    stretch: int
    num_letters: int


@dataclass(slots=True)
class _Atom:
    """A part of an element's content: characters, or a child."""

    owner: int
    text: str = ""
    child: Element | None = None


@dataclass(slots=True)
class DocumentText:
    """The text of a document as its reader sees it, and where each part of it stands."""

    root: Element
    text: str = ""
    _starts: dict[tuple[Any, bool], int] = field(default_factory=dict)  # of text and of tails
    _ends: dict[Any, int] = field(default_factory=dict)  # of the insides of elements

    @classmethod
    def of(cls, root: Element) -> "DocumentText":
        """Collect the text of the body."""
        found = cls(root)
        parts: list[str] = []
        body = next((e for e in root.iter() if local_name(e) == "body"), root)
        found._collect(body, parts, 0)
        found.text = "".join(parts)
        return found

    def _collect(self, body: Element, parts: list[str], at: int) -> None:
        # without recursion, since documents nest deep
        waiting: list[tuple[str, Any]] = [("begin", body)]

        def put(text: str) -> None:
            nonlocal at
            parts.append(text)
            at += len(text)

        while waiting:
            event, node = waiting.pop()
            name = local_name(node)
            if event == "tail":
                self._starts[node, True] = at
                put(node.tail or "")
                continue
            if event == "end":
                self._ends[node] = at
                put("\n" * (name in BLOCKS))
                continue
            put("\n" * (name in BLOCKS or name == "br"))
            self._starts[node, False] = at
            if not name or name in CLOSED or is_invisible(node, name):
                self._ends[node] = at
                continue
            put(node.text or "")
            waiting.append(("end", node))
            for child in reversed(node):
                waiting += [("tail", child), ("begin", child)]

    def wrap(
        self,
        stretches: Sequence[tuple[int, Range]],
        prefix: str,
        silent: Collection[int] = frozenset(),
    ) -> list[Wrapped]:
        """Put spans around stretches of the text, and change the tree.

        A stretch that crosses elements gets several spans.

        Args:
            stretches: their numbers and places, in order; they do not overlap.
            prefix: of the ids.
            silent: stretches that get no spans; those of others never reach into them.
        """
        numbers = [BARRIER] * len(self.text)
        for number, (begin, end) in stretches:
            numbers[begin:end] = [number] * (end - begin)
        wrapper = _Wrapper(self, numbers, _free_prefix(self.root, prefix), silent)
        body = next((e for e in self.root.iter() if local_name(e) == "body"), self.root)
        wrapper.run(body)
        return wrapper.made

    def start(self, node: Element, is_tail: bool) -> int:
        """Where the text of a node, or what follows it, begins."""
        return self._starts[node, is_tail]

    def end(self, node: Element) -> int:
        """Where the inside of an element ends."""
        return self._ends[node]


class _Wrapper:
    """Goes through a tree once; `made` collects the spans in the order of the text."""

    def __init__(
        self, document: DocumentText, numbers: list[int], prefix: str, silent: Collection[int]
    ) -> None:
        self._document = document
        self._numbers = numbers
        self._prefix = prefix
        self._unmarked = {BARRIER, *silent}
        self.made: list[Wrapped] = []

    def run(self, body: Element) -> None:
        """Wrap what is inside an element."""
        waiting = [body]
        while waiting:
            element = waiting.pop()
            atoms = self._atoms(element)
            inside = [atom.child for atom in atoms if self._is_open(atom)]
            if local_name(element) not in NO_SPAN:
                self._rebuild(element, list(_grouped(atoms)))
            waiting += reversed(inside)
        places = {wrapped.id: i for i, wrapped in enumerate(self.made)}
        order = [e.get("id") for e in body.iter() if e.get("id") in places]
        self.made = [self.made[places[name]] for name in order]

    def _is_open(self, atom: _Atom) -> bool:
        child = atom.child
        if child is None or atom.owner != BARRIER:
            return False
        name = local_name(child)
        return bool(name) and name not in CLOSED and not is_invisible(child, name)

    def _atoms(self, element: Element) -> list[_Atom]:
        start = self._document.start(element, False)
        atoms = self._texts(element.text or "", start)
        for child in element:
            atoms.append(_Atom(self._owner(child), child=child))
            atoms += self._texts(child.tail or "", self._document.start(child, True))
        return atoms

    def _texts(self, text: str, start: int) -> list[_Atom]:
        """Cut characters where the stretch changes; white space may stand in any."""
        atoms: list[_Atom] = []
        for offset, character in enumerate(text):
            number = self._numbers[start + offset]
            if number == BARRIER and character.isspace():
                number = FREE
            if atoms and atoms[-1].owner == number:
                atoms[-1].text += character
            else:
                atoms.append(_Atom(number, character))
        return atoms

    def _owner(self, child: Element) -> int:
        """The only stretch that has text inside a child; whether it may stand in a span at all."""
        name = local_name(child)
        if not name:
            return FREE
        if name in BLOCKS or any(local_name(e) in BLOCKS for e in child.iterdescendants()):
            return BARRIER
        begin, end = self._document.start(child, False), self._document.end(child)
        text = self._document.text
        inside = [self._numbers[i] for i in range(begin, end) if not text[i].isspace()]
        owners = {number for number in inside if number != BARRIER}
        if name == "ruby" and owners:
            return min(owners)
        if len(owners) > 1 or inside.count(BARRIER) > MAX_SILENT:
            return BARRIER
        return owners.pop() if owners else FREE

    def _rebuild(self, element: Element, groups: list[tuple[int, list[_Atom]]]) -> None:
        if all(number in self._unmarked for number, _ in groups):
            return
        for child in list(element):
            child.tail = None
            element.remove(child)
        element.text = None
        for number, atoms in groups:
            target = element
            if number not in self._unmarked:
                target = element.makeelement(_span_tag(element))
                target.set("id", f"{self._prefix}{len(self.made) + 1}")
                element.append(target)
            for atom in atoms:
                _put(target, atom)
            if number not in self._unmarked:
                letters = "".join(target.itertext())
                num = sum(not c.isspace() for c in letters)
                self.made.append(Wrapped(target.get("id"), number, num))


def _grouped(atoms: Sequence[_Atom]) -> Iterator[tuple[int, list[_Atom]]]:
    """Runs of one stretch, with what is free between its parts; all else as BARRIER."""
    index = 0
    while index < len(atoms):
        owner = atoms[index].owner
        end = index + 1
        if owner >= 0:
            for place in range(index + 1, len(atoms)):
                if atoms[place].owner == owner:
                    end = place + 1
                elif atoms[place].owner != FREE:
                    break
        yield owner if owner >= 0 else BARRIER, list(atoms[index:end])
        index = end


def _put(parent: Element, atom: _Atom) -> None:
    if atom.child is not None:
        parent.append(atom.child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + atom.text
    else:
        parent.text = (parent.text or "") + atom.text


def _span_tag(element: Element) -> str:
    namespace = element.tag.rpartition("}")[0]
    return f"{namespace}}}span" if namespace else "span"


def _free_prefix(root: Element, prefix: str) -> str:
    """A prefix that no id of the document has."""
    ids = {str(e.get("id")) for e in root.iter() if e.get("id")}
    while any(name.startswith(prefix) for name in ids):
        prefix += "x"
    return prefix
