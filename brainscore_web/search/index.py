"""The index of the search: its sources, the words of their texts, and the one function that brings it up to date.

The sweep calls :func:`refresh` every few seconds: whatever changed the data, also in bulk or in another process, it
compares the entries of changed sources with those that are stored, and writes the differences. Whether a visitor may
see an entry is asked of the rows themselves in each search, so that it does not depend on the index.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from html import unescape
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import strip_tags

from brainscore_web.accounts.models import Lab, User
from brainscore_web.competitions.models import Competition
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, VisionModel, Visitor, chunks
from brainscore_web.pages.documents import Document, document, document_names, page_for, render_text, shipped_names
from brainscore_web.pages.models import HOME, News, Page, address_of, edits_texts
from brainscore_web.search.models import Entry, Words, WordsOfEntry, write_words

_LONGEST_SUMMARY = 300


@dataclass(frozen=True)
class Text:
    """An entry as its source describes it."""

    key: str
    title: str
    address: str
    row: int | None = None
    domain: str = ""
    identifier: str = ""
    summary: str = ""
    text: str = ""  # further words

    @functools.cached_property
    def digest(self) -> str:
        """The hash of all fields."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True)
class Source:
    """A kind of entries.

    Attributes
    ----------
    title : str
        The heading of these entries in results.
    texts : callable
        Returns all entries, also those that not all visitors may see.
    state : callable
        Returns a value that differs once the entries may have changed; a constant for files of the package.
    visible : callable, optional
        Returns the rows that a visitor may see. Entries without a row are visible to all.
    """

    title: str
    texts: Callable[[], Iterable[Text]]
    state: Callable[[], Any]
    visible: Callable[[Visitor], QuerySet[Any]] | None = field(default=None)


def refresh() -> int:
    """Bring the index up to date; return the number of entries that were written or deleted."""
    return sum(_refresh_source(kind, source) for kind, source in SOURCES.items())


_states: dict[str, tuple[Any, int]] = {}
"""The state of each source when this process compared it last, and the number of entries that it had then."""


def _refresh_source(kind: str, source: Source) -> int:
    state, stored = source.state(), Entry.objects.filter(kind=kind)
    if _states.get(kind) == (state, stored.count()):
        return 0
    texts = {text.key: text for text in source.texts()}
    digests = dict(stored.values_list("key", "digest"))
    changed = [text for key, text in texts.items() if digests.get(key) != text.digest]
    gone = digests.keys() - texts.keys()
    for some in chunks(changed):
        _write(kind, some)
    for keys in chunks(gone):
        with revision.exclusive_write():
            rows = list(stored.filter(key__in=keys).values_list("pk", flat=True))
            Words.objects.filter(pk__in=rows).delete()
            stored.filter(pk__in=rows).delete()
    _states[kind] = (state, len(texts))
    return len(changed) + len(gone)


def _write(kind: str, texts: Iterable[Text]) -> None:
    entries = [Entry(kind=kind, digest=text.digest, **asdict(text)) for text in texts]
    names = [column.name for column in Entry._meta.fields if column.name not in ("id", "kind", "key")]
    with revision.exclusive_write():
        written = Entry.objects.bulk_create(
            entries, update_conflicts=True, unique_fields=["kind", "key"], update_fields=names
        )
        write_words({entry.pk: _words_of(entry) for entry in written})


def _words_of(entry: Entry) -> WordsOfEntry:
    names = f"{entry.title} {entry.identifier}"
    components = (component for word in _WORDS.findall(names) for component in split(word))
    words = {*words_in(names), *components, joined(entry.title), joined(entry.identifier)}
    return WordsOfEntry(
        names=frozenset(words - {""}),
        text=list(words_in(f"{entry.summary} {entry.text}")),
        parts=parts_of(names),
    )


_WORDS = re.compile(r"[^\W_]+")
_COMPONENTS = re.compile(r"\d+|[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|[^\W\d_]")
_LONGEST_WORD = 60


