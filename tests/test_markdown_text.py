"""No text of a subject breaks out of report.md: GitHub's own parser of Markdown sees text where text was."""

import re
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from signoff.marked_text import code, escaped, in_mermaid
from signoff.mermaid import mermaid
from signoff.report import Step
from suites.printable import on_one_line

HOSTILE = (
    "</details></summary><script>alert(1)</script>",
    "<!-- ",
    "a | b || \\| c",
    "`` ` ``` code",
    "# h\n\n- [ ] x\n1. y\n> z\n***\n===\n---",
    "**b** _i_ ~~s~~ ![i](http://x/y) [l](javascript:alert) [^1] $$x$$",
    "@octocat and @org/team, #1, GH-2, org/repo#3, :tada:",
    "http://x.example www.x.example mailto:a@b.example a@b.example",
    "&lt;b&gt; &#64;x &copy;",
    "```mermaid\ngraph TD\n```",
    "\u202eabc\u202c \x1b[31m \x00 \ud800 \u2028",
    "-",
    "12) x",
    "+ x",
    "    indented",
    "= x",
)
SAFE_TAGS = {"p", "h2", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary"}


class Seen(HTMLParser):
    """The tags and the text of what GitHub makes of a comment."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def plain(text: str) -> str:
    """What a reader is to see."""
    return on_one_line(" ".join(text.split()))


PLACES = {  # where texts stand in a report.md; each with its tags
    "- {}": ["ul", "li"],
    "## X: {}": ["h2"],
    "{}": ["p"],
    "**bold.** {}": ["p", "strong"],
    "| a |\n|---|\n| {} |": ["table", "thead", "tr", "th", "tbody", "tr", "td"],
    "<details><summary>{}</summary>\n\n</details>": ["details", "summary"],
}


MARKS = "ab1 -+=*_`~|<>&;#@:/\\[](){}!$.\n\t\x00\u2028\u202e"


@settings(max_examples=60, deadline=None)
@given(text=(st.sampled_from(HOSTILE) | st.text(MARKS, min_size=1)).filter(lambda text: text.split() != []))
@pytest.mark.parametrize("place", PLACES)
def test_a_text_stays_text_wherever_it_stands(place: str, text: str) -> None:
    """No tag more, and no character less."""
    for shown, more in ((escaped(text), []), (code(text), ["code"])):
        seen = Seen(place.format(shown))
        assert seen.tags == PLACES[place] + more
        assert plain(text) in re.sub("\u200b", "", seen.text)


@pytest.mark.parametrize("linked", ["@octocat", "#12", "https://x", "www.x.example", "GH-1", ":tada:"])
def test_what_github_links_or_notifies_is_taken_apart(linked: str) -> None:
    """It does so after Markdown is read, where a character reference is a character again."""
    assert linked not in Seen(escaped(f"see {linked} there")).text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_diagram_has_a_line_a_step_whatever_they_say(text: str) -> None:
    """The words of a step are of letters, digits and references alone, and end neither their line nor the block."""
    lines = mermaid((Step(0, text, "b", text), Step(0, "b", "", text, "strike"))).split("\n")
    assert lines[0] == "```mermaid"
    assert lines[1:4] == ["sequenceDiagram", f"  participant p0 as {in_mermaid(text)}", "  participant p1 as b"]
    assert lines[4:] == [f"  p0->>p1: {in_mermaid(text)}", f"  Note over p1: ⚡ {in_mermaid(text)}", "```"]
    assert re.fullmatch(r"([A-Za-z0-9 ,.()/+-]|#\d+;)*", in_mermaid(text))


def test_a_step_of_nobody_is_drawn_all_the_same() -> None:
    """No diagram of ours has one; a report that somebody has changed may."""
    assert "  participant p0 as ?" in mermaid((Step(0, "", "", "x"),)).split("\n")
