"""Respellings of words: found in written text, and said as they stand after normalisation.

A match becomes one placeholder letter before the rules of normalisation run, and the placeholder
becomes the spoken form after them. So no rule changes a respelling, and none is respelled again.
"""

import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from pocket_batch.bcp47 import primary
from pocket_batch.data import Respelling
from pocket_batch.text.placeholders import PLACEHOLDER
from pocket_batch.text.respell import Found, RegexEntries, WordEntries, prepared

# Private letters that stand for spoken forms between `mark` and `resolve`.
_LETTERS = [chr(code) for code in range(0xEFFF, 0xE0FF, -1)]  # U+E100 is taken first
_SPACE_BEFORE_STOP = re.compile(r"\s+([,;.:!?])")  # `so , that` -> `so, that`
# What comes before a word that begins a sentence: nothing, `so. `, `said, "`, `so!” (`
_SENTENCE_START = re.compile(
    r"(?:^|[.!?…][\"'”’»)\]]*\s+|(?:^|[\s(—])(?=[\"'“‘«„]))[\"'“‘«„(\[¿¡—]*$"
)
# `Hermione's`, `Hermione’s` -> the suffix
_POSSESSIVE = re.compile(r"['’][sS](?![^\W_])")
# `[Siobhan](/ʃɪˈvɔːn/)`, as some writers and engines have it; `[page](/wiki/)` is something else
_INLINE = re.compile(
    r"\[([^\[\]()]{1,80})\]\(/([^/()\[\]]{0,80}[^\x00-\x7f/()\[\]][^/()\[\]]{0,80})/\)"
    r"(['’][sS](?![^\W_]))?"
)
_AT_END = re.compile(r"[\"'”’»)\]\s]*$")
_HISSES = "szʃʒʧʤ"  # the possessive after these is a syllable of its own
_VOICELESS = "ptkfθ"  # after these it is an s


