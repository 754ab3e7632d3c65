"""What a listener should know about a book beside its text: fixed layout, its own recordings."""

from collections.abc import Iterator

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import attribute, local_name, parse_xml, text_of
from pocket_batch.sources.package import Package

SMIL = "application/smil+xml"
APPLE_OPTIONS = "META-INF/com.apple.ibooks.display-options.xml"


def notable_features(archive: Archive, package: Package) -> Iterator[str]:
    """Sentences about a fixed layout, and about speech that was recorded for the book."""
    if _is_laid_out(archive, package):
        yield (
            "The pages of the book have a fixed layout; their text is read in the order of the "
            "files, and words inside of pictures are not."
        )
    if has_recorded_speech(archive, package):
        yield "The book brings its own recorded speech, which is not used."


def has_recorded_speech(archive: Archive, package: Package) -> bool:
    """Whether the book has media overlays."""
    is_declared = any(item.media_type == SMIL for item in package.items.values())
    return is_declared or any(name.lower().endswith(".smil") for name in archive.names)


def _is_laid_out(archive: Archive, package: Package) -> bool:
    num_pages = 0
    for element in package.root.iter() if package.root is not None else ():
        tag = local_name(element)
        if tag == "meta":
            name = attribute(element, "property") or attribute(element, "name")
            value = (text_of(element) or attribute(element, "content")).strip().lower()
            if (name, value) in (("rendition:layout", "pre-paginated"), ("fixed-layout", "true")):
                return True
        elif tag == "itemref":
            num_pages += "rendition:layout-pre-paginated" in attribute(element, "properties")
    return 2 * num_pages > len(package.spine) or _is_fixed_for_apple(archive)


def _is_fixed_for_apple(archive: Archive) -> bool:
    name = archive.find(APPLE_OPTIONS)
    try:
        root = parse_xml(archive.read(name), name).root if name else None
    except InputError:
        return False
    return root is not None and any(
        attribute(option, "name") == "fixed-layout" and text_of(option).lower() == "true"
        for option in root.iter()
        if local_name(option) == "option"
    )
