"""Code with its words marked, line by line; the site's stylesheet colours them."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

__all__ = ["highlighted"]

_MOST = 500_000  # characters; longer files stay plain


def highlighted(path: str, lines: Sequence[str]) -> list[SafeString]:
    """Mark the words of a file's lines.

    Parameters
    ----------
    path : str
        By whose ending the language is told.
    lines : sequence of str
        Without line ends.

    Returns
    -------
    list of SafeString
        HTML, one for each line.
    """
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    text = "\n".join(lines)
    try:
        lexer = get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = None
    if lexer is not None and len(text) <= _MOST:
        made = highlight(text, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n").split("\n")
        if len(made) == len(lines):  # what a lexer takes for a line end, and nobody else does, leaves all plain
            return [mark_safe(one) for one in made]  # noqa: S308 # pygments escapes
    return [SafeString(escape(line)) for line in lines]
