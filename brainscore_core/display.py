"""Text and HTML that objects show of themselves in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Rows = Sequence[tuple[str, str]]

_LONGEST = 400  # characters of one value


def as_text(title: str, rows: Rows) -> str:
    r"""Write a title and, below it, names with their values.

    Examples
    --------
    >>> print(as_text("Score 0.5", [("ceiling", "0.8"), ("raw", "0.4\x1b[31m")]))
    Score 0.5
      ceiling  0.8
      raw      0.4�[31m
    """
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([printable(title), *(f"  {name.ljust(width)}  {printable(value)}" for name, value in rows)])


def as_html(title: str, rows: Rows, *, more: str = "") -> str:
    """Write a title and a table of names with their values as HTML; both are escaped.

    Parameters
    ----------
    title : str
        Line above the table.
    rows : sequence of (str, str)
        Names and values.
    more : str
        HTML that follows the table.

    Examples
    --------
    >>> as_html("Model <b>", [("layers", "conv1 & conv2")]).count("&lt;b&gt;")
    1
    """
    cells = "".join(
        f'<tr><th style="text-align: left; vertical-align: top; font-weight: normal; opacity: .7">{_html(name)}</th>'
        f'<td style="text-align: left; overflow-wrap: anywhere">{_html(value)}</td></tr>'
        for name, value in rows
    )
    table = f'<table style="margin: .3em 0">{cells}</table>' if cells else ""
    return f'<div><strong style="overflow-wrap: anywhere">{_html(title)}</strong>{table}{more}</div>'


def folded(summary: str, content: str) -> str:
    """Write HTML that is shown after a click on its summary.

    Examples
    --------
    >>> folded("values", "<p>1</p>")
    '<details><summary>values</summary><p>1</p></details>'
    """
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def printable(text: str) -> str:
    r"""Replace control characters, and shorten very long texts.

    Examples
    --------
    >>> printable("a\x07b")
    'a�b'
    """
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def first_few(names: Iterable[object], most: int = 6) -> str:
    """Join the first names, and count the others.

    Examples
    --------
    >>> first_few("abcd", most=2), first_few("ab")
    ('a, b and 2 more', 'a, b')
    """
    listed = list(names)
    shown = ", ".join(str(name) for name in listed[:most])
    return f"{shown} and {len(listed) - most} more" if len(listed) > most else shown


def _html(text: str) -> str:
    return escape(printable(text))
