"""Markdown of organisers as HTML: no raw HTML, headings below those of the page, nothing in it is an anchor."""

from __future__ import annotations

import re
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe

from brainscore_web.pages.documents import rendered

__all__ = ["html_of"]

_HEADING = re.compile(r'<(/?)h([1-6])(?: id="[^"]*")?>')
_TABLE = re.compile(r'aria-label="Table (\d+)"')
_DEEPEST = 6


@lru_cache(maxsize=512)
def html_of(text: str, name: str = "", *, below: int = 2) -> SafeString:
    """Make HTML of Markdown.

    Parameters
    ----------
    text : str
        Markdown; raw HTML in it is shown, not used.
    name : str
        What it is, for readers of the screen, where it has tables.
    below : int
        The level of the heading that it stands under.
    """
    body = rendered("text", text).body
    first = min((int(found[2]) for found in _HEADING.finditer(body)), default=1)

    def moved(found: re.Match[str]) -> str:
        return f"<{found[1]}h{min(int(found[2]) - first + below + 1, _DEEPEST)}>"

    label = re.sub(r"[^\w ]", "", name)
    body = _TABLE.sub(rf'aria-label="{label} table \1"', _HEADING.sub(moved, body))
    return mark_safe(body)  # noqa: S308 # `rendered` escapes raw HTML