def folded(text: str) -> str:
    """Return a text without differences of case and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words_in(text: str) -> Iterator[str]:
    """Iterate over the words of a text, of letters and digits.

    Examples
    --------
    >>> list(words_in("MajajHong2015public.IT-pls, à la carte"))
    ['majajhong2015public', 'it', 'pls', 'a', 'la', 'carte']
    """
    return (word[:_LONGEST_WORD] for word in _WORDS.findall(folded(text)))


def split(word: str) -> tuple[str, ...]:
    """Return the components of a word: numbers, and words that begin with a capital letter.

    Examples
    --------
    >>> split("MajajHong2015public")
    ('majaj', 'hong', '2015', 'public')
    >>> split("resnet50")
    ('resnet', '50')
    """
    return tuple(next(words_in(component), "") for component in _COMPONENTS.findall(word))


def joined(text: str) -> str:
    """Return the letters and digits of a text as one word."""
    return "".join(words_in(text))[:_LONGEST_WORD]


def parts_of(text: str) -> frozenset[str]:
    """Return all groups of three neighbouring characters in the words of a text; an underscore marks their limits.

    Examples
    --------
    >>> sorted(parts_of("V1, IT"))
    ['_it', '_v1', 'it_', 'v1_']
    """
    words = [f"_{word}_" for word in words_in(text)]
    return frozenset(word[start : start + 3] for word in words for start in range(len(word) - 2))


def _models() -> Iterator[Text]:
    fields = ("pk", "identifier", "domain", "title", "architecture", "family", "training_data")
    for pk, identifier, domain, title, architecture, family, training in VisionModel.objects.values_list(*fields):
        facts = (architecture, family, training and f"trained on {training}")
        yield Text(
            key=identifier, row=pk, domain=domain, title=title or identifier, identifier=identifier,
            address=reverse("cards:model", args=[domain, identifier]), summary=" · ".join(filter(None, facts)),
        )  # fmt: skip


def _benchmarks() -> Iterator[Text]:
    fields = ("region", "species", "task", "method", "stimuli", "metric")
    for row in Benchmark.objects.values("pk", "identifier", "domain", "title", "description", "credit", *fields):
        facts = (row[name] for name in fields)
        yield Text(
            key=row["identifier"], row=row["pk"], domain=row["domain"], title=row["title"] or row["identifier"],
            identifier=row["identifier"], address=reverse("cards:benchmark", args=[row["domain"], row["identifier"]]),
            summary=" · ".join(filter(None, facts)), text=f"{row['description']} {row['credit']}".strip(),
        )  # fmt: skip


def _of_document(key: str, address: str, document: Document, row: int | None = None) -> Text:
    return Text(
        key=key, row=row, title=document.title[:200], address=address, summary=document.summary[:_LONGEST_SUMMARY],
        text=" ".join(unescape(strip_tags(document.body)).split()),
    )  # fmt: skip


def _tutorials() -> Iterator[Text]:
    for name, _ in document_names():
        page = document(name)
        if page is not None:
            yield _of_document(name, reverse("pages:tutorial", args=[name]), page)


def _pages() -> Iterator[Text]:
    for row in Page.objects.exclude(slug=HOME):
        yield _of_document(f"row {row.pk}", address_of(row.slug), render_text(row), row.pk)
    edited = set(Page.objects.filter(published=True).values_list("slug", flat=True))
    for name in shipped_names():
        if name not in edited and name != HOME:
            page = page_for(name, AnonymousUser())
            if page is not None:
                yield _of_document(name, address_of(name), page[0])


def _news() -> Iterator[Text]:
    for row in News.objects.all():
        yield _of_document(str(row.pk), row.get_absolute_url(), render_text(row), row.pk)


def _competitions() -> Iterator[Text]:
    for row in Competition.objects.all():
        yield Text(
            key=str(row.pk), row=row.pk, domain=row.domain, title=row.title, address=row.get_absolute_url(),
            summary=row.summary[:_LONGEST_SUMMARY], text=f"{row.summary} {row.about}",
        )  # fmt: skip


def _people() -> Iterator[Text]:
    for person in _public_people():
        yield Text(
            key=str(person.pk), row=person.pk, title=person.public_name, address=person.page,
            summary=person.affiliation, text=person.orcid,
        )  # fmt: skip


def _labs() -> Iterator[Text]:
    for lab in Lab.objects.all():
        yield Text(
            key=str(lab.pk), row=lab.pk, title=lab.name, address=lab.page,
            summary=lab.description[:_LONGEST_SUMMARY], text=lab.description,
        )  # fmt: skip


def _public_people(_visitor: Visitor | None = None) -> QuerySet[User]:
    return User.objects.filter(public_page=True, is_active=True)


SOURCES = {
    "model": Source("Models", _models, revision.current, VisionModel.objects.visible_to),
    "benchmark": Source("Benchmarks", _benchmarks, revision.current, lambda visitor: Benchmark.objects.all()),
    "person": Source(
        "People",
        _people,
        lambda: tuple(_public_people().values_list("pk", "display_name", "affiliation", "orcid")),
        _public_people,
    ),
    "lab": Source(
        "Labs",
        _labs,
        lambda: tuple(Lab.objects.values_list("pk", "name", "slug", "description")),
        lambda visitor: Lab.objects.all(),
    ),
    "tutorial": Source("Tutorials and documentation", _tutorials, lambda: ""),
    "page": Source(
        "Pages",
        _pages,
        lambda: tuple(Page.objects.values_list("pk", "changed", "published")),
        lambda visitor: Page.objects.all() if edits_texts(visitor) else Page.objects.filter(published=True),
    ),
    "news": Source("News", _news, lambda: tuple(News.objects.values_list("pk", "changed")), News.objects.visible_to),
    "competition": Source(
        "Competitions",
        _competitions,
        lambda: tuple(Competition.objects.values_list("pk", "slug", "domain", "title", "summary", "about")),
        Competition.objects.visible_to,
    ),
}
"""All kinds of entries, in the order of results that match equally well."""
