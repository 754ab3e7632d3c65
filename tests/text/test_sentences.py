"""A paragraph is cut into sentences as a reader would pause."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.text.sentences import split_sentences

ENGLISH = [
    ['"Yes!" said Tom.', '"No?"', '"Why?"'],
    ['"Yes!" Tom said.', "He left."],
    ['"What?" the old man asked.', '"Nothing."'],
    ["“Won’t you?” he said.", "“No.”"],
    ["'Why?' he asked.", "'Tis the dogs' house."],
    ["She cried, “What!” and fell.", "He caught her."],
    ['"Yes!"', "She said no more."],
    ["Oh! mamma, how are you?", "I am well."],
    ["He waited… and waited… and left.", "Then he came."],
    ["Wait…", "What?"],
    ["I mean… I don't know.", "Do you?"],
    ["He waited . . . and left.", "He waited.", ". . . Then he left."],
    ["He waited . . . .", "Then he left."],
    ["He used Yahoo! Answers all day.", "She shouted!", "Then she left."],
    ["He saw “the stairs [...]” (Smith 55).", "Then he left."],
    ["It was 40°26'46\"N 79°58'56\"W.", "Go there.", "It is 25 °C.", "Warm air rose."],
    ["Smith et al. (2010) found it.", "We know Smith et al.", "They were right."],
    ["“I thought…”", "She turned away from him."],
    ["“I thought…” she said.", "Then she left."],
    ["He met J. R. R. Tolkien at noon.", "Then he left."],
    ["John F. Kennedy met Dr. Hill and Mrs. St. John.", "They talked."],
    ["Albert I. Jones came.", "So did you and I.", "We talked."],
    ["It was plan B.", "Then came plan C.", "He sighed."],
    ["Then came—Mr. Bingley, his two sisters, and a friend.", "All sat."],
    ["It weighed 98.6 pounds, i.e. 3.5 more.", "It fell."],
    ["It began at 4 p.m. on the 1st.", "It ended at 5 p.m.", "He left."],
    ["At 6 a.m. Dr. Hill rose.", "He left at 7 P.M.", "Mrs. Hill stayed until 8 p.m. Monday."],
    ["It began at eleven AM.", "He left."],
    ["1. The first chapter begins.", "It ends."],
    ["IV. The river bank.", "It ends."],
    ["3.2. The left bank.", "It ends."],
    ["He lived in the U.S. Army camp.", "He left."],
    ["He lived in the U.K. for years and in the U.S.", "He was happy."],
    ["He worked for Hill Bros. Ltd. at noon, and for Lee & Co.", "It failed."],
    ["He moved to Main St.", "It was on the corner of 5th Ave. by the shop."],
    ["See vol. 3, pp. 12 ff., and No. 7.", "He said no.", "Seven men left."],
    ["It costs $20.50.", "It cost $3 in 1945.", "20 men came back."],
    ["Write to jo.hill@example.org.", "See www.example.org/a.b.html.", "It is there."],
    ["Is he mad?!", "No!!", "Yes."],
    ["It was I.", "He left."],
    ["(He had left.)", "Then he came back."],
    ["He left (so she said).", "She stayed [see p. 5].", "He came."],
    ["It is well known.[2–11]", "It is in the list (1987).1", "He read it."],
    ["No one knew.", "“But why?” she cried; “tell me!”"],
]
OTHERS = {
    "de": [
        ["Dr. Meier kam am 3. Mai um 5 Uhr.", "Er blieb bis zum 1. Januar 1900."],
        ["Das ist z. B. Holz, usw. und so fort, und u. a. Stein.", "Die Wand ist alt."],
        ["Er kaufte Äpfel, Birnen usw.", "Dann ging er."],
        ["„Halt!“ rief er.", "„Wer da?“", "»Komm her!«, sagte er.", "»Gleich.«"],
        [
            "Kaiser Wilhelm II. war alt.",
            "Siehe S. 5 ff. und Abb. 3.",
            "Es waren 3.",
            "Dann kam er.",
        ],
    ],
    "fr": [
        ["M. Dupont et Mme Leroy sont là.", "« Oui ! » dit-il.", "« Non. »", "Elle partit."],
        ["— Oui, dit-il.", "— Non.", "— Si !", "Quoi ?", "Voir p. 5 et chap. 3."],
        ["Né en 100 av. J.-C. à Rome, c.-à-d. ici, etc.", "Il mourut."],
    ],
    "es": [
        ["El Sr. López y la Sra. Díaz llegaron.", "—¡Hola! —dijo Juan.", "—¿Qué tal?"],
        ["Vive en EE. UU. desde 1990.", "Véase la pág. 5 y el cap. 3.", "¿Qué?", "¡No!"],
        ["Llegó a las 5 p. m. y se fue, etc.", "«Ven.»", "Ella se fue."],
    ],
    "it": [
        ["Il sig. Rossi e la dott.ssa Bianchi sono qui.", "«Sì!» disse.", "«No.»"],
        ["Nato nel 100 a.C. a Roma, ecc.", "Poi morì.", "— Vieni! — disse lui.", "— Subito."],
    ],
    "nl": [
        ["Dhr. Jansen en mevr. De Vries zijn er.", "Zie blz. 5 en hfst. 3.", '"Ja!" zei hij.'],
        ["Dat is o.a. hout, enz.", "De muur is van steen."],
    ],
    "pt": [
        ["O Sr. Silva e a Sra. Costa chegaram.", "— Olá! — disse João.", "— Tudo bem?"],
        ["Ver pág. 5, cap. 3, etc.", "Ele saiu."],
    ],
    "ru": [["Он ушёл в 5 часов.", "Она осталась."]],
}
ENUMERATIONS = [
    ["1. Eat well", "2. Sleep well", "3. Rise"],
    ["1.) Eat well.", "2.) Sleep well."],
    ["(a) eat well", "(b) sleep well"],
    ["(i) Eat.", "(ii) Sleep.", "(iii) Rise."],
    ["He told us how.", "a. here it is", "b. another"],
    ["• 9. Eggs", "• 10. Milk"],
    ["He wants a) eggs, b) milk, and c) tea.", "So do I."],
    ["A. Milne met B. Russell.", "They talked of 1. and of 2."],
]


@pytest.mark.parametrize("sentences", ENGLISH, ids=lambda sentences: sentences[0])
@pytest.mark.parametrize("inside_quotes", [False, True])
def test_english_prose_is_cut_where_a_reader_stops(
    sentences: list[str], inside_quotes: bool
) -> None:
    assert split_sentences(" ".join(sentences), "en", inside_quotes) == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [(language, sentences) for language, cases in OTHERS.items() for sentences in cases],
)
def test_prose_of_other_languages_is_cut_where_a_reader_stops(
    language: str, sentences: list[str]
) -> None:
    assert split_sentences(" ".join(sentences), language) == sentences


@pytest.mark.parametrize("items", ENUMERATIONS, ids=lambda items: items[0])
def test_each_item_of_a_list_in_one_line_is_a_sentence(items: list[str]) -> None:
    assert split_sentences(" ".join(items), "en") == items


def test_a_number_with_a_stop_may_be_an_ordinal_and_no_item() -> None:
    text = "1. Januar war es. Am 2. Februar nicht mehr."
    assert split_sentences(text, "de") == ["1. Januar war es.", "Am 2. Februar nicht mehr."]


@pytest.mark.parametrize(
    "sentences",
    [
        ['"Come here.', "Come to me at once.", 'Now!" he shouted.'],
        ["„Komm.", "Setz dich.“"],
        ["«Ven.", "Siéntate.»"],
        ["(He had left.", "She had not.)"],
    ],
)
def test_a_quotation_is_one_sentence_unless_its_own_are_asked_for(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert split_sentences(text, "es") == [text]
    assert split_sentences(text, "es", inside_quotes=True) == sentences


def test_speech_that_never_closes_is_cut_at_its_stops() -> None:
    assert split_sentences('"Yes. I know. He said "no" to me. So I left.', "en") == [
        '"Yes.',
        "I know.",
        'He said "no" to me.',
        "So I left.",
    ]


def test_the_stops_of_chinese_and_japanese_need_no_space() -> None:
    assert split_sentences("他走了。她说：“好。”他笑了。", "zh") == [
        "他走了。",
        "她说：“好。”",
        "他笑了。",
    ]
    text = "「行くよ。待って。」と言った。そうか！"
    assert split_sentences(text, "ja") == ["「行くよ。待って。」と言った。", "そうか！"]


def test_an_empty_line_and_a_line_broken_on_purpose_end_a_sentence() -> None:
    wide = "He went down to the river that ran behind the mill, and there he sat"
    text = f"Part one\n\nThe Mill\n{wide}\nuntil it was dark. He slept.\n\tHe woke."
    assert split_sentences(text, "en") == [
        "Part one",
        "The Mill",
        f"{wide} until it was dark.",
        "He slept.",
        "He woke.",
    ]
    assert split_sentences("eggs\nfresh milk\ntea", "en") == ["eggs", "fresh milk", "tea"]


PATTERNS = [
    "Mr. Hill and Mrs. Lee ", "“Yes.” ", "“Yes. ", '"a." b ', "'tis ", ". . ", "…", "(", "(a. ",
    "a. ", "1. ", "• a ", "a", ".", "!", "好。", "a.1 2 ", " »", "a ! ", "1) a 2) b ", "a.[1",
    "I. ", "i) ii) ", "He said (it was so). ", "\n", "a\n", "\n\n", "A b\n\t",
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "de", "ru"])
def test_a_paragraph_of_any_kind_takes_time_by_its_length(language: str) -> None:
    """None may be quadratic: the sizes that a book has, 156,000 characters, take under a second."""
    for pattern in PATTERNS:
        text = pattern * (20_000 // len(pattern))
        started = time.process_time()
        sentences = split_sentences(text, language)
        assert time.process_time() - started < 1.5, repr(pattern)
        assert "".join("".join(sentences).split()) == "".join(text.split())


@given(st.text(alphabet="aB c.!?…\"'“”‘’()—-,;1I\n\u00a0", max_size=120))
def test_no_character_is_lost_or_moved(text: str) -> None:
    sentences = split_sentences(text, "en")
    assert all(sentences)
    assert " ".join(sentences) == " ".join(text.split())


@given(
    st.text(max_size=80) | st.text(alphabet="好a.。、！」「 \n1", max_size=40),
    st.sampled_from(["en", "en-GB", "de", "xx", "", "zh", "el"]),
    st.booleans(),
)
def test_no_language_or_script_loses_a_character(
    text: str, language: str, inside_quotes: bool
) -> None:
    sentences = split_sentences(text, language, inside_quotes)
    assert all(sentences)
    assert "".join("".join(sentences).split()) == "".join(text.split())


@given(st.text(alphabet="aB c.!?…\"'“”‘’()—-,;1I", max_size=120), st.booleans())
def test_a_sentence_is_one_sentence_again_or_begins_another_way(
    text: str, inside_quotes: bool
) -> None:
    """Cutting what was cut never moves a character, whatever it finds."""
    for sentence in split_sentences(text, "en", inside_quotes):
        again = split_sentences(sentence, "en", inside_quotes)
        assert " ".join(again) == sentence


PUBLISHED = {  # list -> how many of its cases may differ, and what is different in them
    "GOLDEN_EN_RULES_TEST_CASES": 0,
    "TESTS_WO_CLEAN": 0,
    "TESTS_WITH_CLEAN": 10,  # eight have characters removed first: tags, dot leaders, split letters
    "GOLDEN_DE_RULES_TEST_CASES": 0,
    "DE_CLEAN_RULES_TEST_CASES": 0,
    "DE_PDF_CLEAN_RULES_TEST_CASES": 0,
    "GOLDEN_FR_RULES_TEST_CASES": 0,
    "GOLDEN_ES_RULES_TEST_CASES": 0,
    "ES_MORE_TEST_CASES": 0,
    "ES_CLEAN_TEST_CASES": 0,
    "ES_PDF_CASE": 0,
    "GOLDEN_IT_RULES_TEST_CASES": 0,
    "IT_MORE_TEST_CASES": 0,
    "GOLDEN_NL_RULES_TEST_CASES": 0,
    "GOLDEN_RU_RULES_TEST_CASES": 0,
    "RU_MORE_TEST_CASES": 0,
    "GOLDEN_ZH_RULES_TEST_CASES": 0,
    "GOLDEN_JA_RULES_TEST_CASES": 0,
}
LANGUAGES = {
    "english": "en", "deutsch": "de", "french": "fr", "spanish": "es", "italian": "it",
    "dutch": "nl", "russian": "ru", "chinese": "zh", "japanese": "ja",
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_test_set_is_cut_as_it_asks(corpus: Path, name: str) -> None:
    lines = (corpus / "text" / "pysbd_golden.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["list"] == name]
    assert cases
    wrong = []
    for case in cases:
        language = LANGUAGES[re.findall(r"test_([a-z]+)", case["file"])[0]]
        wanted = [" ".join(sentence.split()) for sentence in case["sentences"]]
        if split_sentences(case["text"], language) != wanted:
            wrong.append(case["text"])
    assert len(wrong) <= PUBLISHED[name], wrong


def test_no_sentence_of_a_novel_begins_with_a_small_letter(corpus: Path) -> None:
    text = (corpus / "text" / "pg1342_pride_and_prejudice.txt").read_text(encoding="utf-8-sig")
    sentences = [
        sentence
        for paragraph in re.split(r"\n\s*\n", text)
        for sentence in split_sentences(paragraph, "en", inside_quotes=True)[1:]
    ]
    assert len(sentences) > 3000
    assert not [s for s in sentences if re.match(r"[\"'“‘(]*[a-z]", s)]
