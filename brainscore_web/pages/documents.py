"""Documents of the site: pages of the documentation, texts that administrators edit, and filters of templates."""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib import resources
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from brainscore_core.archives import is_portable
from brainscore_core.formatting import count_text, number_text, size_text, time_text
from brainscore_web.leaderboard.models import Visitor
from brainscore_web.pages.models import HOME, PAGES_WITH_OWN_ADDRESS, News, Page, edits_texts

if TYPE_CHECKING:
    from markdown_it.token import Token


def shipped_names() -> tuple[str, ...]:
    """Return the names of the pages included in the package."""
    return (HOME, *PAGES_WITH_OWN_ADDRESS)


def shipped(name: str) -> str | None:
    """Return the Markdown of an included page; None for other names."""
    if name not in shipped_names():
        return None
    return _read(name)


def page_for(name: str, visitor: Visitor) -> tuple[Document, Page | None] | None:
    """Return a page as the visitor sees it, and its row if administrators have edited it; None if it does not exist."""
    row = Page.objects.filter(slug=name).first()
    if row is not None and (row.published or edits_texts(visitor)):
        return _rendered_page(row.slug, row.title, row.body), row
    return (_shipped(name), None) if name in shipped_names() else None


def render_text(of: Page | News) -> Document:
    """Convert a text from the database to HTML, without headings of the first level, since the title is shown above."""
    return _rendered_page(of.slug, of.title, of.body)


def state_of(*rows: Page | News | None) -> tuple[tuple[int, datetime] | None, ...]:
    """Return a value that differs once one of the rows has changed."""
    return tuple((row.pk, row.changed) if row is not None else None for row in rows)


@lru_cache(maxsize=64)
def _rendered_page(name: str, title: str, body: str) -> Document:
    document = rendered(name, body)
    return replace(document, title=title)


@lru_cache(maxsize=8)
def _shipped(name: str) -> Document:
    return rendered(name, _read(name))


def _read(name: str) -> str:
    return resources.files("brainscore_web.pages").joinpath("content", f"{name}.md").read_text(encoding="utf-8")


_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_DOCSTRING = re.compile(r"^::: ([\w.]+)\n(?:    .*(?:\n|\Z))*", re.MULTILINE)
"""Where MkDocs inserts a docstring, with options below; the site does not import what may need torch to show it."""
_PICTURES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".ipynb": "application/x-ipynb+json",
}
_NAME = re.compile(r"([a-z0-9_]+/)?[a-z0-9_]+\Z")
_LANGUAGES = frozenset({"bash", "console", "ini", "json", "python", "sh", "shell", "toml", "yaml"})
"""Highlighted languages; some other lexers take time that is quadratic in the length of the text."""


@dataclass(frozen=True)
class Section:
    """A heading of the second level, which can be linked to."""

    anchor: str
    title: str


@dataclass(frozen=True)
class Document:
    """A page of text."""

    name: str  # name of the file, without its extension, in the folder of the documentation
    title: str  # the first heading
    body: SafeString  # HTML without that heading
    sections: tuple[Section, ...]  # headings of the second level, in order
    summary: str = ""  # the first paragraph, without markup; empty if there is none


def document_names() -> tuple[tuple[str, str], ...]:
    """Return names and titles of the pages of the documentation, sorted by title, without the start page."""
    folder = _folder()
    pages = (
        (path.relative_to(folder).with_suffix("").as_posix(), _title(path.read_text(encoding="utf-8")))
        for pattern in ("*.md", "*/*.md")
        for path in folder.glob(pattern)
    )
    return tuple(sorted(((name, title) for name, title in pages if name != "index"), key=lambda item: item[1].lower()))


class Chapter(NamedTuple):
    """A chapter of the documentation, with names and titles of its pages."""

    title: str
    pages: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1)
def chapters() -> tuple[Chapter, ...]:
    """Return the chapters of the documentation in the order of its navigation, without start pages."""
    import yaml

    settings = yaml.safe_load((_folder().parent / "mkdocs.yml").read_text(encoding="utf-8"))
    return tuple(
        chapter
        for entry in settings["nav"]
        for title, content in entry.items()
        for chapter in _chapters(title, content)
    )


def _chapters(title: str, content: list[Any]) -> Iterator[Chapter]:
    """Iterate over a list of pages as a chapter, and over the lists in it."""
    entries = [item for entry in content if isinstance(entry, dict) for item in entry.items()]
    if pages := tuple((page.removesuffix(".md"), text) for text, page in entries if isinstance(page, str)):
        yield Chapter(title, pages)
    for text, nested in entries:
        if not isinstance(nested, str):
            yield from _chapters(text, nested)


def document(name: str) -> Document | None:
    """Return a page of the documentation; None for an unknown name."""
    path = _folder() / f"{name}.md"
    if not _NAME.match(name) or not is_portable(name) or not path.is_file():
        return None
    return _document(name, path, path.stat().st_mtime_ns)


def moved_to(name: str) -> str | None:
    """Return the present name of a page that had another one; None for other names."""
    return json.loads((_folder() / "moved.json").read_text(encoding="utf-8")).get(name)


def picture(name: str) -> tuple[Path, str] | None:
    """Return a file that the documentation shows or links to, and its media type; None if it does not exist."""
    if not is_portable(name):
        return None
    folder = _folder().resolve()
    path = (folder / name).resolve()
    if path.suffix not in _PICTURES or not path.is_relative_to(folder) or not path.is_file():
        return None
    return path, _PICTURES[path.suffix]


