"""The queue, the page of a revision, what is said about lines, what changed."""

import re
from difflib import SequenceMatcher

import pytest
from django.core.cache import caches

from brainscore_web.submissions import source_code
from brainscore_web.submissions.models import Plugin, Submission
from brainscore_web.submissions.review.comments import anchor_of, discussion
from brainscore_web.submissions.source_code import MAX_CONTENT, decoded, file_diffs, relocated_lines, texts_of

from ._made import add_revision, benchmark_files, make, model_files

PATH = "benchmarks/author2026/benchmark.py"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def shown(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def below(submission, number=1):
    return f"/review/{submission.pk}/{number}/"


def test_the_queue(as_, people):
    """Oldest first, models alone not at all, and what is asked for."""
    from django.utils import timezone

    old = make(people["sam"], title="old one")
    new = make(people["rita"], title="new one")
    waits = make(people["sam"], title="to change", state="changes")
    make(people["sam"], model_files(), title="model alone")
    make(people["sam"], title="all done", state="done")
    data = make(people["sam"], {"data/author2026/__init__.py": "x = 1\n"}, title="data alone")
    for day, one in enumerate((data, new, old), 1):
        Submission.objects.filter(pk=one.pk).update(changed=timezone.now() - timezone.timedelta(days=day))
    as_("rob").post(f"/review/{new.pk}/claim/")

    def titles(query=""):
        return re.findall(r"<h2><a [^>]*>([^<]*)</a>", shown(as_("rita"), f"/review/{query}"))

    assert titles() == ["old one", "new one", "data alone"]
    assert titles("?state=changes") == ["to change"]
    assert set(titles("?state=all")) == {"old one", "new one", "data alone", "to change"}
    assert titles("?kind=data") == ["data alone"]
    assert titles("?who=nobody") == ["old one", "data alone"]
    assert titles("?who=mine") == []
    assert titles("?text=NEW") == ["new one"]
    assert titles("?text=rita") == ["new one"]
    assert titles("?state=nonsense&kind=%00&page=x") == ["old one", "new one", "data alone"]
    page = shown(as_("rita"), "/review/")
    assert "your own" in page
    assert "reviewed by Rob" in page
    assert "for 3\xa0days" in page
    assert str(waits.pk) not in page


def test_models_alone_are_for_nobodys_eyes(as_, people):
    model = make(people["sam"], model_files())
    for who in ("rita", "admin"):
        for address in (below(model), f"{below(model)}changes/", f"{below(model)}file/?path=models/tiles_8/model.py"):
            assert as_(who).get(address).status_code == 404
        assert as_(who).post(f"{below(model)}judge/", {"verdict": "rejected", "text": "x"}).status_code == 404
        assert as_(who).post(f"{below(model)}comment/", {"text": "x"}).status_code == 404
    assert as_("sam").post(f"{below(model)}comment/", {"text": "x"}).status_code == 302


def test_the_page(as_, submission):
    page = shown(as_("rita"), below(submission))
    for part in ("Author2026-pls", "Submitter's note", "alexnet = 0.42", "log of test", "Request changes"):
        assert part in page
    assert f'id="{anchor_of(PATH, 3)}"' in page
    assert "None of its code has had access to private data" in page


def test_left_out_tests_are_told(as_, submission):
    submission.latest.steps.filter(kind="test").update(result={"passed": 3, "failed": 0, "skipped_private": 2})
    page = shown(as_("rita"), below(submission))
    assert re.search(r"2 tests marked <code>private_access</code> were skipped", page)


def test_comments_at_lines(as_, people, submission):
    address = f"{below(submission)}comment/"
    assert as_("rita").post(address, {"path": PATH, "line": "4", "text": "Why?"}).status_code == 302
    assert as_("sam").post(address, {"path": PATH, "line": "4", "text": "Because."}).status_code == 302
    assert as_("stranger").post(address, {"text": "I too"}).status_code == 404
    said = discussion(submission.latest, people["sam"], back="/")
    line = next(file for file in said["files"] if file["path"] == PATH)["lines"][3]
    assert [one.text for one in line["threads"][0].comments] == ["Why?", "Because."]
    first = line["threads"][0].comments[0]
    assert said["resolvable"] == set()  # Rita began it
    assert as_("sam").post(f"/review/{submission.pk}/resolve/{first.pk}/").status_code == 403
    assert as_("rob").post(f"/review/{submission.pk}/resolve/{first.pk}/").status_code == 302
    assert discussion(submission.latest, people["sam"], back="/")["open"] == 0
    assert as_("rita").post(f"/review/{submission.pk}/resolve/{first.pk}/", {"again": "1"}).status_code == 302
    assert discussion(submission.latest, people["sam"], back="/")["open"] == 1
    assert as_("stranger").post(f"/review/{submission.pk}/resolve/{first.pk}/").status_code == 404


@pytest.mark.parametrize(
    "sent",
    [
        {"text": "  \n "},
        {"text": "x" * 10_001},
        {"text": "x\0"},
        {"text": "x", "path": "no/such.py"},
        {"text": "x", "path": PATH, "line": "9999"},
        {"text": "x", "path": PATH, "line": "-1"},
        {"text": "x", "path": PATH, "line": "²"},
        {"text": "x", "line": "3"},
    ],
)
def test_nonsense_is_refused_and_kept(as_, submission, sent):
    answer = as_("rita").post(f"{below(submission)}comment/", sent)
    assert answer.status_code == 400
    assert "Not possible" in answer.content.decode()
    assert not submission.latest.comments.exists()


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"])
def test_a_comment_leads_nowhere_else(as_, submission, back):
    answer = as_("rita").post(f"{below(submission)}comment/", {"text": "x", "back": back})
    assert answer["Location"].startswith(below(submission))


def test_a_resubmission(as_, people, submission):
    """Open comments go along with their lines; what changed is shown; what was said stays with what it was about."""
    say = as_("rita").post
    address = f"{below(submission)}comment/"
    say(address, {"path": PATH, "line": "4", "text": "carried along"})
    say(address, {"path": PATH, "line": "21", "text": "its line is gone"})
    say(address, {"path": PATH, "line": "1", "text": "is resolved"})
    say(address, {"path": "benchmarks/author2026/test.py", "line": "3", "text": "its file is gone"})
    say(address, {"text": "about all of it"})
    done = submission.latest.comments.get(text="is resolved")
    say(f"/review/{submission.pk}/resolve/{done.pk}/")
    say(f"{below(submission)}judge/", {"verdict": "changes", "text": "See comments."})
    files = benchmark_files(version=2)
    files[PATH] = "# one\n# two\n" + files[PATH]
    del files["benchmarks/author2026/test.py"]
    second = add_revision(submission, files, number=2)

    said = discussion(second, people["rita"], back="/")
    shown_file = next(file for file in said["files"] if file["path"] == PATH)
    assert [
        (line["number"], line["threads"][0].comments[0].text) for line in shown_file["lines"] if line["threads"]
    ] == [(6, "carried along")]
    assert [(one.comments[0].text, one.gone) for one in shown_file["threads"]] == [("its line is gone", True)]
    assert {one.comments[0].text for one in said["general"]} == {"its file is gone", "about all of it"}
    page = shown(as_("rob"), below(submission, 2))
    assert page.count("On revision 1") == 4
    assert "is resolved" not in page
    assert "See comments." in page
    assert "on revision 1" in page
    earlier = shown(as_("rob"), below(submission, 1))
    assert "is resolved" in earlier
    assert "Revision 2 is newer" in earlier
    assert 'name="verdict"' not in earlier

    as_("sam").post(f"{below(submission, 1)}comment/", {"path": PATH, "line": "4", "text": "so be it"})
    assert "so be it" in shown(as_("rob"), below(submission, 2))  # answers stay in the thread

    difference = shown(as_("rob"), f"{below(submission, 2)}changes/")
    assert "version=1" in difference
    assert "version=2" in difference
    assert "removed</small>" in difference
    assert "Compare with the live version" not in difference


def test_what_is_live(as_, people, submission):
    live = make(people["rita"], benchmark_files(version=7), state="done")
    Plugin.objects.create(kind="benchmarks", name="author2026", owner=people["rita"], revision=live.latest)
    page = shown(as_("rob"), f"{below(submission)}changes/")
    assert "compared with the live version" in page
    assert "version=7" in page
    private = make(people["rita"], model_files(), state="done")
    Plugin.objects.create(kind="models", name="tiles_8", owner=people["rita"], revision=private.latest)
    both = make(people["sam"], {**benchmark_files(), **model_files(size=9)})
    assert "SIZE = 8" not in shown(as_("rob"), f"{below(both)}changes/?to=live")


def test_markup_is_text(as_, people):
    """Nothing of a submission or a comment is markup: contents, names of files, titles, notes, logs, findings."""
    path = f"benchmarks/author2026/{EVIL.replace('/', '_')}.py"
    submission = make(
        people["sam"],
        {**benchmark_files(), path: f'x = "{EVIL}"\n', f"benchmarks/author2026/{EVIL.replace('/', '_')}.txt": EVIL},
        title=EVIL,
        note=EVIL,
        address=EVIL,
        findings=[
            {"severity": EVIL, "check": EVIL, "file": path, "line": 1, "message": EVIL, "remedy": EVIL},
            {"severity": "error", "check": EVIL, "file": EVIL, "line": "x", "message": EVIL, "remedy": EVIL},
        ],
    )
    revision = submission.latest
    revision.steps.filter(kind="test").update(
        log=EVIL, reason=EVIL, result={"checks": [{"name": EVIL, "plugin": EVIL}]}
    )
    people["sam"].display_name = EVIL
    people["sam"].save()
    assert (
        as_("rita").post(f"{below(submission)}comment/", {"text": EVIL, "path": path, "line": "1"}).status_code == 302
    )
    assert as_("sam").post(f"{below(submission)}comment/", {"text": EVIL}).status_code == 302
    as_("rita").post(
        f"{below(submission)}judge/", {"verdict": "changes", "text": EVIL, "note-code": EVIL, "aspect-code": "not"}
    )
    add_revision(submission, {**benchmark_files(), path: EVIL}, number=2)
    pages = [
        "/review/?state=all",
        below(submission),
        below(submission, 2),
        f"{below(submission, 2)}changes/",
        f"{below(submission)}file/?path={path.replace('=', '%3D')}",
        f"/submissions/{submission.pk}/1/code/",
    ]
    for address in pages:
        page = shown(as_("rita"), address)
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        assert "alert(1)" in page, address


def test_long_files_and_others(as_, people):
    files = {
        **benchmark_files(),
        "benchmarks/author2026/long.py": "x = 1\n" * 3_000,
        "benchmarks/author2026/huge.txt": "y" * (MAX_CONTENT + 50),
        "benchmarks/author2026/picture.png": b"\x89PNG\0\0\xff",
        "benchmarks/author2026/latin.py": "# é".encode("latin-1"),
        "benchmarks/author2026/empty.py": "",
        "benchmarks/author2026/turned.py": "a = 'x\u202e\u2066'\n",
    }
    submission = make(people["sam"], files)
    page = shown(as_("rita"), below(submission))
    assert "1,000 more lines are not shown here" in page
    assert "only the beginning" in page.lower()
    assert "Not a text file." in page
    assert "Not a text file in UTF-8." in page
    assert "⟨U+202E⟩⟨U+2066⟩" in page
    assert "\u202e" not in page
    whole = shown(as_("rita"), f"{below(submission)}file/?path=benchmarks/author2026/long.py")
    assert f'id="{anchor_of("benchmarks/author2026/long.py", 3_000)}"' in whole
    assert as_("rita").get(f"{below(submission)}file/?path=nothing").status_code == 404


def test_an_archive_that_cannot_be_read(as_, people, submission):
    type(submission.latest).objects.filter(pk=submission.latest.pk).update(archive=b"PK no archive")
    assert texts_of(submission.latest) == {}
    shown(as_("rita"), below(submission))


def test_many_files_cost_no_more_queries(as_, people, django_assert_max_num_queries):
    from django.contrib.auth.models import Group

    Group.objects.get_or_create(name="reviewers")
    for number in range(30):
        made = make(people["sam"], title=f"number {number}")
        as_("rob").post(f"/review/{made.pk}/claim/")
    files = {**benchmark_files(), **{f"benchmarks/author2026/file_{number}.py": "x = 1\n" for number in range(40)}}
    large = make(people["sam"], files)
    for number in range(40):
        large.latest.comments.create(
            author=people["rita"], path=f"benchmarks/author2026/file_{number}.py", line=1, text="x"
        )
    add_revision(large, files, number=2)
    rita = as_("rita")
    with django_assert_max_num_queries(10):
        shown(rita, "/review/")
    with django_assert_max_num_queries(30):
        shown(rita, below(large, 2))
    with django_assert_max_num_queries(14):
        shown(rita, f"{below(large, 2)}changes/")


PLACES = [
    (["a", "b", "c"], ["a", "b", "c"], 2, 2),
    (["a", "b", "c"], ["new", "a", "b", "c"], 2, 3),
    (["a", "b", "c"], ["a", "c"], 2, None),
    (["a", "b", "c"], ["c", "x", "b"], 2, 3),
    (["a", ""], [""], 2, 1),
    (["a"], [], 1, None),
    (["a"], ["a"], 7, None),
    (["x = 1"] * 5_000, ["y", *["x = 1"] * 5_000], 3, 3),
]


@pytest.mark.parametrize(("old", "new", "line", "wanted"), PLACES)
def test_lines_are_found_again(old, new, line, wanted):
    assert relocated_lines([(old, new, line)])[0] == wanted


def test_what_changed():
    old = {"a.py": decoded("a.py", b"one\ntwo\n"), "b.py": decoded("b.py", b"x"), "c.bin": decoded("c.bin", b"\0")}
    new = {"a.py": decoded("a.py", b"one\nthree\n"), "c.bin": decoded("c.bin", b"\0\0"), "d.py": decoded("d.py", b"y")}
    found = {one.path: one for one in file_diffs(old, new)}
    assert {path: one.state for path, one in found.items()} == {
        "a.py": "changed", "b.py": "removed", "c.bin": "changed", "d.py": "added",
    }  # fmt: skip
    assert [(row.kind, row.old, row.new, row.text) for row in found["a.py"].rows] == [
        ("same", 1, 1, "one"),
        ("removed", 2, None, "two"),
        ("added", None, 2, "three"),
    ]
    assert found["c.bin"].note == "not a text file"
    assert file_diffs(old, old) == []


def test_very_many_changes_are_not_compared():
    """Lines can be written so that comparing them takes minutes: after some files it is only said that they differ."""
    old, new = (
        {
            path: decoded(path, "".join(f"{k % 100}\n{sign}{k}\n" for k in range(900)).encode())
            for path in (f"{number:03d}.py" for number in range(100))
        }
        for sign in "ab"
    )
    found = file_diffs(old, new)
    assert [bool(one.rows) for one in found] == [True, True] + [False] * 98
    assert {one.note for one in found[2:]} == {"not compared here, since too many files have changed"}


@pytest.mark.parametrize(("inside", "wanted"), [(200, 102), (900, 102)])
def test_a_line_between_very_many_changes_is_found_by_its_text(inside, wanted):
    old, new = (["begin", *(f"{k % 50} {sign if k % 2 else ''}" for k in range(inside)), "end"] for sign in "ab")
    assert relocated_lines([(old, new, 102)])[0] == wanted
    assert relocated_lines([(old, ["more", *new], len(old))])[0] == len(old) + 1
    assert relocated_lines([(old, new, 1)])[0] == 1


def slow_pair(end=""):
    """Two files of which a comparison takes up to a second: many lines occur often, each with others around it."""
    lines = [[one for k in range(990) for one in (f"{k % 50}", f"{sign}{k}{end}")] for sign in "ab"]
    return [decoded("a.py", "\n".join(text).encode()) for text in lines]


@pytest.mark.slow(reason="starts processes")
def test_files_are_compared_by_another_process_once(monkeypatch):
    monkeypatch.setattr(source_code, "_PROCESS_TIMEOUT", 60)
    monkeypatch.setattr(SequenceMatcher, "find_longest_match", lambda *_, **__: pytest.fail("compared in this process"))
    old, new = slow_pair()
    (found,) = file_diffs({"a.py": old}, {"a.py": new})
    assert (found.added, found.removed) == (990, 990)
    monkeypatch.setattr(source_code, "_run_process", lambda *_, **__: pytest.fail("it is in the cache"))
    assert file_diffs({"a.py": old}, {"a.py": new}) == [found]


@pytest.mark.slow(reason="waits for a limit of time")
def test_a_comparison_that_takes_too_long(monkeypatch):
    caches["highlighting"].clear()
    monkeypatch.setattr(source_code, "_COMPARISON_SECONDS", 0)  # the second that the process has already begun
    pairs = {name: slow_pair(name) for name in map("{}.py".format, "abcdefghij")}
    texts = [{name: pair[place] for name, pair in pairs.items()} for place in (0, 1)]
    monkeypatch.setattr(source_code, "_MAX_COMPARED_TOTAL", 50_000)
    found = file_diffs(*texts)
    assert found[-1].note == "not compared here, since it takes too long"
    assert not found[-1].rows
