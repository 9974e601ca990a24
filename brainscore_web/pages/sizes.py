"""The template filter `filesizeformat` and the tag `plaintext`, which every template has without loading them."""

from __future__ import annotations

import html

from django import template

from brainscore_core.formatting import size_text

register = template.Library()


@register.simple_block_tag
def plaintext(content: str) -> str:
    r"""Return rendered text as plain text in one line, for another place of the page, where it is escaped again.

    Examples
    --------
    >>> plaintext(" Tom &amp;\n Jerry ")
    'Tom & Jerry'
    """
    return " ".join(html.unescape(content).split())


@register.filter(is_safe=True)
def filesizeformat(size: float | None) -> str:
    r"""Format a size in bytes in units of 1,000, in which limits are set; Django's own filter takes units of 1,024.

    Examples
    --------
    >>> filesizeformat(20_000_000), filesizeformat(None)
    ('20\xa0MB', '')
    """
    return "" if size is None else size_text(size).replace(" ", "\N{NO-BREAK SPACE}")
