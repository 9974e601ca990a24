"""The checklist: every item, on a benchmark that has it all and on those that lack something."""

from types import SimpleNamespace

import pytest

from brainscore_web.submissions.pipeline.testing import Tally
from brainscore_web.submissions.review.checklist import checklist_of

from ._made import NOTE, add_revision, benchmark_files, make

CODE, TEST, INIT = (f"benchmarks/author2026/{name}.py" for name in ("benchmark", "test", "__init__"))
SHA = "1d47ea4a09ddd72cebabca95b985646650f21646"
DATA = f'''
from brainscore_vision import data_registry
from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

data_registry["Author2026"] = lambda: load_assembly_from_s3(
    identifier="Author2026", bucket="b", sha1="{SHA}", version_id="v1", cls=None, stimulus_set_loader=None
)
'''
CEILING = "its ceiling is a Score above 0 and at most 1"


def stored(plugin, *checks):
    """Checks as the test step stores them, from what the sandbox reports: a name and a result each."""
    tally = Tally()
    common = {"kind": "benchmark", "subject": "Author2026.IT-x", "explanation": "it is 2", "remedy": ""}
    listed = [{**common, "name": name, "result": result} for name, result in checks]
    tally.add_checks(plugin, {"checks": listed, "about": {}, "error": ""}, SimpleNamespace(cause="", message=""))
    return tally.result["checks"]


def states(people, files=None, *, checks=(), note=NOTE, result=None, **fields):
    submission = make(people["sam"], files, note=note, **fields)
    revision = submission.latest
    revision.steps.filter(kind="test").update(
        result={"passed": 3, "failed": 0, "checks": list(checks), **(result or {})}
    )
    return {item.text: item for item in checklist_of(submission.latest, people["rita"])}


def item_of(found, text):
    (name,) = [one for one in found if text in one]
    return found[name]


def changed(path, old, new):
    files = benchmark_files()
    assert old in files[path]
    return {**files, path: files[path].replace(old, new)}


def test_everything_is_there(people):
    found = states(people, checks=stored("benchmarks/author2026", (CEILING, "passed")))
    assert len(found) == 19
    wrong = {name: item.state for name, item in found.items() if item.state not in ("passed", "none")}
    waiting = {name for name, item in found.items() if item.group == "Validity"}
    assert wrong == dict.fromkeys(["Code is well-commented", *waiting], "judge")
    assert {item.state for item in found.values() if item.group == "Data"} == {"none"}


def test_long_files_are_not_analysed(people):
    """Analysing as much code as is accepted takes seconds, and a page of a reviewer waits for it."""
    calls = "\n".join(f"f(a(b(c({number}))))" for number in range(6_000)) + "\n"
    long = {f"benchmarks/author2026/part_{number}.py": calls for number in range(4)}
    found = states(people, {**benchmark_files(), **long})
    evidence = [one.text for one in item_of(found, "well-commented").evidence]
    assert {one for one in evidence if "too long to be analysed" in one} == {
        f"{path} is too long to be analysed here" for path in long
    }
    assert item_of(found, "Inherits").state == "passed"


CHANGES = [
    # what is looked for, file, old, new, what then
    ("Inherits", CODE, "(NeuralBenchmark)", "", "failed"),
    ("version", CODE, "version=1,", "version=0,", "failed"),
    ("version", CODE, "version=1,", "", "failed"),
    ("version", CODE, "version=1,", "version=compute(),", "judge"),
    ("ceiling_func", CODE, "ceiling_func=lambda: load_ceiling", "other=lambda: load_ceiling", "failed"),
    ("bibtex", CODE, "year = {2026}", "", "failed"),
    ("bibtex", CODE, "bibtex=BIBTEX", "bibtex='none'", "failed"),
    ("bibtex", CODE, "bibtex=BIBTEX", "bibtex=read()", "judge"),
    ("parent", CODE, 'parent="V1"', 'parent="nowhere"', "judge"),
    ("parent", CODE, 'parent="V1"', 'parent="Author2026"', "passed"),
    ("parent", CODE, 'parent="V1",', "", "failed"),
    ("ceiling is valid", TEST, "assert 0 < ceiling <= 1", "pass", "failed"),
    ("runs with at least one model", TEST, 'load_model("pixels")', "None", "failed"),
    ("benchmark loads", TEST, "load_benchmark", "other", "failed"),
    ("well-commented", CODE, "class ", "class class ", "failed"),
]


@pytest.mark.parametrize(("text", "path", "old", "new", "wanted"), CHANGES)
def test_what_is_missing_is_found(people, text, path, old, new, wanted):
    item = item_of(states(people, changed(path, old, new)), text)
    assert item.state == wanted
    assert item.evidence


def test_names(people):
    plugins = [{"kind": "benchmarks", "name": "author2026", "registrations": [{"key": "my_benchmark", "line": 3}]}]
    item = item_of(states(people, plugins=plugins), "identifier")
    assert item.state == "failed"
    assert "my_benchmark" in item.evidence[0].text


@pytest.mark.parametrize(
    ("result", "wanted"),
    [("passed", "passed"), ("failed", "failed"), ("warning", "judge"), ("not applicable", "judge")],
)
def test_what_ran_counts(people, result, wanted):
    found = states(people, checks=stored("benchmarks/author2026", (CEILING, result)))
    item = item_of(found, "ceiling_func")
    assert item.state == wanted
    assert "it is 2" in item.evidence[-1].text


