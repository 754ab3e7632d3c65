"""From the archive to the package document: `META-INF/container.xml`, and what is encrypted."""

import posixpath

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import Element, attribute, local_name, parse_xml

CONTAINER = "META-INF/container.xml"
# Source: EPUB 3.3, 4.3 (font obfuscation), and the Adobe method that came before it.
FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc")
TEXT_SUFFIXES = (".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx")


def package_paths(archive: Archive) -> list[str]:
    """The package documents that the container names and the archive holds, in its order.

    Books packed together with their folder (`epub/META-INF/...`) and books without container but
    with one `.opf` are read with a warning.

    Raises:
        InputError: there is neither container nor package document.
    """
    name = archive.find(CONTAINER)
    if not name:
        name = next((n for n in archive.names if n.endswith("/" + CONTAINER)), "")
        if name:
            archive.warnings.append(f"The book lies in a folder of the archive, {name}.")
    if not name:
        return _packages_without_container(archive)
    root = _parse(archive, name)
    folder = _book_folder(name)
    paths = []
    for element in root.iter():
        if local_name(element) == "rootfile":
            path, _ = archive.resolve(folder + "x", attribute(element, "full-path"))
            if path:
                paths.append(path)
    if len(paths) > 1:
        archive.warnings.append(f"The book has {len(paths)} renditions; the first one is read.")
    return paths or _packages_without_container(archive)


def refuse_encrypted(archive: Archive, text_names: set[str]) -> None:
    """Go on when only fonts or pictures are encrypted; refuse the book when its text is.

    Args:
        archive: the book.
        text_names: the members that hold text: spine, navigation, package.

    Raises:
        InputError: text is encrypted, which is what DRM does.
    """
    suffix = "META-INF/encryption.xml"
    name = archive.find(suffix) or next((n for n in archive.names if n.endswith("/" + suffix)), "")
    if not name:
        return
    others = []
    for algorithm, target in _encrypted(archive, name):
        if algorithm.lower() in FONT_OBFUSCATION:
            continue
        if target in text_names or target.lower().endswith(TEXT_SUFFIXES):
            raise InputError(
                f"{archive.path.name}: {target} is encrypted ({_scheme(archive)}). "
                "Nothing was written. Use a DRM-free copy."
            )
        others.append(target)
    if others:
        archive.warnings.append(f"{len(others)} files that hold no text are encrypted; ignored.")


def _encrypted(archive: Archive, name: str) -> list[tuple[str, str]]:
    found = []
    for data in _parse(archive, name).iter():
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


def _scheme(archive: Archive) -> str:
    names = " ".join(archive.names).lower()
    for mark, scheme in (
        ("license.lcpl", "DRM: Readium LCP"),
        ("sinf.xml", "DRM: Apple FairPlay"),
        ("rights.xml", "DRM: Adobe ADEPT"),
    ):
        if "meta-inf/" + mark in names:
            return scheme
    return "DRM"


def _book_folder(name: str) -> str:
    folder = posixpath.dirname(posixpath.dirname(name))
    return f"{folder}/" if folder else ""


def _packages_without_container(archive: Archive) -> list[str]:
    paths = [name for name in archive.names if name.lower().endswith(".opf")]
    if paths:
        archive.warnings.append(f"The container does not name the package; {paths[0]} is used.")
        return paths
    raise InputError(
        f"{archive.path.name}: {CONTAINER} should name a package document, "
        "but the archive holds none. It is no EPUB, or it is damaged. Get it again."
    )


def _parse(archive: Archive, name: str) -> Element:
    markup = parse_xml(archive.read(name), f"{archive.path.name}: {name}")
    archive.warnings.extend(markup.flaws)
    return markup.root
