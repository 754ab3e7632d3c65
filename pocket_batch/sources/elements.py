"""The elements of XHTML (and of DTBook) by what they do to the text around them."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# The parts of a formula.
MATHML = frozenset(
    (
        *("mi", "mn", "mo", "ms", "mtext", "mrow", "mstyle", "mspace", "mfenced", "mfrac", "msqrt"),
        *("mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr"),
        *("mtd", "mpadded", "semantics"),
    )
)
# Text on both sides of these never runs together.
BLOCKS = HEADINGS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd"),
        *("details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"),
        *("form", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
        *("tr", "ul", "dir", "option", "optgroup", "search"),
        # DTBook, as in spine documents of EPUB 2
        *("level", "level1", "level2", "level3", "level4", "level5", "level6", "book", "hd"),
        *("frontmatter", "bodymatter", "rearmatter", "doctitle", "docauthor", "sidebar", "list"),
        *("linegroup", "line", "prodnote", "imggroup", "bridgehead", "byline", "epigraph", "poem"),
        "note",
    )
)
