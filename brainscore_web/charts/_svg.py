"""Elements of SVG as text: escaped, short, the same for the same input."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString

__all__ = ["clipped", "element", "figure", "join", "number", "text_width"]

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML 1.0
_NARROW, _WIDE = frozenset("fijlrtI.,:;'|!()[]/- "), frozenset("mwMWQGO@%—…")


def number(value: float) -> str:
    """Write a coordinate: one decimal, without what is not needed.

    Examples
    --------
    >>> number(12.04), number(-0.04), number(3.25)
    ('12', '0', '3.2')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: str | float | None) -> SafeString:
    """One element; `class_` is class, other underscores are hyphens, None is left out, text is escaped."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None:
            continue
        text = number(value) if isinstance(value, int | float) else _clean(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    inner = "".join(
        child if isinstance(child, SafeString) else escape(_clean(child), quote=False) for child in children
    )
    parts.append(f">{inner}</{name}>" if children else "/>")
    return SafeString("".join(parts))


def join(parts: Iterable[SafeString]) -> SafeString:
    """Several elements, one after the other."""
    return SafeString("".join(parts))


def figure(
    content: SafeString,
    *,
    width: float,
    height: float,
    title: str,
    description: str,
    kind: str,
    identifier: str = "",
    links: bool = False,
) -> SafeString:
    """The svg element around a chart, with its name and description.

    An image has no parts for assistive technology; with links in it, it is therefore a group.
    """
    if not identifier:
        identifier = "chart-" + hashlib.sha256(f"{title}{description}{content}".encode()).hexdigest()[:8]
    return element(
        "svg",
        element("title", title, id=f"{identifier}-title"),
        element("desc", description, id=f"{identifier}-desc"),
        content,
        xmlns="http://www.w3.org/2000/svg",
        class_=f"chart chart-{kind}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="group" if links else "img",
        aria_labelledby=f"{identifier}-title",
        aria_describedby=f"{identifier}-desc",
    )


def text_width(text: str, size: float = 12) -> float:
    """About how wide a text is in a plain sans-serif type; rather too much, as types differ.

    Examples
    --------
    >>> text_width("ill") < text_width("abc") < text_width("WWW")
    True
    """
    return size * sum(0.37 if c in _NARROW else 0.93 if c in _WIDE else 0.7 if c.isupper() else 0.61 for c in text)


def clipped(text: str, width: float, size: float = 12) -> str:
    """The text, shortened in its middle until it fits: the ends of names tell them apart.

    Examples
    --------
    >>> clipped("a_rather_long_identifier-pls", 90)
    'a_rath…ier-pls'
    """
    if text_width(text, size) <= width:
        return text
    keep = len(text)
    while keep > 2:
        keep -= 1
        short = f"{text[: keep // 2]}…{text[len(text) - (keep - keep // 2) :]}"
        if text_width(short, size) <= width:
            return short
    return "…"


def finite(*values: float) -> bool:
    """Whether all of them are numbers."""
    return all(math.isfinite(value) for value in values)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("�", text)
