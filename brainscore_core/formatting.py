"""Texts for people: numbers, intervals, counts, sizes and times, and what objects show of themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from brainscore_core.populations import population

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings of cells that spreadsheets read as formulas."""


def harmless(cell: str) -> str:
    """Return the text of a CSV cell, with an apostrophe before text that a spreadsheet would read as a formula.

    Examples
    --------
    >>> harmless("=1+1"), harmless("resnet-50")
    ("'=1+1", 'resnet-50')
    """
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def number_text(value: float | None, places: int = 3, *, plus: bool = False) -> str:
    """Write a number; – if there is none.

    NaN counts as None. With `plus`, a positive number has a sign, as differences have.

    Examples
    --------
    >>> number_text(0.41234), number_text(-0.5), number_text(12345.6), number_text(None), number_text(0.2, plus=True)
    ('0.412', '−0.500', '1.23e+04', '–', '+0.200')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{places}f}" if abs(value) < 1000 else f"{value:.3g}"
    if float(text) == 0:
        return text.lstrip("-")
    return ("+" if plus and value > 0 else "") + text.replace("-", "−")


def count_text(value: float | None) -> str:
    """Write a number of things; from a million on with three digits.

    Examples
    --------
    >>> count_text(0), count_text(2350), count_text(1_135_000), count_text(61_100_840), count_text(1.5e9)
    ('0', '2,350', '1.14 M', '61.1 M', '1.50 G')
    """
    if value is None:
        return ""
    for unit, digits in (("G", 9), ("M", 6)):
        size = 10**digits
        if value >= 0.9995 * size:
            decimals = 2 if value < 10 * size else 1 if value < 100 * size else 0
            return f"{round(value, decimals - digits) / size:.{decimals}f} {unit}"
    return f"{value:,.0f}"


def p_text(p: float | None) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_text(0.0277), p_text(1e-7), p_text(None)
    ('p = 0.028', 'p < 0.0001', 'p unknown')
    """
    if p is None:
        return "p unknown"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def time_text(moment: datetime, *, seconds: bool = False) -> str:
    """Write a time with its time zone, which is always UTC; without a time zone, it is one of UTC.

    Examples
    --------
    >>> time_text(datetime.fromisoformat("2026-05-01T01:02:03+02:00"))
    '2026-04-30 23:02 UTC'
    """
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if seconds else f"{moment:%Y-%m-%d %H:%M} UTC"


def size_text(size: float) -> str:
    """Write a size in bytes with at most three digits. Units are powers of 1,000, in which limits are set, too.

    Examples
    --------
    >>> size_text(1), size_text(999), size_text(41_200), size_text(20_000_000), size_text(2.314e9)
    ('1 byte', '999 bytes', '41.2 kB', '20 MB', '2.31 GB')
    """
    if size < 1000:
        return f"{size:.0f} byte{'' if round(size) == 1 else 's'}"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.5:  # larger values are rounded to the next unit
            return f"{size:.3g} {unit}"
    return f"{size / 1000:,.1f} TB"


def range_text(low: float, high: float) -> str:
    """Write the limits of an interval, either of which may be missing (infinite).

    Examples
    --------
    >>> range_text(0.1, 0.5), range_text(-0.1, 0.5)
    ('0.100–0.500', '−0.100 to 0.500')
    >>> range_text(0.1, math.inf), range_text(-math.inf, 0.5), range_text(-math.inf, math.inf)
    ('0.100 and more, no upper limit', '0.500 and less, no lower limit', 'no limits')
    """
    if math.isinf(low) and math.isinf(high):
        return "no limits"
    if math.isinf(high):
        return f"{number_text(low)} and more, no upper limit"
    if math.isinf(low):
        return f"{number_text(high)} and less, no lower limit"
    between = "–" if low >= 0 else " to "
    return number_text(low) + between + number_text(high)


def estimate_text(
    value: float | None,
    *,
    error: float | None = None,
    ci: tuple[float | None, float | None] | None = None,
    level: float | None = None,
    estimates: str | None = None,
    finding: str | None = None,
    brief: bool = False,
) -> str:
    """Write a number with its interval; with its standard error if there is only that.

    - `value`: the number.
    - `error`: its standard error. It is written only if there is no interval: they say the same thing.
    - `ci`: limits of its interval. Infinite is no limit; with None or NaN in one of them, there is no interval.
    - `level`: confidence level of the interval; default .95.
    - `estimates`: what the interval estimates, as ``attrs['ci_estimates']`` says it.
    - `finding`: what is written in place of an interval and of the standard error, if there is no interval.
    - `brief`: for tables whose heading says what the limits are: without the population, and without a level of 95 %.

    Examples
    --------
    >>> estimate_text(0.49, error=0.03, ci=(0.43, 0.56), estimates="new stimuli and new neuroids; 120 stimuli")
    '0.490 (95 %: 0.430–0.560; new stimuli and new neuroids)'
    >>> estimate_text(0.49, ci=(0.43, 0.56), brief=True)
    '0.490 (0.430–0.560)'
    >>> estimate_text(1.0, error=0.03, finding="above the ceiling: 1.940 (1.770–2.140)")
    '1.000 (above the ceiling: 1.940 (1.770–2.140))'
    >>> estimate_text(0.49, error=0.03), estimate_text(0.49), estimate_text(None)
    ('0.490 (standard error 0.030)', '0.490', '–')
    """
    text = number_text(value)
    if text == "–":
        return text
    low, high = (None, None) if ci is None else ci
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        has_error = error is not None and math.isfinite(error)
        if finding:
            return f"{text} ({finding})"
        return f"{text} (standard error {number_text(error)})" if has_error else text
    over = "" if brief else population(estimates)
    before = "" if brief and level in {None, 0.95} else f"{100 * (level or 0.95):g} %: "
    return f"{text} ({before}{range_text(low, high)}{f'; {over}' if over else ''})"


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

    `title`: line above the table. `rows`: names and values. `more`: HTML that follows the table.

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