def rendered(name: str, text: str) -> Document:
    """Convert Markdown to HTML; raw HTML is shown as text, and links between pages become links of the site."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted}).enable("table")
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    tokens = parser.parse(_DOCSTRING.sub(r"- `\1`: `python -m pydoc \1`\n", _COMMENT.sub("", text)))
    sections: list[Section] = []
    title = name
    used: set[str] = set()
    body: list[Token] = []
    inside_title = False
    for token, content in zip_longest(tokens, tokens[1:]):
        if token.tag == "h1":
            inside_title = token.nesting == 1
            title = title if content is None or not inside_title else content.content.replace("`", "")
            continue
        if inside_title:
            continue
        if token.type == "heading_open" and content is not None:
            words = content.content.replace("`", "")
            token.attrSet("id", _anchor(words, used))
            if token.tag == "h2":
                sections.append(Section(str(token.attrs["id"]), words))
        for child in token.children or ():
            for link in {"href", "src"} & child.attrs.keys():
                child.attrSet(link, _address(str(child.attrs[link]), name))
        if token.type in ("th_open", "td_open") and "style" in token.attrs:  # forbidden by the security policy
            token.attrSet("class", f"to-{str(token.attrs.pop('style')).rpartition(':')[2]}")
        body.append(token)
    for opening, content, closing in zip(body, body[1:], body[2:], strict=False):
        if opening.type == "th_open" and not content.content:
            opening.tag = closing.tag = "td"  # not a heading
    html_body = parser.renderer.render(body, parser.options, {})
    return Document(name, title, mark_safe(html_body), tuple(sections), _summary(tokens))  # noqa: S308 # raw HTML was escaped


def _table_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: dict[str, int]) -> str:
    """Open a frame in which a wide table scrolls, with a name for screen readers."""
    number = env["tables"] = env.get("tables", 0) + 1
    frame = f'<div class="wide" tabindex="0" role="region" aria-label="Table {number}">'
    return f"{frame}\n{renderer.renderToken(tokens, at, options, env)}"


def _table_close(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: dict[str, int]) -> str:
    return f"{renderer.renderToken(tokens, at, options, env)}</div>\n"


def _summary(tokens: Sequence[Token]) -> str:
    for start, paragraph in pairwise(tokens):
        if start.type == "paragraph_open":
            words = ("\n" if child.type == "softbreak" else child.content for child in paragraph.children or ())
            return " ".join("".join(words).split())
    return ""


@lru_cache(maxsize=128)
def _document(name: str, path: Path, _changed: int) -> Document:
    return rendered(name, path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _folder() -> Path:
    """Return the folder of the documentation: in the installed package, or in the source checkout."""
    packed = Path(str(resources.files("brainscore_web"))) / "docs"
    return packed if packed.is_dir() else packed.parent.parent / "docs"


def _title(text: str) -> str:
    return next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")


def _anchor(words: str, used: set[str]) -> str:
    anchor = re.sub(r"[^\w]+", "-", words.lower()).strip("-") or "section"
    number, first = 1, anchor
    while anchor in used:
        number += 1
        anchor = f"{first}-{number}"
    used.add(anchor)
    return anchor


def _address(target: str, name: str) -> str:
    """Convert a link on a page of this name to an address of the site."""
    if "://" in target or target.startswith(("#", "/", "mailto:")):
        return target
    page, _, fragment = target.partition("#")
    fragment = f"#{fragment}" if fragment else ""
    page = posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
    if page.endswith(".md"):
        name = page.removesuffix(".md")
        return f"/tutorials/{fragment}" if name == "index" else f"/tutorials/{name}/{fragment}"
    return f"/tutorials/files/{page}{fragment}"


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Highlight code, in a frame that can be scrolled with the keyboard."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter  # importing `pygments.formatters` is not thread-safe
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language if language in _LANGUAGES else "text")
    return f'<pre tabindex="0"><code>{highlight(code, lexer, HtmlFormatter(nowrap=True))}</code></pre>\n'


register = template.Library()
register.filter("count", count_text)
register.filter("score", number_text)


@register.simple_block_tag
def plaintext(content: str) -> str:
    r"""Return rendered text as plain text in one line, for another place of the page, where it is escaped again.

    Examples
    --------
    >>> plaintext(" Tom &amp;\n Jerry ")
    'Tom & Jerry'
    """
    return " ".join(html.unescape(content).split())


@register.filter
def literal(value: object) -> str:
    r"""Return a value of JSON as a literal of Python, for code that pages offer.

    Examples
    --------
    >>> literal('a "b"'), literal(("V1",)), literal(None)
    ('"a \\"b\\""', "('V1',)", 'None')
    """
    return json.dumps(value) if isinstance(value, str | dict) else repr(value)


@register.filter(is_safe=True)
def filesizeformat(size: float | None) -> str:
    r"""Format a size in bytes in units of 1,000, in which limits are set; Django's own filter takes units of 1,024.

    Examples
    --------
    >>> filesizeformat(20_000_000), filesizeformat(None)
    ('20\xa0MB', '')
    """
    return "" if size is None else size_text(size).replace(" ", "\N{NO-BREAK SPACE}")


@register.filter
def utc(moment: datetime | None) -> SafeString:
    """Format a time, with its time zone; empty without one.

    Examples
    --------
    >>> utc(datetime.fromisoformat("2026-05-01T01:02:03+00:00"))
    '<time datetime="2026-05-01T01:02:03+00:00">2026-05-01 01:02 UTC</time>'
    """
    if moment is None:
        return SafeString("")
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), time_text(moment))