def test_checks_of_other_plugins_do_not_count(people):
    found = states(people, checks=stored("metrics/author2026", (CEILING, "failed")))
    assert item_of(found, "ceiling_func").state == "judge"  # not computed


def test_tests_that_were_left_out(people):
    item = item_of(states(people, result={"skipped_private": 2}), "All tests pass")
    assert item.state == "judge"
    assert "2 tests that need private data were not run" in item.evidence[-1].text
    failed = item_of(states(people, result={"failed": 1}), "All tests pass")
    assert failed.state == "failed"


@pytest.mark.parametrize(
    ("note", "description", "expected"),
    [
        (NOTE, "passed", "passed"),
        ("", "failed", "failed"),
        ("Short.", "judge", "failed"),
        ("x " * 60, "judge", "failed"),
    ],
)
def test_what_the_submitter_says(people, note, description, expected):
    found = states(people, changed(TEST, "== pytest.approx(0.5, abs=0.5)", "> 0.2"), note=note)
    assert (item_of(found, "Description").state, item_of(found, "Expected").state) == (description, expected)


def test_a_test_documents_the_expected_score(people):
    item = item_of(states(people, note=""), "Expected")
    assert item.state == "passed"
    assert item.evidence[0].text == "test_score expects float(score) == pytest.approx(0.5, abs=0.5)"
    assert item.evidence[0].path == TEST
    own = changed(TEST, "pytest.approx(0.5, abs=0.5)", "load_benchmark('Author2026-pls').ceiling")
    assert item_of(states(people, own, note=""), "Expected").state == "failed"


def test_earlier_notes_still_describe_it(people):
    """A revision without a note does not take the description away."""
    submission = make(people["sam"])
    revision = add_revision(submission, benchmark_files(), number=2, note="")
    assert [number for number, _ in revision.notes] == [1]
    found = {item.text: item for item in checklist_of(revision, people["rita"])}
    assert item_of(found, "Description").state == "passed"


def upload_of(user, **fields):
    from brainscore_web.uploads.models import Upload

    upload = Upload.objects.create(
        owner=user,
        assembly_identifier="Author2026",
        **{
            "identifier": "Author2026",
            "state": "accepted",
            "facts": {"stimuli": 77, "shape": {"presentation": 50}},
            **fields,
        },
    )
    upload.files.create(kind="nc", sha1=SHA, sha256="0" * 64, size=1_000, version_id="v1", bucket="b", key="k")
    return upload


def with_data():
    return {**benchmark_files(), "data/author2026/__init__.py": DATA, "data/author2026/test.py": ""}


def data_states(found):
    return [item.state for item in found.values() if item.group == "Data"]


def test_data_that_were_uploaded_here(people, as_):
    upload_of(people["sam"], visibility="private")
    plugins = [
        {"kind": "data", "name": "author2026", "registrations": [{"registry": "data", "key": "Author2026", "line": 5}]},
    ]
    found = states(people, with_data(), plugins=plugins)
    assert data_states(found) == ["passed"] * 4
    submission = people["sam"].submissions.get()
    page = as_("rita").get(f"/review/{submission.pk}/1/").content.decode()
    assert "77 stimuli" in page
    assert "50 presentation" in page
    assert ">private</span>" in page
    assert "/uploads/" not in page  # reviewers do not open what is private


def test_data_of_others_are_not_told(people, as_):
    upload_of(people["stranger"], visibility="private", identifier="Hidden2026")
    found = states(people, with_data())
    submission = people["sam"].submissions.get()
    page = as_("rita").get(f"/review/{submission.pk}/1/").content.decode()
    assert "A private upload of another user" in page
    assert "Hidden2026" not in page
    assert "77 stimuli" not in page
    assert item_of(found, "unique IDs").state == "judge"


def test_data_that_nobody_has(people):
    found = states(people, with_data())
    assert data_states(found)[:3] == ["judge"] * 3
    refused = upload_of(people["sam"], state="refused")
    assert item_of(states(people, with_data()), "unique IDs").state == "failed"
    refused.delete()


def test_files_that_were_fetched(people):
    submission = make(people["sam"], with_data())
    step = submission.latest.steps.filter(kind="check")
    for verified, wanted in ((True, "passed"), (False, "failed"), (None, "judge")):
        step.update(result={"files": [{"url": "https://a.example/x", "sha1": SHA, "verified": verified, "note": "n"}]})
        found = {item.text: item for item in checklist_of(submission.latest, people["rita"])}
        assert item_of(found, "SHA").state == wanted


def test_nothing_that_a_step_wrote_breaks_it(people, as_):
    submission = make(people["sam"])
    for result in ([], {"checks": "no"}, {"checks": [1, {"name": None}]}, {"files": {}}, {"reviewer": "x", "since": 3}):
        submission.latest.steps.update(result=result)
        assert as_("rita").get(f"/review/{submission.pk}/1/").status_code == 200


def test_data_alone_need_no_benchmark(people):
    found = states(people, {"data/author2026/__init__.py": DATA}, title="data")
    assert {item.state for item in found.values() if item.group in ("Benchmark", "Testing")} == {"none"}
    assert "Validity" not in {item.group for item in found.values()}
    assert item_of(found, "Description").state == "passed"


HOSTILE = [
    "(" * 5_000,
    "x = '\\",
    "\0",
    "-" * 100_000 + "1",
    "import os; os._exit(3)",
    "class A(B[C().d]):\n  x: 'y' = [*a, **b]",
    "def f(:",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_code_is_only_read(people, text):
    found = states(people, {**benchmark_files(), CODE: text, TEST: text, INIT: text})
    assert len(found) == 19
