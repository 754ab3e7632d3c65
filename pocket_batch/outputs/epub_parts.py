"""The parts of an EPUB that are taken over into another: files, metadata, spine, contents."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.container import package_paths
from pocket_batch.sources.markup import Element, attribute, local_name, text_of
from pocket_batch.sources.package import Item, Package, read_package
from pocket_batch.sources.reading_order import with_spine
from pocket_batch.sources.toc import Navigation, read_navigation

XML = "http://www.w3.org/XML/1998/namespace"
_DC_NAMES = frozenset(
    "contributor coverage creator date description format identifier language publisher relation "
    "rights source subject title type".split()
)
_REFINING = {"role": "marc:relators", "file-as": ""}  # attributes of EPUB 2, with their scheme


@dataclass(frozen=True, slots=True)
class Fact:
    """An element of the metadata; `name` is that of Dublin Core, `meta` or `link`."""

    name: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)


def open_package(archive: Archive, documents: set[str]) -> tuple[Package, Navigation]:
    """The package document whose text was read, and its tables of contents.

    Args:
        documents: the members that the text is from.

    Raises:
        InputError: none of them holds these documents.
    """
    for name in package_paths(archive):
        try:
            package = read_package(archive, name)
            navigation = read_navigation(archive, package)
            package = with_spine(archive, package, navigation)
        except InputError:
            continue
        if documents <= {entry.item.name for entry in (*package.spine, *package.extras)}:
            return package, navigation
    raise InputError(
        f"{archive.path.name}: its package document names other files than those that were read, "
        "so no read-along book can be made of it. Repair the EPUB first."
    )


def is_epub3(package: Package) -> bool:
    """Whether the package says that it is one."""
    return package.root is not None and package.root.get("version", "").strip().startswith("3")


def facts_of(package: Package) -> list[Fact]:
    """The metadata, as EPUB 3 has it; without what is said of recorded speech."""
    elements = package.root.iter() if package.root is not None else ()
    metadata = next((e for e in elements if local_name(e) == "metadata"), None)
    if metadata is None:
        return []
    made = list(_facts(metadata, is_epub3(package)))
    dates = [fact for fact in made if fact.name == "date"]
    kept = next((f for f in dates if f.attributes.get("event", "") in ("", "publication")), None)
    ids = {fact.attributes.get("id", "") for fact in made}
    return [
        Fact(f.name, f.text, {k: v for k, v in f.attributes.items() if k != "event"})
        for f in made
        if (f.name != "date" or f is (kept or dates[0]))
        and f.attributes.get("refines", "#").lstrip("#") in ids | {""}
    ]


def _facts(metadata: Element, is_modern: bool) -> Iterator[Fact]:
    number = 0
    for element in metadata.iter():
        name = local_name(element)
        if name in _DC_NAMES and text_of(element):
            number += 1
            yield from _core(element, name, f"{name}-{number}x", is_modern)
        elif name == "meta" and element.get("name") and element.get("content") is not None:
            yield Fact("meta", "", {k: element.get(k) for k in ("name", "content")})
        elif name == "meta" and element.get("property") and text_of(element):
            if not element.get("property").startswith(("media:", "dcterms:modified")):
                yield Fact("meta", text_of(element), dict(element.attrib))
        elif name == "link" and is_modern:
            yield Fact("link", "", dict(element.attrib))


def _core(element: Element, name: str, new_id: str, is_modern: bool) -> Iterator[Fact]:
    attributes = {k: v for k, v in element.attrib.items() if _is_kept(k)}
    if is_modern:
        yield Fact(name, text_of(element), attributes)
        return
    refining = {k: attribute(element, k).strip() for k in _REFINING if attribute(element, k)}
    if refining:
        attributes.setdefault("id", new_id)
    if event := attribute(element, "event"):
        attributes["event"] = event
    yield Fact(name, text_of(element), attributes)
    for prop, value in refining.items():
        scheme = {"scheme": _REFINING[prop]} if _REFINING[prop] else {}
        refines = {"refines": f"#{attributes['id']}", "property": prop}
        if value:
            yield Fact("meta", value, refines | scheme)


def _is_kept(key: str) -> bool:
    """Whether EPUB 3 has an attribute of Dublin Core elements: not `opf:role`, not `xsi:type`."""
    return key in ("id", "dir", f"{{{XML}}}lang")


def cover_item(package: Package) -> Item | None:
    """The picture that EPUB 2 calls the cover."""
    for element in package.root.iter() if package.root is not None else ():
        if local_name(element) == "meta" and element.get("name") == "cover":
            item = package.items.get(element.get("content", ""))
            if item is not None and item.media_type.startswith("image/"):
                return item
    return None
