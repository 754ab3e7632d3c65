"""From the archive to the package document: `META-INF/container.xml`, and what is encrypted."""

import posixpath

from lxml import etree

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.markup import Element, attribute, local_name, parse_xml

CONTAINER = "META-INF/container.xml"
# Source: EPUB 3.3, 4.3 (font obfuscation), and the Adobe method that came before it.
FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc")


def package_paths(archive: Archive) -> list[str]:
    """The package documents that the container names and the archive holds, in its order.

    Those whose pages have a fixed layout come last, as their text is cut up for the eye.
    Books packed together with their folder (`epub/META-INF/...`) and books without container but
    with one `.opf` are read with a warning. Empty when the archive holds no package document.
    """
    name = _find_in_meta_inf(archive, "container.xml")
    if name and name.lower() != CONTAINER.lower():
        archive.warnings.append(f"The book lies in a folder of the archive, {name}.")
    paths = _rootfiles(archive, name) if name else []
    if paths:
        return paths
    paths = [n for n in archive.names if n.lower().endswith(".opf") and "/._" not in n]
    paths.sort(key=lambda path: path.count("/"))
    if paths:
        archive.warnings.append(f"The container does not name the package; {paths[0]} is used.")
    return paths


def refuse_encrypted(archive: Archive, text_names: set[str]) -> None:
    """Go on when only fonts or pictures are encrypted; refuse the book when its text is.

    Args:
        archive: the book.
        text_names: the members that hold text: spine, navigation, package.

    Raises:
        InputError: text is encrypted, which is what DRM does.
    """
    name = _find_in_meta_inf(archive, "encryption.xml")
    root = _parse(archive, name) if name else None
    if root is None:
        return
    others = []
    for algorithm, target in _encrypted(archive, name, root):
        if algorithm.lower() in FONT_OBFUSCATION:
            continue
        if target in text_names:
            raise InputError(
                f"{archive.path.name}: {target} is encrypted ({scheme(archive, root)}). "
                "Nothing was written. Use a DRM-free copy."
            )
        others.append(target)
    if others:
        archive.warnings.append(
            f"Encrypted files outside of the text are ignored: {len(others)}, the first is "
            f"{others[0]}."
        )


def _find_in_meta_inf(archive: Archive, name: str) -> str:
    path = f"META-INF/{name}"
    if found := archive.find(path):
        return found
    suffix = "/" + path.lower()
    return next((n for n in archive.names if n.lower().endswith(suffix)), "")


def _rootfiles(archive: Archive, container: str) -> list[str]:
    root = _parse(archive, container)
    folder = _book_folder(container)
    found: dict[str, bool] = {}
    for element in root.iter() if root is not None else ():
        if local_name(element) == "rootfile":
            path, _ = archive.resolve(folder + "x", attribute(element, "full-path"))
            media_type = attribute(element, "media-type").strip()
            is_package = not media_type or "package" in media_type or path.endswith(".opf")
            if path and is_package:
                found.setdefault(path, "pre-paginated" in attribute(element, "layout"))
    return sorted(found, key=lambda path: found[path])


def _encrypted(archive: Archive, name: str, root: Element) -> list[tuple[str, str]]:
    found = []
    for data in root.iter():
        if local_name(data) != "encrypteddata":
            continue
        algorithm, target = "", ""
        for element in data.iter():
            tag = local_name(element)
            if tag == "encryptionmethod" and not algorithm:
                algorithm = attribute(element, "Algorithm")
            elif tag == "cipherreference":
                uri = attribute(element, "URI")
                target = archive.resolve(_book_folder(name) + "x", uri)[0] or uri
        found.append((algorithm, target))
    return found


def scheme(archive: Archive, encryption: Element | None = None) -> str:
    """What protects the text, by the files beside it and the keys that are named; else "DRM"."""
    names = " ".join(archive.names).lower()
    elements = encryption.iter(etree.Element) if encryption is not None else ()
    values = (value for e in elements for value in (*e.attrib.values(), *e.nsmap.values()))
    words = " ".join(value for value in values if value).lower()
    for mark, found in (
        ("license.lcpl", "DRM: Readium LCP"),
        ("readium.org/2014/01/lcp", "DRM: Readium LCP"),
        ("sinf.xml", "DRM: Apple FairPlay"),
        ("ns.adobe.com/adept", "DRM: Adobe ADEPT"),
        ("kobo", "DRM: Kobo"),
        ("meta-inf/rights.xml", "DRM: Adobe ADEPT"),
    ):
        if mark in names or mark in words:
            return found
    return "DRM"


def _book_folder(name: str) -> str:
    folder = posixpath.dirname(posixpath.dirname(name))
    return f"{folder}/" if folder else ""


def _parse(archive: Archive, name: str) -> Element | None:
    """The tree of a file beside the package; None with a warning when it cannot be read."""
    try:
        markup = parse_xml(archive.read(name), f"{archive.path.name}: {name}")
    except UnsafeArchiveError:
        raise
    except InputError as error:
        archive.warnings.append(f"{error} It is ignored.")
        return None
    archive.warnings.extend(markup.flaws)
    return markup.root
