"""Looks for what a reading system would stumble over in an EPUB with media overlays."""

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree

from pocket_batch.sources.markup import Element

MAX_PAST_END_MS = 50  # a frame of AAC
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d)\.(\d{3})")


@dataclass(frozen=True, slots=True)
class _Par:
    """One clip of an overlay, with the member and the id of its text, in milliseconds."""

    text: str
    id: str
    audio: str
    begin: int
    end: int


def find_faults(path: Path) -> list[str]:
    """Sentences about what is wrong; none for a book that is as it should be.

    Looked at: the archive, the package with its files and contents, the ids of every document that
    is read aloud, and every clip: its text exists, and it lies in its audio file after the clip
    before. Durations must be the sums of their clips.
    """
    with zipfile.ZipFile(path) as archive:
        return list(_Checker(archive).faults())


class _Checker:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = archive.namelist()
        self._lengths_ms: dict[str, int] = {}
        self._package = ""
        self._members: dict[str, str] = {}  # by id
        self._heard: dict[str, list[_Par]] = {}  # by audio file, in order

    def faults(self) -> Iterator[str]:
        """All that is wrong."""
        first = self._archive.infolist()[0]
        if first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED:
            yield "The member `mimetype` is not the first one, or is packed."
        for name, count in Counter(self._names).items():
            if count > 1:
                yield f"The archive holds {name} {count} times."
        container = self._parse("META-INF/container.xml")
        self._package = next(container.iter("{*}rootfile")).get("full-path")
        root = self._parse(self._package)
        items = list(root.iter("{*}item"))
        yield from self._package_faults(root, items)
        durations: dict[str, int] = {}
        for item in items:
            overlay = item.get("media-overlay")
            if overlay:
                pars = self._pars(self._members.get(overlay, ""))
                durations[overlay] = sum(par.end - par.begin for par in pars)
                yield from self._document_faults(self._members[item.get("id")], pars)
        yield from self._duration_faults(root, durations)
        yield from self._audio_faults()

    def _package_faults(self, root: Element, items: list[Element]) -> Iterator[str]:
        ids = Counter(e.get("id") for e in root.iter() if e.get("id"))
        yield from (f"The package has the id {i} {n} times." for i, n in ids.items() if n > 1)
        self._members = {e.get("id"): self._resolve(self._package, e.get("href")) for e in items}
        for uid, name in self._members.items():
            if name not in self._names:
                yield f"The item {uid} is {name}, which is not there."
        for entry in root.iter("{*}itemref"):
            if entry.get("idref") not in self._members:
                yield f"The spine names {entry.get('idref')}, which is no item."
        navs = [e for e in items if "nav" in (e.get("properties") or "").split()]
        if len(navs) != 1:
            yield f"There are {len(navs)} navigation documents, not 1."
        unique = root.get("unique-identifier")
        if not any(e.get("id") == unique for e in root.iter("{*}identifier")):
            yield "The package has no identifier of the id that it names."

    def _document_faults(self, document: str, pars: list[_Par]) -> Iterator[str]:
        ids = Counter(e.get("id") for e in self._parse(document).iter() if e.get("id"))
        for par in pars:
            if par.text != document:
                yield f"The overlay of {document} leads to {par.text}."
            elif par.id not in ids:
                yield f"{document} has no element {par.id}, which its overlay names."
            elif ids[par.id] > 1:
                yield f"{document} has the id {par.id} {ids[par.id]} times."
            self._heard.setdefault(par.audio, []).append(par)
        for uid, count in Counter(par.id for par in pars).items():
            if count > 1:
                yield f"The overlay of {document} names {uid} {count} times."

    def _audio_faults(self) -> Iterator[str]:
        listed = set(self._members.values())
        for name, pars in self._heard.items():
            if name not in listed:
                yield f"{name}, which overlays name, is no item of the package."
                continue
            end = 0
            for par in sorted(pars, key=lambda par: par.begin):
                if par.begin < end or par.end <= par.begin:
                    yield f"{name}: the clip of {par.text}#{par.id} begins before it may."
                end = par.end
            if end > self._length_ms(name) + MAX_PAST_END_MS:
                yield f"{name} is {self._length_ms(name)} ms long, and a clip ends at {end} ms."

    def _duration_faults(self, root: Element, durations: dict[str, int]) -> Iterator[str]:
        stated = {
            (e.get("refines") or "").lstrip("#"): _ms((e.text or "").strip())
            for e in root.iter("{*}meta")
            if e.get("property") == "media:duration"
        }
        for overlay, duration in (durations | {"": sum(durations.values())}).items():
            if stated.get(overlay) != duration:
                what = f"the overlay {overlay}" if overlay else "the whole book"
                yield f"The duration of {what} is {stated.get(overlay)} ms, not {duration} ms."

    def _pars(self, name: str) -> list[_Par]:
        found = []
        for par in self._parse(name).iter("{*}par"):
            text = next(par.iter("{*}text")).get("src")
            audio = next(par.iter("{*}audio"))
            found.append(
                _Par(
                    self._resolve(name, text),
                    unquote(text.partition("#")[2]),
                    self._resolve(name, audio.get("src")),
                    _ms(audio.get("clipBegin")),
                    _ms(audio.get("clipEnd")),
                )
            )
        return found

    def _length_ms(self, name: str) -> int:
        from mutagen.mp4 import MP4

        if name not in self._lengths_ms:
            with self._archive.open(name) as file:
                found: Any = MP4(io.BytesIO(file.read()))  # type: ignore[no-untyped-call]
            self._lengths_ms[name] = round(found.info.length * 1000)
        return self._lengths_ms[name]

    def _resolve(self, base: str, href: str) -> str:
        path = unquote(href.partition("#")[0])
        return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))

    def _parse(self, name: str) -> Element:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        return etree.fromstring(self._archive.read(name), parser)


def _ms(clock: str) -> int:
    """`1:02:03.004` -> 3723004; -1 for another form."""
    found = _CLOCK.fullmatch(clock)
    if not found:
        return -1
    hours, minutes, seconds, ms = map(int, found.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