class Lexicon:
    """The entries that hold in one language, ready to be applied to text in time linear in it.

    A word or phrase matches as a whole: `don` is neither in `donor` nor in `don't`, but `Ann` is in
    `Ann's` and in `Ann-like`. Of matches that overlap the first wins, of those that begin together
    the longest, of equal ones the first entry. A word without a capital matches in any case, one
    with a capital only as written or between words all in capitals, unless `match_case` says else;
    a capital at the start of a sentence stays one. Regular expressions see `MAX_PIECE` characters
    of a paragraph at a time.

    Not to be shared between threads: `mark` remembers what its placeholders stand for.
    """

    def __init__(
        self, entries: Iterable[Respelling], language: str, takes_ipa: bool = False
    ) -> None:
        """Prepare the entries of one language.

        Args:
            entries: those for other languages are ignored; earlier ones win.
            language: BCP 47 tag of the text.
            takes_ipa: whether the engine reads `[word](/ˈwɜːd/)`.

        Raises:
            UsageError: a regular expression is not valid, or could run forever.
        """
        self._all = tuple(entries)
        self._takes_ipa = takes_ipa
        tag = language.replace("_", "-").lower()
        kept = [entry for entry in self._all if _is_for(entry, tag) and self._has_form(entry)]
        self._words = WordEntries((e for e in kept if not e.is_regex), primary(tag))
        self._regexes = RegexEntries(e for e in kept if e.is_regex)
        self.num_entries = len(kept)
        content = repr((tag, takes_ipa, [astuple(entry) for entry in kept]))
        self.fingerprint = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
        self._placeholders: OrderedDict[str, str] = OrderedDict()  # the longest unused first
        self._forms: dict[str, str] = {}
        self._free = _LETTERS.copy()
        self._others: dict[str, Lexicon] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no entry holds in this language."""
        return self.num_entries == 0

    def for_language(self, language: str) -> "Lexicon":
        """The same entries for a block in another language, made once for each."""
        if language not in self._others:
            self._others[language] = Lexicon(self._all, language, self._takes_ipa)
        return self._others[language]

    def mark(self, text: str) -> str:
        """Put a placeholder for each match; invisible characters inside words go.

        A word with its pronunciation, `[Siobhan](/ʃɪˈvɔːn/)`, is one too if the engine takes IPA,
        else a word as any other.

        Without a match the text stays as it is, but for private characters of the source: nobody
        knows how these glyphs are said, and a placeholder must not be one of them.

        The placeholders hold until later texts have brought some 1,900 other spoken forms:
        normalise and `resolve` a few paragraphs at a time.
        """
        if not text.isascii():
            text = PLACEHOLDER.sub(" ", text)
        while len(self._forms) > len(_LETTERS) // 2:
            _, letter = self._placeholders.popitem(last=False)
            del self._forms[letter]
            self._free.append(letter)
        if "](/" in text:
            text = _INLINE.sub(self._inline, text)
        if self.is_empty or not text:
            return text
        text = prepared(text)
        parts: list[str] = []
        place = 0
        for found in self._matches(text):
            form, end = self._form(found, text)
            parts += text[place : found.start], self._placeholder(form)
            place = end
        return "".join((*parts, text[place:]))

    def resolve(self, text: str) -> str:
        """Put the spoken form for each placeholder; one that stands for nothing leaves nothing."""
        if text.isascii() or not PLACEHOLDER.search(text):
            return text
        forms = [self._forms.get(match[0], "") for match in PLACEHOLDER.finditer(text)]
        pieces = PLACEHOLDER.split(text)
        text = pieces[0] + "".join(f + p for f, p in zip(forms, pieces[1:], strict=True))
        if "" in forms:
            text = _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
        return text

    def _matches(self, text: str) -> Iterator[Found]:
        """Matches that do not overlap, in order."""
        found = [*self._words.find(text), *self._regexes.find(text)]
        if not self._regexes.is_empty:
            found.sort(key=lambda match: (match.start, -match.end))
        place = 0
        for match in found:
            if match.start >= place:
                yield match
                place = match.end

    def _inline(self, found: re.Match[str]) -> str:
        """What the writer says of a pronunciation, for an engine that takes it."""
        word, ipa, suffix = found[1], found[2], found[3] or ""
        if not self._takes_ipa:
            return word + suffix
        return self._placeholder(inline_ipa(word + suffix, _possessive(ipa) if suffix else ipa))

    def _has_form(self, entry: Respelling) -> bool:
        """Whether it changes anything: a pronunciation in IPA alone is not for every engine."""
        return bool(entry.written.strip()) and bool(
            entry.spoken or not entry.ipa or self._takes_ipa
        )

    def _form(self, found: Found, text: str) -> tuple[str, int]:
        """What is said for a match, and where the match ends."""
        entry, end = found.entry, found.end
        if entry.ipa and self._takes_ipa:
            suffix = _POSSESSIVE.match(text, end)
            sound = _possessive(entry.ipa) if suffix else entry.ipa
            end = suffix.end() if suffix else end
            return inline_ipa(text[found.start : end], sound), end
        form = PLACEHOLDER.sub("", " ".join(found.spoken.split()))
        written = text[found.start : end]
        before = text[max(0, found.start - 8) : found.start]
        if form[:1].islower() and written[:1].isupper() and _SENTENCE_START.search(before):
            form = form[0].upper() + form[1:]
        if written.endswith(".") and form and form[-1] not in ".!?…" and _AT_END.match(text, end):
            end -= 1  # the stop of `etc.` ends the paragraph's last sentence too
        return form, end

    def _placeholder(self, form: str) -> str:
        """The letter that stands for a spoken form; the form itself when all letters are taken."""
        if form not in self._placeholders:
            if not self._free:
                return form
            letter = self._placeholders[form] = self._free.pop()
            self._forms[letter] = form
        self._placeholders.move_to_end(form)
        return self._placeholders[form]


def inline_ipa(written: str, ipa: str) -> str:
    """`[word](/ˈwɜːd/)`, one for each word of a phrase, so that none has a space inside.

    >>> inline_ipa("New York", "nuː jɔːk")
    '[New](/nuː/) [York](/jɔːk/)'
    """
    sounds = re.sub(r"[\[\]()/.‿|‖]", "", ipa).replace("'", "ˈ").split()
    words = re.sub(r"[\[\]()]", "", written).split()
    if len(words) != len(sounds):
        words = ["-".join(words)] * len(sounds)
    return " ".join(f"[{word}](/{sound}/)" for word, sound in zip(words, sounds, strict=True))


def _possessive(ipa: str) -> str:
    """The pronunciation with its possessive: cats, dogs, horses."""
    last = unicodedata.normalize("NFD", ipa.strip(" /[]"))[-1:]
    if last in _HISSES:
        return f"{ipa.strip(' /[]')}ɪz"
    return ipa.strip(" /[]") + ("s" if last in _VOICELESS else "z")


def _is_for(entry: Respelling, tag: str) -> bool:
    """Whether an entry holds in a language: `en` and `en-gb` hold in each other, not in `en-us`."""
    wanted = entry.language.replace("_", "-").lower()
    return not wanted or f"{tag}-".startswith(f"{wanted}-") or wanted.startswith(f"{tag}-")
