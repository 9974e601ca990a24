"""Template filters for numbers, sizes and times, and the tag `plaintext`; every template has them without loading."""

from __future__ import annotations

import html
import json
from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brainscore_core.formatting import count_text, number_text, size_text, time_text

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
