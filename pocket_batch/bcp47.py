"""Tags of languages, such as `en-GB` (BCP 47), as far as files get them right."""

import re

# en, pt-BR, zh_Hans_CN -> match; "English" does not
TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
# Tags that name no language: undetermined, several, none, uncoded. Source: ISO 639-2.
SAYS_NOTHING = frozenset({"und", "mul", "zxx", "mis"})
# Codes of three letters that files have in place of those of two. Source: ISO 639-2.
_SHORT_CODES = {
    "eng": "en", "fre": "fr", "fra": "fr", "ger": "de", "deu": "de", "ita": "it",
    "por": "pt", "spa": "es", "dut": "nl", "nld": "nl",
}  # fmt: skip
_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "tr": "Turkish",
    "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def primary(tag: str) -> str:
    """The language of a tag without its region: `en_GB`, `eng` and `en-US` -> `en`."""
    first = tag.replace("_", "-").partition("-")[0].lower()
    return _SHORT_CODES.get(first, first)


def english_name(tag: str) -> str:
    """`de-AT` -> `German`, as speech toolkits call it; the tag of one that is not known here."""
    return _NAMES.get(primary(tag), tag)
