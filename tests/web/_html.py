"""What is wrong with the HTML of a page: tags that are not closed or nested wrongly, attributes that are damaged."""

import re
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
IN_PARAGRAPHS = {
    "a", "abbr", "b", "br", "button", "cite", "code", "data", "datalist", "del", "dfn", "em", "i", "img", "input",
    "ins", "kbd", "label", "mark", "math", "meter", "optgroup", "option", "output", "picture", "progress", "q", "s",
    "samp", "script", "select", "small", "span", "strong", "sub", "sup", "svg", "template", "textarea", "time", "u",
    "var", "video", "wbr",
}  # fmt: skip
PARENTS = {
    "li": {"ul", "ol", "menu"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}, "option": {"select", "datalist", "optgroup"},
    "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"}, "summary": {"details"},
    "legend": {"fieldset"}, "caption": {"table"}, "figcaption": {"figure"},
}  # fmt: skip
ONLY = {"ul": {"li", "script", "template"}, "ol": {"li", "script", "template"}, "tr": {"td", "th", "template"}}
NOT_INSIDE_ITSELF = {"a", "button", "form", "label"}
ADDRESSES = {"href", "src", "action", "hx-get", "hx-post"}


def html_problems(text):
    """Return the problems of a page, each with its line."""
    page = _Page()
    page.feed(text)
    page.close()
    page.problems += [f"<{tag}> of line {line} is not closed" for tag, line in page.open]
    if not text.lstrip().lower().startswith("<!doctype html>"):
        page.problems.append("no doctype")
    return page.problems


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems, self.ids = [], [], set()

    def _report(self, problem):
        self.problems.append(f"line {self.getpos()[0]}: {problem}")

    def handle_starttag(self, tag, attributes):
        self._check_attributes(tag, attributes)
        outer = [name for name, _ in self.open]
        parent = outer[-1] if outer else None
        if "svg" not in outer and "math" not in outer:
            if parent not in PARENTS.get(tag, {parent}) or tag not in ONLY.get(parent, {tag}):
                self._report(f"<{tag}> inside <{parent}>")
            if "p" in outer and tag not in IN_PARAGRAPHS:
                self._report(f"<{tag}> inside <p>")
        if tag in NOT_INSIDE_ITSELF and tag in outer:
            self._report(f"<{tag}> inside <{tag}>")
        if tag not in VOID:
            self.open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            if not {"svg", "math"} & {name for name, _ in self.open}:
                self._report(f"<{tag}/> is not closed by its slash")
            self.open.pop()

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()
        else:
            self._report(f"</{tag}> inside {[name for name, _ in self.open[-3:]]}")

    def _check_attributes(self, tag, attributes):
        names = [name for name, _ in attributes]
        for name, value in attributes:
            if not re.fullmatch(r"[a-z][a-z0-9:._-]*", name):
                self._report(f"<{tag}> has the attribute {name!r}")
            if name in ADDRESSES and re.search(r"[\s<>\"]", value or ""):
                self._report(f"<{tag}> has {name}={value!r}")
            if name == "id":
                if not value or re.search(r"\s", value) or value in self.ids:
                    self._report(f"<{tag}> has the id {value!r}, empty, with spaces, or for the second time")
                self.ids.add(value)
        for name in {name for name in names if names.count(name) > 1}:
            self._report(f"<{tag}> has {name} more than once")

    def handle_data(self, data):
        parent = self.open[-1][0] if self.open else None
        if data.strip() and parent in {None, "ul", "ol", "dl", "table", "thead", "tbody", "tr", "select"}:
            self._report(f"text inside <{parent}>: {data.strip()[:40]!r}")


def is_page(answer):
    """Whether an answer is a whole page, and not a part of one that replaces another part."""
    return answer.get("Content-Type", "").startswith("text/html") and b"<body" in getattr(answer, "content", b"")
