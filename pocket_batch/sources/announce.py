"""The words that stand for what is not read, in the languages of the models."""

from pocket_batch.bcp47 import primary

# By setting; "notes" is the heading above the notes of a chapter,
# "over" stands between the parts of a fraction.
WORDS = {
    "en": {
        "tables": "Table",
        "code": "Code",
        "formulas": "formula",
        "drawings": "Drawing",
        "notes": "Notes",
        "over": "over",
    },
    "de": {
        "tables": "Tabelle",
        "code": "Programmtext",
        "formulas": "Formel",
        "drawings": "Zeichnung",
        "notes": "Anmerkungen",
        "over": "durch",
    },
    "fr": {
        "tables": "Tableau",
        "code": "Code",
        "formulas": "formule",
        "drawings": "Dessin",
        "notes": "Notes",
        "over": "sur",
    },
    "es": {
        "tables": "Tabla",
        "code": "Código",
        "formulas": "fórmula",
        "drawings": "Dibujo",
        "notes": "Notas",
        "over": "sobre",
    },
    "it": {
        "tables": "Tabella",
        "code": "Codice",
        "formulas": "formula",
        "drawings": "Disegno",
        "notes": "Note",
        "over": "su",
    },
    "pt": {
        "tables": "Tabela",
        "code": "Código",
        "formulas": "fórmula",
        "drawings": "Desenho",
        "notes": "Notas",
        "over": "sobre",
    },
    "nl": {
        "tables": "Tabel",
        "code": "Code",
        "formulas": "formule",
        "drawings": "Tekening",
        "notes": "Noten",
        "over": "gedeeld door",
    },
}


def word_for(key: str, language: str) -> str:
    """The word for a kind of content in a language (BCP 47); English where there is none."""
    return WORDS.get(primary(language), WORDS["en"])[key]
