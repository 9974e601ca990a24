"""Receipts that are posted."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.db import DataError, connection

from brainscore_core.populations import UNRECORDED, condition
from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.ingest import IngestReport, ingest_receipts, receipts, rows
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Ingestion, Score, VisionModel

OLD = Path(__file__).parents[2] / "core" / "receipts" / "receipts_of_version_1"


def ingest(*documents, by=None, **options):
    return ingest_receipts(documents, by=by, **options)


def test_a_receipt_is_kept_with_all_its_numbers(db, receipt):
    made = receipt()
    assert ingest(made) == IngestReport(added=1)
    score = Score.objects.get()
    assert (score.receipt, score.model.identifier, score.benchmark.identifier) == (
        made.id,
        "a-model",
        "Some2026.IT-pls",
    )
    assert (score.version, score.state, score.created) == ("1", "scored", datetime(2026, 1, 1, tzinfo=UTC))
    assert (score.value, score.error, score.low, score.high) == (0.5, 0.02, 0.46, 0.54)
    assert (score.level, score.estimates, score.scale, score.unclamped) == (0.95, "stimuli", "ceiled", 0.51)
    assert (score.raw, score.raw_error, score.raw_low, score.raw_high) == (0.4, 0.016, 0.36, 0.44)
    assert (score.ceiling, score.seconds, score.error_reason) == (0.8, 12.5, "")
    assert Receipt.from_dict(score.document) == made


def test_a_score_that_its_ceiling_makes_undetermined(db, document):
    """Also one that an earlier version of the site stored."""
    migration = import_module("brainscore_web.leaderboard.migrations.0002_score_undetermined")
    ingest(document(ceiling__ci=[-0.01, 0.9]))
    (score,) = Score.objects.all()
    assert score.undetermined == "the interval of the ceiling 0.800, -0.010 to 0.900, includes 0"
    Score.objects.update(undetermined="")
    migration.fill(apps, connection.schema_editor())
    (again,) = Score.objects.all()
    assert again.undetermined == score.undetermined


@pytest.mark.parametrize("state", ["undefined", "not applicable", "failed"])
def test_what_has_no_score_is_kept_with_its_reason(db, receipt, state):
    assert ingest(receipt(state=state)).added == 1
    score = Score.objects.get()
    assert (score.state, score.value, score.low, score.reason) == (state, None, None, f"it is {state}")


def test_plain_json_is_as_good(db, receipt):
    assert ingest(json.loads(receipt().to_json())).added == 1


def test_known_ones_are_passed_over(db, receipt):
    first, second = receipt(), receipt(day=1)
    assert ingest(first) == IngestReport(added=1)
    before = revision.current()
    assert ingest(first, first) == IngestReport(known=2)
    assert revision.current() == before
    assert ingest(first, second, second) == IngestReport(added=1, known=2)
    assert revision.current() > before
    assert Score.objects.count() == 2


def test_the_revision_grows_once(db, receipt, monkeypatch):
    times = []
    monkeypatch.setattr(revision, "bump", lambda: times.append(1))
    ingest(*(receipt(f"model-{number}", f"Other{number}2026.V1-pls") for number in range(20)))
    assert len(times) == 1


def test_every_batch_is_noticed_at_once_also_of_one_that_is_killed_later(db, receipt, monkeypatch):
    batch = 50
    monkeypatch.setattr(receipts, "BATCH", batch)
    before = revision.current()
    seen = []

    def documents():
        for number in range(2 * batch + 1):
            if number and number % batch == 0:
                seen.append((Score.objects.count(), revision.current()))
            yield receipt(f"model-{number}", value=number / 5000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest_receipts(documents(), by=None)
    assert [count for count, _ in seen] == [batch, 2 * batch]
    assert before < seen[0][1] < seen[1][1] == revision.current()


def test_a_batch_that_fails_is_not_noticed(db, receipt, monkeypatch):
    before = revision.current()
    monkeypatch.setattr(rows, "keep_versions", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ingest(receipt())
    assert (revision.current(), Score.objects.count()) == (before, 0)


@pytest.mark.parametrize("value", [1.7e308, -1.1e6, 10**9])
@pytest.mark.parametrize("path", ["score__value", "score__error", "raw__value", "ceiling__value", "ceiling__error"])
def test_numbers_that_no_score_can_be_are_refused(db, receipt, document, path, value):
    value = abs(value) if path.endswith("error") else value
    report = ingest(document(**{path: value}), receipt("another"))
    assert (report.added, len(report.problems)) == (1, 1)
    assert re.search(r"its \w+( error)? is .*; at most ±1,000,000 is allowed", report.problems[0].message)


def test_large_ones_that_may_be_are_kept(db, document):
    assert ingest(document(raw__value=-1e6)).added == 1


@pytest.mark.parametrize("file", sorted(OLD.glob("*.json")), ids=lambda file: file.stem)
def test_receipts_of_version_1_are_migrated(db, file):
    data = json.loads(file.read_text())
    assert data["schema_version"] == 1
    assert ingest(data).added == 1
    assert Score.objects.get().state == Receipt.from_dict(data).state


BAD = {
    "no object": lambda make: ["no", "object"],
    "nothing": lambda make: {},
    "newer": lambda make: make(schema_version=99),
    "unknown state": lambda make: make(state="great"),
    "scored without a score": lambda make: make(score=None),
    "NaN": lambda make: make(score__value=float("nan")),
    "infinite": lambda make: make(score__value=float("inf")),
    "too large for a float": lambda make: make(score__value=10**400),
    "no such day": lambda make: make(created="2026-02-31T00:00:00.000000Z"),
    "tomorrow's tomorrow": lambda make: make(created=f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M:%S.%f}Z"),
    "a line after the id": lambda make: make(id=make()["id"] + "\n"),
    "long name": lambda make: make(model__identifier="m" * 201),
    "NUL in a name": lambda make: make(model__identifier="a-\0model"),
    "half a character in a name": lambda make: make(benchmark__identifier="Some\ud8002026-pls"),
    "a step up as a name": lambda make: make(model__identifier=".."),
    "a step up in a name": lambda make: make(benchmark__identifier="a/../b"),
    "blank name": lambda make: make(benchmark__identifier="  "),
    "line in a name": lambda make: make(model__identifier="a\nmodel"),
    "long version": lambda make: make(benchmark__version="v" * 51),
    "a mean": lambda make: make(benchmark__identifier="IT"),
    "an object inside": lambda make: make(seeds={"numpy": {1, 2}}),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_one_is_named_and_the_others_go_in(db, receipt, document, kind):
    report = ingest(receipt("first"), BAD[kind](document), receipt("last"))
    assert (report.added, len(report.problems)) == (2, 1)
    assert set(VisionModel.objects.values_list("identifier", flat=True)) == {"first", "last"}
    (problem,) = report.problems
    assert problem.message
    assert problem.path.startswith("receipt 2") or kind == "a mean"
    (kept,) = Ingestion.objects.get().problems
    assert kept["message"] == problem.message


def test_of_very_many_problems_the_first_are_kept(db):
    report = ingest(*[{}] * 1005)
    assert len(report.problems) == 1001
    assert report.problems[-1].message == "5 more could not be read"


def test_deep_json_is_a_problem(db):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    report = ingest({"seeds": deep})
    assert len(report.problems) == 1


def test_what_no_database_takes_is_replaced(db, document):
    long = "x" * 100_000
    made = document(
        score__error_reason="no\0ne" + long,
        score__ci_estimates="half \ud800" + long,
        score__scale="s" * 30,
        score__error=float("inf"),
        ceiling__ci_estimates=long,
        ceiling__meaning=long,
        model__plugin={"name": "p" * 300, "sha256": None, "distribution": None, "version": None},
        notes=["\0", "\udfff"],
        seeds={"a\0": 1},
    )
    assert ingest(made) == IngestReport(added=1)
    score = Score.objects.get()
    assert score.error is None
    assert score.error_reason.startswith("no\ufffdne")
    assert score.error_reason.endswith("…")
    assert len(score.error_reason) == len(score.estimates) == 500
    assert len(score.scale) == 20
    assert score.document["notes"] == ["\ufffd", "\ufffd"]
    version = BenchmarkVersion.objects.get()
    assert (len(version.ceiling_meaning), len(version.ceiling_estimates)) == (50, 500)
    assert len(VisionModel.objects.get().plugin) == 200


def test_what_the_database_refuses_is_named(db, receipt, monkeypatch):
    from brainscore_web.leaderboard.ingest import rows

    insert = rows.insert_scores

    def refusing(scores):
        if any(score.value == 0.25 for score in scores):
            raise DataError("no number")
        insert(scores)

    monkeypatch.setattr(rows, "insert_scores", refusing)
    report = ingest(receipt("good"), receipt("bad", value=0.25), receipt("fine"))
    assert (report.added, len(report.problems)) == (2, 1)
    assert set(Score.objects.values_list("model__identifier", flat=True)) == {"good", "fine"}


class TestModels:
    def test_posted_ones_are_private_and_the_posters(self, db, receipt, scorer):
        ingest(receipt(), by=scorer)
        model = VisionModel.objects.get()
        assert (model.visibility, model.owner, model.plugin) == ("private", scorer, "a_model")
        assert Ingestion.objects.get().by == scorer

    def test_unless_said_otherwise(self, db, receipt, scorer):
        ingest(receipt(), by=scorer, default_visibility="public")
        model = VisionModel.objects.get()
        assert (model.visibility, model.owner) == ("public", None)

    def test_those_known_stay(self, db, receipt, scorer, owner):
        VisionModel.objects.create(identifier="a-model", visibility="public", owner=owner, family="resnet")
        ingest(receipt(), by=scorer)
        model = VisionModel.objects.get()
        assert (model.visibility, model.owner, model.family) == ("public", owner, "resnet")


class TestBenchmarks:
    def test_one_that_names_a_parent_stands_below_it(self, db, receipt):
        ingest(receipt())
        benchmark = Benchmark.objects.get(identifier="Some2026.IT-pls")
        assert (benchmark.parent.identifier, benchmark.in_tree, benchmark.control) == ("IT", True, False)
        assert benchmark.parent.parent.parent.identifier == "average_vision"
        assert (benchmark.version, benchmark.access) == ("1", "private")
        assert benchmark.bibtex.startswith("@misc")

    def test_earlier_names_of_parents_are_known(self, db, receipt):
        ingest(receipt(benchmark="Some2026-i2n", parent="behavior"))
        assert Benchmark.objects.get(identifier="Some2026-i2n").parent.identifier == "behavior_vision"

    @pytest.mark.parametrize("parent", [None, "nowhere", "Some2026.IT-pls"])
    def test_one_without_stands_apart(self, db, receipt, parent):
        ingest(receipt(), receipt(benchmark="Other2026-pls", parent=parent))
        other = Benchmark.objects.get(identifier="Other2026-pls")
        assert (other.parent, other.in_tree) == (None, False)

    def test_a_control_counts_in_no_mean(self, db, receipt):
        ingest(receipt(control=True))
        benchmark = Benchmark.objects.get(identifier="Some2026.IT-pls")
        assert (benchmark.control, benchmark.in_tree) == (True, False)

    def test_the_installed_package_knows_better(self, db, receipt):
        ingest(receipt(benchmark="MajajHong2015.IT-pls", version=99, parent="V1", control=True))
        benchmark = Benchmark.objects.get(identifier="MajajHong2015.IT-pls")
        assert (benchmark.version, benchmark.parent.identifier, benchmark.control) == ("4", "IT", False)
        assert benchmark.versions.get().version == "99"

    def test_of_others_the_newest_version_counts(self, db, receipt):
        ingest(receipt(version=10, day=3))
        ingest(receipt(version=9, day=5))
        assert Benchmark.objects.get(identifier="Some2026.IT-pls").version == "10"
        ingest(receipt(version=11, day=6, parent="V4"))
        benchmark = Benchmark.objects.get(identifier="Some2026.IT-pls")
        assert (benchmark.version, benchmark.parent.identifier) == ("11", "V4")

    def test_versions_that_are_no_numbers_are_ordered_by_time(self, db, receipt):
        ingest(receipt(version="b", day=3), receipt(version="a", day=5))
        assert Benchmark.objects.get(identifier="Some2026.IT-pls").version == "a"

    def test_what_was_edited_stays(self, db, receipt):
        ingest(receipt())
        edited = Benchmark.objects.get(identifier="Some2026.IT-pls")
        edited.version, edited.bibtex = "1b", "@misc{mine}"
        edited.save()
        ingest(receipt(version=2, day=1))
        now = Benchmark.objects.get(identifier="Some2026.IT-pls")
        assert (now.version, now.bibtex) == ("1b", "@misc{mine}")

    def test_without_a_version_any_counts(self, db, receipt):
        ingest(receipt(version=None, day=4), receipt(version=None, day=2))
        assert Benchmark.objects.get(identifier="Some2026.IT-pls").version == ""
        assert not BenchmarkVersion.objects.exists()
        assert set(Score.objects.values_list("version", flat=True)) == {""}

    def test_one_is_as_old_as_its_first_receipt(self, db, receipt):
        ingest(receipt(day=4), receipt(day=2))
        created = Benchmark.objects.get(identifier="Some2026.IT-pls").created
        assert created == datetime(2026, 1, 3, tzinfo=UTC)


class TestVersions:
    def test_since_is_the_earliest_receipt(self, db, receipt):
        for day in (5, 2, 8):
            ingest(receipt(day=day))
        assert BenchmarkVersion.objects.get().since == datetime(2026, 1, 3, tzinfo=UTC)

    def test_the_ceiling_is_that_of_the_newest_receipt_that_has_one(self, db, receipt):
        ingest(receipt(day=5, ceiling=0.5))
        ingest(receipt(day=2, ceiling=0.2))
        ingest(receipt(day=8, ceiling=None))
        version = BenchmarkVersion.objects.get()
        assert (version.ceiling, version.ceiling_low, version.ceiling_high, version.lower_bound) == (
            0.5,
            0.78,
            0.82,
            0.7,
        )
        assert (version.ceiling_meaning, version.ceiling_estimates) == ("reliability", "splits")
        ingest(receipt(day=9, ceiling=0.9))
        assert BenchmarkVersion.objects.get().ceiling == 0.9

    def test_the_same_in_one_go(self, db, receipt):
        ingest(*(receipt(day=day, ceiling=ceiling) for day, ceiling in ((5, 0.5), (2, 0.2), (8, None))))
        version = BenchmarkVersion.objects.get()
        assert (version.ceiling, version.since) == (0.5, datetime(2026, 1, 3, tzinfo=UTC))

    def test_the_condition_is_that_of_the_newest_score(self, db, receipt):
        def scored(day, estimates, **options):
            made = receipt(day=day, **options)
            return replace(made, score=replace(made.score, ci_estimates=estimates)).identified()

        ingest(scored(5, "new stimuli and new neuroids of these 2 subjects; 60 stimuli", ceiling=None))
        assert BenchmarkVersion.objects.get().condition == "these 2 subjects only; other subjects: unknown"
        ingest(scored(2, "new stimuli and new neuroids of this subject; 60 stimuli"))
        assert BenchmarkVersion.objects.get().condition.startswith("these 2 subjects")
        ingest(scored(8, "new stimuli and new neuroids; 60 stimuli"), receipt(day=9, state="failed"))
        assert BenchmarkVersion.objects.get().condition == ""

    @pytest.mark.parametrize("raw", [None, "new stimuli of this subject; 60 stimuli"])
    def test_a_condition_that_no_receipt_states_is_not_recorded(self, db, receipt, raw):
        made = receipt(day=5)
        old = replace(made, raw=replace(made.score, ci_estimates=raw) if raw else None).identified()
        expected = condition(raw) or UNRECORDED
        ingest(receipt(day=4, state="failed"), old)
        assert BenchmarkVersion.objects.get().condition == expected
        BenchmarkVersion.objects.update(condition="")
        import_module("brainscore_web.leaderboard.migrations.0009_unrecorded_condition").mark_unrecorded(apps, None)
        assert BenchmarkVersion.objects.get().condition == ("" if raw else UNRECORDED)
        ingest(replace(receipt(day=1), score=replace(made.score, ci_estimates="new stimuli; 60 stimuli")).identified())
        assert BenchmarkVersion.objects.get().condition == ""

    def test_an_edited_ceiling_stays(self, db, receipt):
        ingest(receipt(day=1, ceiling=0.5))
        BenchmarkVersion.objects.update(ceiling=0.6, changes="mended")
        ingest(receipt(day=2, ceiling=0.7))
        version = BenchmarkVersion.objects.get()
        assert (version.ceiling, version.changes) == (0.6, "mended")


def test_queries_do_not_grow_with_receipts(db, receipt, django_assert_max_num_queries):
    ingest(receipt())
    with django_assert_max_num_queries(25):
        ingest(receipt(day=1))
    many = [receipt(f"model-{n % 10}", f"Many{n % 7}2026.V1-pls", day=n, version=n % 2 + 1) for n in range(200)]
    with django_assert_max_num_queries(40):
        ingest(*many)


AT_ONCE = """
import json, sys, threading
import django
django.setup()
from django.db import connections
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import BenchmarkVersion, Ingestion, Score, VisionModel

