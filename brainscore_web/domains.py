"""Domains in addresses of the site."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from django.http import HttpRequest

from brainscore_core.domain_names import DOMAINS
from brainscore_core.domains import Domain, domain


def package_folder(name: str) -> Path:
    """Return the folder of the package of a domain."""
    return Path(str(files(domain(name).package)))


class DomainConverter:
    """URL converter of the names of domains."""

    regex = "|".join(DOMAINS)

    def to_python(self, value: str) -> Domain:
        return domain(value)

    def to_url(self, value: Domain | str) -> str:
        return value if isinstance(value, str) else value.name


def domain_of(request: HttpRequest) -> Domain:
    """Return the domain that the address of a page names, otherwise the first one."""
    match = request.resolver_match
    named = None if match is None else match.kwargs.get("domain")
    return named if isinstance(named, Domain) else domain()
