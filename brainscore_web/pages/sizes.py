"""The template filter `filesizeformat`, which every template has without loading it."""

from __future__ import annotations

from django import template

from brainscore_core.formatting import size_text

register = template.Library()


@register.filter(is_safe=True)
def filesizeformat(size: float | None) -> str:
    r"""Format a size in bytes in units of 1,000, in which limits are set; Django's own filter takes units of 1,024.

    Examples
    --------
    >>> filesizeformat(20_000_000), filesizeformat(None)
    ('20\xa0MB', '')
    """
    return "" if size is None else size_text(size).replace(" ", "\N{NO-BREAK SPACE}")