documents = [json.load(open(file)) for file in sys.argv[1:]]
start = threading.Barrier(4)
reports = []

def post(order):
    start.wait()
    try:
        report = ingest_receipts(documents[::order], by=None)
        reports.append([report.added, report.known, len(report.problems)])
    finally:
        connections.close_all()

threads = [threading.Thread(target=post, args=(order,)) for order in (1, -1, 1, -1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
rows = [model.objects.count() for model in (Score, VisionModel, BenchmarkVersion, Ingestion)]
print(json.dumps({"reports": reports, "rows": rows}))
"""


@pytest.mark.slow(reason="starts processes")
def test_posts_at_the_same_time_give_one_row(receipt, tmp_path, process):
    made = [receipt(f"model-{number}", day=number) for number in range(5)]
    files = [tmp_path / f"{one.id}.json" for one in made]
    for one, file in zip(made, files, strict=True):
        file.write_text(one.to_json())
    found = json.loads(process("-c", AT_ONCE, *files))
    assert len(found["reports"]) == 4
    assert sum(added for added, _, _ in found["reports"]) == 5
    assert sum(known for _, known, _ in found["reports"]) == 15
    assert not any(problems for _, _, problems in found["reports"])
    assert found["rows"] == [5, 5, 1, 4]


AGAINST = """
import json, sys, threading, time
import django
from django.core.management import call_command
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["*"]
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
from django.db import connections
from django.test import Client
from brainscore_web.profile.personal_data import PrivateModels, delete_account
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.ingest import rows as _writing, ingest_receipts, sync_catalogue
from brainscore_web.leaderboard.models import Benchmark, VisionModel

first, second, of_another_model = [json.load(open(file)) for file in sys.argv[1:]]
original = _writing.benchmarks_of

def both(what):
    call_command("flush", interactive=False, verbosity=0)
    user = User.objects.create_user("somebody@example.org", "correct horse battery")
    boss = User.objects.create_superuser("boss@example.org", "correct horse battery")
    assert ingest_receipts([first], by=user).added == 1
    model, benchmark = VisionModel.objects.get(), Benchmark.objects.get(is_mean=False)
    clients = [Client(raise_request_exception=True) for _ in (user, boss)]
    for client, who in zip(clients, (user, boss)):
        client.force_login(who)
    holds = threading.Event()

    def slow(rows):
        holds.set()  # the revision is locked
        time.sleep(0.4)
        Benchmark.objects.filter(pk=benchmark.pk).update(order=5)  # as where a receipt says where it stands
        return original(rows)

    _writing.benchmarks_of = slow
    ended = {}

    def run(name, function):
        try:
            ended[name] = function()
        except Exception as error:
            ended[name] = repr(error)
        finally:
            connections.close_all()

    def post():
        return ingest_receipts([of_another_model if what == "leave" else second], by=user).added

    def other():
        holds.wait()
        if what == "switch":
            return clients[0].post(
                "/accounts/models/visibility/", {"identifier": model.identifier, "visibility": "public"}
            ).status_code
        if what == "leave":
            return delete_account(User.objects.get(pk=user.pk), PrivateModels.KEEP)
        fields = {
            "identifier": benchmark.identifier, "order": 7, "access": "private", "version": "1", "title": "Edited"
        }
        for prefix in ("versions", "samples"):
            fields |= {f"{prefix}-TOTAL_FORMS": 0, f"{prefix}-INITIAL_FORMS": 0}
        return clients[1].post(f"/admin/leaderboard/benchmark/{benchmark.pk}/change/", fields).status_code

    threads = [threading.Thread(target=run, args=one) for one in (("ingest", post), ("other", other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [ended, Benchmark.objects.get(pk=benchmark.pk).title]

print(json.dumps({what: both(what) for what in ("switch", "leave", "admin")}))
"""


@pytest.mark.slow(reason="in processes of its own")
def test_changes_while_receipts_are_read_wait_for_each_other(receipt, tmp_path, process):
    files = [tmp_path / f"{number}.json" for number in range(3)]
    for file, made in zip(files, (receipt(), receipt(day=1), receipt("another-model", day=1)), strict=True):
        file.write_text(made.to_json())
    assert json.loads(process("-c", AGAINST, *files)) == {
        "switch": [{"ingest": 1, "other": 302}, ""],
        "leave": [{"ingest": 1, "other": None}, ""],
        "admin": [{"ingest": 1, "other": 302}, "Edited"],
    }
