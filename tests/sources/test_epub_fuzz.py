"""Damaged books, seeded: a book or an `InputError`, whatever was damaged."""

import random
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

FUZZ = runpy.run_path(str(Path(__file__).parent / "fuzz_epubs.py"))
BODY = (
    "<h1 id='a'>One</h1><p>{prose}<a epub:type='noteref' href='#n1' id='r1'>1</a></p>"
    "<aside epub:type='footnote' id='n1'><p>A note. <a href='#r1'>Back</a></p></aside>"
    "<ol start='3'><li>Salt<ul><li>coarse</li></ul></li></ol><table><tr><th>Day</th></tr></table>"
    "<ruby>漢<rt>kan</rt></ruby><math><msup><mi>x</mi><mn>2</mn></msup></math><svg><text>s</text>"
    "</svg><p xml:lang='la'>Lorem &mdash; ipsum<sup>2</sup><br/>dolor</p><h2 id='b'>Two</h2>"
    "<pre>code</pre><span epub:type='pagebreak' title='4'>4</span><p hidden=''>hidden</p>"
)


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_book_is_read_or_refused_within_time(
    make_epub: Callable[..., Path], prose: str, seed: int
) -> None:
    path = make_epub(
        {"a.xhtml": BODY.format(prose=prose), "b.xhtml": f"<p>{prose}</p>"},
        toc=[("One", "a.xhtml#a"), ("Two", "a.xhtml#b")],
        ncx=[("One", "a.xhtml#a")],
        guide='<guide><reference type="copyright-page" href="b.xhtml"/></guide>',
    )
    original = path.read_bytes()
    chance = random.Random(seed)
    for number in range(60):
        content = FUZZ["mutate"](original, chance)
        path.write_bytes(content)
        assert FUZZ["outcome_of"](path) in ("book", "refused"), (seed, number)
