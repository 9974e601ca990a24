"""Regular expressions that see strangers' texts: their time does not grow with the square of a text's length."""

import signal
from contextlib import contextmanager

import pytest

from brainscore_core.receipts import output
from brainscore_core.submission import examination, repositories
from brainscore_web.operations import logs
from brainscore_web.submissions.review import checklist
from brainscore_web.submissions.review import plugin_code as reviewed_code

N = 100_000
MANY = (
    "a",
    "a.",
    "a:",
    "a://",
    "a@",
    "a@a.",
    " ",
    "x-amz-",
    "secret",
    "aws",
    "token ",
    "bearer ",
    "\x1b[1;",
    "'/",
    "C:\\",
)
CASES = {
    "installing": (examination._installs_packages, ("pip ", "pip install")),
    "coding": (lambda text: examination._CODING.match(text.encode()), ("#coding:utf8 ", "# ", "#coding:")),
    "pull request": (repositories._PULL.fullmatch, ("file:///", "/pull/1", "https://github.com/a/a")),
    "fields of BibTeX": (checklist._BIBTEX_FIELD.findall, ("\n", " ", "a", " \n", "a \n")),
    "expected score": (checklist._EXPECTED_SCORE.search, ("score ", "1", "score 1")),
    "version of a file": (reviewed_code._VERSION.findall, ("version_id", "version_id = '", " ")),
    "hash of a file": (reviewed_code._HASH.findall, ("a", "a ")),
    "log": (logs.without_secrets, MANY),
    "addresses and paths": (lambda text: [one.sub("", text) for one in (output._URL, output._POSIX_PATH)], MANY),
    "control characters": (lambda text: output._CONTROL.sub("", text), MANY),
}


@contextmanager
def at_most(seconds):
    def over(*_):
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", CASES)
def test_long_texts(name):
    """Each takes milliseconds; with time that grows with the square, from ten seconds to hours."""
    use, pieces = CASES[name]
    for piece in pieces:
        with at_most(10):
            use(piece * (N // len(piece)))


def test_what_they_find():
    assert examination._installs_packages("import os; pip3 -q install torch")
    assert not examination._installs_packages("install it with pip")
    assert checklist._BIBTEX_FIELD.findall("@misc{a,\n  title = {x},\n\tyear= 2026") == ["title", "year"]
    assert (
        checklist._EXPECTED_SCORE.search("The expected score of pixels is about 0.47.").group()
        == "expected score of pixels is about 0.47"
    )
    assert logs.without_secrets("to postgres://me:pw@host/x") == "to postgres://<secret>@host/x"
    assert (
        logs.without_secrets("from a.b+c@mail.example.org: secret_key = abc") == "from <address>: secret_key = <secret>"
    )
