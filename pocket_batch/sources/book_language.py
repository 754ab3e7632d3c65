"""The language of a book: what it declares, what its documents are marked as, and what differs."""

import re
from collections import Counter
from collections.abc import Iterable

from pocket_batch.bcp47 import SAYS_NOTHING, TAG, primary
from pocket_batch.data import Chapter

# Names that stand where a tag should, in English and in the language itself.
TAGS = {
    **dict.fromkeys(("english", "anglais", "englisch"), "en"),
    **dict.fromkeys(("french", "français", "francais"), "fr"),
    **dict.fromkeys(("german", "deutsch"), "de"),
    **dict.fromkeys(("spanish", "español", "espanol", "castellano"), "es"),
    **dict.fromkeys(("italian", "italiano"), "it"),
    **dict.fromkeys(("portuguese", "português", "portugues"), "pt"),
    **dict.fromkeys(("dutch", "nederlands"), "nl"),
    **dict.fromkeys(("japanese", "日本語"), "ja"),
    **dict.fromkeys(("chinese", "中文"), "zh"),
    **dict.fromkeys(("russian", "русский"), "ru"),
    "latin": "la",
    "greek": "el",
    "hebrew": "he",
    "arabic": "ar",
}
NAMES = {
    **{"en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian"},
    **{"pt": "Portuguese", "nl": "Dutch", "la": "Latin", "el": "Greek", "grc": "Ancient Greek"},
    **{"he": "Hebrew", "ar": "Arabic", "ja": "Japanese", "zh": "Chinese", "ru": "Russian"},
}
MIN_WORDS = 10  # fewer foreign words than that are not worth a warning
# Scripts without spaces, in which each letter counts as a word: kana, Han, Hangul is not one.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")


def language_tag(text: str) -> str:
    """What stands for a language -> a BCP 47 tag: "en_US" -> "en-US", "English" -> "en"; or ""."""
    first = re.split(r"[,;/]", text.replace("_", "-"), maxsplit=1)[0].strip()
    tag = TAGS.get(first.lower(), first)
    return tag if TAG.fullmatch(tag) and primary(tag) not in SAYS_NOTHING else ""


def declared_language(texts: Iterable[str], warnings: list[str]) -> str:
    """The first language that a package declares; empty without one.

    Several languages give a warning, as one of them has to be chosen.
    """
    tags = list(dict.fromkeys(tag for text in texts if (tag := language_tag(text))))
    if len({primary(tag) for tag in tags}) > 1:
        warnings.append(
            f"The book declares {len(tags)} languages, {', '.join(tags)}; it is read as {tags[0]}."
        )
    return tags[0] if tags else ""


def count_words(text: str) -> int:
    """The number of words; in Chinese and Japanese, of letters."""
    num_unspaced = len(UNSPACED.findall(text))
    return (
        num_unspaced + len(UNSPACED.sub(" ", text).split()) if num_unspaced else len(text.split())
    )


def foreign_words(chapters: Iterable[Chapter], language: str) -> list[str]:
    """One sentence about the words that are marked as of other languages than the book's."""
    counts: Counter[str] = Counter()
    for chapter in chapters:
        for block in chapter.blocks:
            if block.language:
                counts[primary(block.language)] += count_words(block.text)
    counts.pop(primary(language), None)
    many = [(tag, number) for tag, number in counts.most_common() if number >= MIN_WORDS]
    if not many:
        return []
    first, *others = (f"{number:,} %s {_named(tag)}" for tag, number in many)
    listed = [first % "words are marked as", *(text % "as" for text in others)]
    return [f"{', '.join(listed)}, which the voice of the book may not speak well."]


def _named(tag: str) -> str:
    return f"{NAMES[tag]} ({tag})" if tag in NAMES else f"`{tag}`"
