"""The words of pictures: their descriptions, and letters that are drawn."""

import re

from pocket_batch.sources.markup import Element, fold, local_name, text_of

# alt="T" before "hey left" -> matches: the picture is the first letter of the word
LETTER = re.compile(r"[\"“‘«„]?[^\W\d_]")
DECORATION = frozenset({"presentation", "none"})


def described(picture: Element) -> str:
    """The description of a picture; empty without one, or when its caption says the same."""
    if picture.get("role", "") in DECORATION or picture.get("aria-hidden") == "true":
        return ""
    text = fold(picture.get("alt") or picture.get("aria-label") or "")
    around = (picture, *picture.iterancestors())
    figure = next((e for e in around if local_name(e) == "figure"), None)
    captions = [] if figure is None else [e for e in figure if local_name(e) == "figcaption"]
    is_said = any(text.casefold() in text_of(caption).casefold() for caption in captions)
    return "" if is_said else text


def drop_cap(picture: Element) -> str:
    """The letter that a picture stands for at the begin of a word; empty for other pictures."""
    if picture.get("role", "") in DECORATION:
        return ""
    letter = fold(picture.get("alt") or "")
    following = picture.tail or ""
    if not following and local_name(picture.getparent()) == "span":
        following = picture.getparent().tail or ""  # <span class="dropcap"><img alt="T"/></span>hey
    is_letter = LETTER.fullmatch(letter) is not None and not letter[-1].islower()
    return letter if is_letter and following[:1].isalpha() else ""
