"""Citations are taken apart, and what they lack is named."""

import pytest

from brainscore_core.plugins.bibtex import BibtexError, Entry, missing_fields, parse_bibtex, reference


def test_the_usual_ways_to_write_a_value():
    (entry,) = parse_bibtex(
        """
        % a comment
        @Article{majaj2015simple,
          Title   = {Simple learned weighted sums of {Inferior Temporal} neuronal firing rates},
          author  = "Majaj, Najib J. and {DiCarlo}, James J.",
          journal = "Journal of " # "Neuroscience",
          year    = 2015,
          doi={10.1523/JNEUROSCI.5181-14.2015},
        }
        """
    )
    assert (entry.kind, entry.key) == ("article", "majaj2015simple")
    assert entry.fields == {
        "title": "Simple learned weighted sums of {Inferior Temporal} neuronal firing rates",
        "author": "Majaj, Najib J. and {DiCarlo}, James J.",
        "journal": "Journal of Neuroscience",
        "year": "2015",
        "doi": "10.1523/JNEUROSCI.5181-14.2015",
    }
    assert missing_fields(entry) == []


def test_several_entries_and_what_is_none():
    text = (
        "@comment{left out} @string{jn = {J}} text between @misc{a, title={A}} @book(b, title = {B (2nd)}, year=2001)"
    )
    assert parse_bibtex(text) == [
        Entry("misc", "a", {"title": "A"}),
        Entry("book", "b", {"title": "B (2nd)", "year": "2001"}),
    ]
    assert parse_bibtex("no entry, but mail@example.org {here}") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("@misc{a, title = {A}", "line 1: the entry is not closed"),
        ("@misc{a,\n title = {A", "line 2: } is missing"),
        ("@misc{a, title {A}}", "'=' is expected after 'title'"),
        ("@misc{a,\n\n title = , year = 2001}", "line 3: the field 'title' has no value"),
        ("@misc{a, = {A}}", "the name of a field is expected"),
        ("@misc{a", "the entry is not closed"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, problem):
    with pytest.raises(BibtexError, match=problem):
        parse_bibtex(text)


def test_what_is_missing_or_empty():
    assert missing_fields(Entry("misc", "a", {"title": " ", "year": "{}"})) == [
        "author", "title", "year", "journal or url",
    ]  # fmt: skip
    assert missing_fields(Entry("online", "a", {"editor": "E", "title": "T", "date": "2020-01", "doi": "10.1/x"})) == []


@pytest.mark.parametrize(
    ("authors", "written"),
    [
        (r"Sch{\"u}tt, Heiko H and {\'E}mile Zola", "Schütt & Zola"),
        ("Ada Lovelace and others", "Lovelace et al."),
        ("{Data and Simulation Group}", "Data and Simulation Group"),
        ("{Group of A, B}  AND\nMaria de la Cruz", "Group of A, B & de la Cruz"),
        (r"\O stergaard, S\o ren and {\'{\i}}ngrid {\v S}a{\c{s}}a", "Østergaard & Šaşa"),
        ("others", "key"),
        ("", "key"),
    ],
)
def test_authors_of_a_reference(authors, written):
    entry = Entry("article", "key", {"author": authors, "title": "{T}", "doi": r"10.1/a\_b"})
    assert reference(entry) == f"{written} (n.d.). T. https://doi.org/10.1/a_b"


def test_text_of_a_hostile_field_takes_linear_time():
    for text in ("{" * 100_000, '\\"{' * 50_000, "a and " * 20_000, r"\c " * 50_000, " " * 100_000 + "{"):
        assert len(reference(Entry("misc", "key", {"author": text, "title": text}))) < 300_000
