"""Tables of contents that no markup declares: elements that are mostly links into the book."""

from collections.abc import Iterator
from itertools import islice

from pocket_batch.sources.elements import HEADINGS
from pocket_batch.sources.markup import Element, local_name, text_of

LISTS = frozenset({"ol", "ul", "table", "dl"})
ENTRIES = frozenset({"li", "tr", "dt"})
CONTAINERS = LISTS | {"p", "div", "nav", "section", "blockquote"}
MIN_CONTENTS_LINKS = 3
MAX_CONTENTS_DEPTH = 12  # levels between a link and the table of contents around it
MAX_WORK = 20_000_000  # characters looked at in one document; no real book nests so many links
MAX_CONTENTS_ENTRY = 120  # characters of one line of a table of contents


def contents_by_links(links: list[Element]) -> Iterator[Element]:
    """The outermost elements that are mostly links into the book, at least three of them."""
    counts: dict[Element, int] = {}
    for link in links:
        for parent in islice(link.iterancestors(), MAX_CONTENTS_DEPTH):
            counts[parent] = counts.get(parent, 0) + 1
    linked = set(links)
    chosen: set[Element] = set()
    work = MAX_WORK
    for element in sorted(
        (e for e, num_links in counts.items() if num_links >= MIN_CONTENTS_LINKS),
        key=lambda e: sum(1 for _ in e.iterancestors()),
    ):
        if any(parent in chosen for parent in element.iterancestors()):
            continue
        if local_name(element) not in CONTAINERS:
            continue
        work -= len(text_of(element))
        if work < 0:
            return
        if _is_contents(element, linked):
            chosen.add(element)
            yield element


def _is_contents(element: Element, links: set[Element]) -> bool:
    if any(local_name(e) in HEADINGS for e in element.iter()):
        return False  # the heading may be the title of the book; its table is inside
    if local_name(element) in LISTS:
        entries = [e for e in element.iter() if local_name(e) in ENTRIES]
        linked = [e for e in entries if any(link in links for link in e.iter())]
        length = len(text_of(element))
        if len(linked) >= max(MIN_CONTENTS_LINKS, 0.8 * len(entries)):
            return length <= MAX_CONTENTS_ENTRY * len(entries)
    num_linked = sum(len(text_of(e)) for e in element.iter() if e in links)
    return num_linked >= 0.7 * len(text_of(element))
