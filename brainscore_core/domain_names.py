"""Names of the domains, and where their descriptions are."""

import os
import re
from collections.abc import Mapping

DOMAINS: Mapping[str, str] = {
    "vision": "brainscore_vision.domain:DOMAIN",
    "language": "brainscore_language.domain:DOMAIN",
}
"""The list of domains: name → where its description is. A description is imported when it is first needed."""

PACKAGES = tuple(address.partition(".")[0] for address in DOMAINS.values())
"""Packages of the domains."""

FIRST = next(iter(DOMAINS))
"""The domain of receipts and database rows that do not name theirs: for years there was no other."""

SEPARATOR = ":"
"""Stands between the name of a domain and that of an object."""


def domain_of_path(path: str | os.PathLike[str]) -> str | None:
    """Name of the domain whose package contains a path such as ``brainscore_language/models/mine``; None if none does.

    Examples
    --------
    >>> domain_of_path("brainscore_language/models/mine"), domain_of_path("models/mine")
    ('language', None)
    """
    folders = os.fspath(path).replace("\\", "/").split("/")
    return next((name for name, package in zip(DOMAINS, PACKAGES, strict=True) if package in folders), None)


_IMPORT = re.compile(rf"^[ \t]*(?:from|import)[ \t]+({'|'.join(PACKAGES)})\b".encode(), re.MULTILINE)


def domain_of_source(source: bytes) -> str | None:
    r"""Name of the domain whose package a Python file imports first; None if it imports none.

    Examples
    --------
    >>> domain_of_source(b"import numpy\nfrom brainscore_language import model_registry")
    'language'
    """
    match = _IMPORT.search(source)
    return None if match is None else domain_of_path(match[1].decode())


def split_name(text: str) -> tuple[str | None, str]:
    """Split a name into the domain that its prefix states, or None, and the rest.

    Examples
    --------
    >>> split_name("language:gpt2"), split_name("timm:resnet18"), split_name("pixels")
    (('language', 'gpt2'), (None, 'timm:resnet18'), (None, 'pixels'))
    """
    prefix, separator, rest = text.partition(SEPARATOR)
    return (prefix, rest) if separator and prefix in DOMAINS else (None, text)
