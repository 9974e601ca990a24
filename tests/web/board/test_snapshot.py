import threading
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard import snapshot as loading
from brainscore_web.leaderboard import snapshot as snapshots
from brainscore_web.leaderboard.board import clear_caches
from brainscore_web.leaderboard.exposure import EXPOSURES
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, Visibility, VisionModel
from brainscore_web.leaderboard.snapshot import STATES, snapshot_for

EVERYBODY = AnonymousUser()


@pytest.fixture(autouse=True)
def _nothing_remembered():
    clear_caches()
    yield
    clear_caches()


def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Site:
    """Makes rows; receipts are numbered."""

    def __init__(self):
        self.numbers = iter(range(10**6))
        root = Benchmark.objects.create(identifier="all", is_mean=True, title="All")
        self.means = {
            name: Benchmark.objects.create(identifier=name, is_mean=True, parent=root, order=order)
            for order, name in enumerate(("V4", "IT"))
        }

    def benchmark(self, identifier, parent="IT", *, version="1", since=("2026-01-01",), **fields):
        made = Benchmark.objects.create(
            identifier=identifier, parent=self.means.get(parent), version=version, created=day(since[0]), **fields
        )
        for number, moment in enumerate(since, 1):
            BenchmarkVersion.objects.create(
                benchmark=made,
                version=str(number),
                since=day(moment),
                ceiling=number / 10,
                ceiling_meaning="reliability",
            )
        return made

    def model(self, identifier, **fields):
        return VisionModel.objects.create(identifier=identifier, **fields)

    def score(self, model, benchmark, value=None, *, version="1", created="2026-02-01", state="scored", **fields):
        return Score.objects.create(
            receipt=f"receipt-{next(self.numbers)}",
            model=model,
            benchmark=benchmark,
            version=version,
            created=day(created),
            state=state,
            value=value,
            **fields,
        )


@pytest.fixture
def site(db):
    return Site()


def state(snapshot, model, benchmark):
    return STATES[snapshot.state[snapshot.model_index[model], snapshot.benchmark_index[benchmark]]]


def value(snapshot, model, benchmark):
    return float(snapshot.value[snapshot.model_index[model], snapshot.benchmark_index[benchmark]])


def test_an_empty_site_is_an_empty_snapshot(db):
    snapshot = snapshot_for(EVERYBODY)
    assert snapshot.models == snapshot.benchmarks == ()
    assert snapshot.value.shape == (0, 0)


def test_models_without_receipts_do_not_appear_and_benchmarks_do(site):
    site.model("idle")
    busy, benchmark = site.model("busy"), site.benchmark("A.IT-pls")
    site.benchmark("B.IT-pls")
    site.score(busy, benchmark, 0.5)
    snapshot = snapshot_for(EVERYBODY)
    assert [model.identifier for model in snapshot.models] == ["busy"]
    assert state(snapshot, "busy", "B.IT-pls") == "missing"


def test_benchmarks_come_in_the_order_of_the_tree_then_those_apart_then_controls(site):
    for identifier, parent, fields in (
        ("c.control", "IT", {"control": True}),
        ("a.control", None, {"control": True}),
        ("z.apart", None, {}),
        ("b.apart", "IT", {"in_tree": False}),
        ("z.IT", "IT", {}),
        ("a.IT", "IT", {"order": 1000}),
        ("z.V4", "V4", {}),
    ):
        site.benchmark(identifier, parent, **fields)
    snapshot = snapshot_for(EVERYBODY)
    assert [one.identifier for one in snapshot.benchmarks] == [
        "z.V4", "z.IT", "a.IT", "b.apart", "z.apart", "a.control", "c.control",
    ]  # fmt: skip
    assert snapshot.tree.benchmarks == ("z.V4", "z.IT", "a.IT")
    assert list(snapshot.tree) == ["all", "V4", "z.V4", "IT", "z.IT", "a.IT"]
    assert [one.in_tree for one in snapshot.benchmarks] == [True] * 3 + [False] * 4


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("receipts", "expected", "score"),
    [
        ([("scored", 0.5, "1", "2026-02-01")], "scored", 0.5),
        ([("scored", 0.5, "1", "2026-02-02"), ("scored", 0.9, "1", "2026-02-01")], "scored", 0.5),
        ([("scored", 0.5, "1", "2026-02-01"), ("failed", None, "1", "2026-02-02")], "failed", None),
        ([("failed", None, "1", "2026-02-01"), ("scored", 0.5, "1", "2026-02-02")], "scored", 0.5),
        ([("scored", 0.5, "1", "2026-02-01"), ("failed", None, "", "2026-02-02")], "failed", None),
        ([("scored", 0.5, "0", "2026-02-01")], "outdated", None),
        ([("scored", 0.9, "0", "2026-03-01"), ("scored", 0.5, "1", "2026-02-01")], "scored", 0.5),
        ([("scored", 0.9, "", "2026-03-01")], "outdated", None),
        ([("not applicable", None, "", "2026-03-01")], "not applicable", None),
        ([("undefined", None, "1", "2026-03-01")], "undefined", None),
        ([("scored", None, "1", "2026-03-01")], "undefined", None),
    ],
)
def test_which_receipt_counts(site, receipts, expected, score, apart):
    model = site.model("m")
    benchmark = site.benchmark("A", None if apart else "IT")
    for outcome, number, version, created in receipts:
        site.score(model, benchmark, number, state=outcome, version=version, created=created)
    snapshot = snapshot_for(EVERYBODY)
    assert state(snapshot, "m", "A") == expected
    assert value(snapshot, "m", "A") == pytest.approx(score if score is not None else np.nan, nan_ok=True)


@pytest.mark.parametrize("backwards", [False, True])
def test_of_the_same_moment_the_one_with_the_last_id_counts_whatever_came_first(site, backwards):
    model, benchmark = site.model("m"), site.benchmark("A")
    ids = ["receipt-b", "receipt-a", "receipt-c", "receipt-0"]
    for number, receipt in enumerate(reversed(ids) if backwards else ids):
        made = site.score(model, benchmark, number / 10)
        Score.objects.filter(pk=made.pk).update(receipt=receipt)
    site.score(site.model("another"), benchmark, 0.9)
    snapshot = snapshot_for(EVERYBODY)
    assert Score.objects.get(pk=snapshot.score[snapshot.model_index["m"], 0]).receipt == "receipt-c"
    assert value(snapshot, "another", "A") == 0.9


def test_of_a_benchmark_without_a_version_every_one_counts(site):
    model, benchmark = site.model("m"), site.benchmark("A", version="", since=("2026-01-01", "2026-01-02"))
    site.score(model, benchmark, 0.1, version="2")
    site.score(model, benchmark, 0.2, version="", created="2026-02-03")
    snapshot = snapshot_for(EVERYBODY)
    assert value(snapshot, "m", "A") == 0.2
    assert snapshot.benchmarks[0].ceiling == 0.2  # that of the newest version


def test_all_numbers_and_texts_arrive(site):
    model = site.model(
        "m",
        title="A model",
        architecture="CNN",
        family="f",
        parameters=7,
        size_mb=1.5,
        training_data="t",
        runnable=False,
    )
    benchmark = site.benchmark(
        "A", title="A benchmark", region="IT", species="human", task="t", stimuli="s", metric="pls", access="public"
    )
    made = site.score(
        model, benchmark, 0.5, error=0.1, low=0.3, high=0.7, raw=0.4, raw_error=0.08, raw_low=0.2, raw_high=0.6
    )
    snapshot = snapshot_for(EVERYBODY)
    assert snapshot.models[0][:11] == (model.pk, "m", "A model", False, False, "CNN", "f", 7, 1.5, "t", False)
    assert snapshot.models[0].published is None
    row = snapshot.benchmarks[0]
    assert row[:14] == (
        benchmark.pk, "A", "A benchmark", "1", "IT", "IT", "human", "t", "s", "pls", "public", False, True, 0.1,
    )  # fmt: skip
    assert np.isnan([row.ceiling_error, row.ceiling_low, row.ceiling_high]).all()
    assert row.ceiling_meaning == "reliability"
    for name in loading.NUMBERS:
        assert getattr(snapshot, name).tolist() == [[getattr(made, name)]]


def test_what_can_be_no_number_is_none(site):
    model, benchmark = site.model("m"), site.benchmark("A")
    site.score(model, benchmark, 0.5, error=-0.1, raw=0.4, raw_error=np.inf, low=-np.inf, high=1.0)
    BenchmarkVersion.objects.update(ceiling=np.inf)
    snapshot = snapshot_for(EVERYBODY)
    assert np.isnan([snapshot.error, snapshot.raw_error, snapshot.low]).all()
    assert np.isnan(snapshot.benchmarks[0].ceiling)
    assert (value(snapshot, "m", "A"), snapshot.high.tolist()) == (0.5, [[1.0]])


def test_arrays_cannot_be_written_to(board):
    snapshot = snapshot_for(EVERYBODY)
    for name in (*loading.NUMBERS, "state", "score"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(snapshot, name)[0, 0] = 1


def test_the_rule_in_plain_python(board):
    """All pairs of the simulated board, one after another."""
    snapshot = snapshot_for(EVERYBODY)
    benchmarks = {one.pk: one for one in Benchmark.objects.filter(is_mean=False)}
    assert len(snapshot.models) == len(board.models) - 1
    for row, model in enumerate(snapshot.models):
        for column, shown in enumerate(snapshot.benchmarks):
            version = benchmarks[shown.pk].version
            receipts = list(Score.objects.filter(model=model.pk, benchmark=shown.pk).order_by("-created"))
            current = [one for one in receipts if one.version == version]
            expected = current[0].state if current else "outdated" if receipts else "missing"
            assert STATES[snapshot.state[row, column]] == expected
            number = current[0].value if expected == "scored" else np.nan
            assert snapshot.value[row, column] == pytest.approx(number, nan_ok=True)


class TestPrivacy:
    def test_only_who_may_sees_a_private_model(self, board, owner, member, staff):
        seen = {
            name: {model.identifier for model in snapshot_for(who).models}
            for name, who in (("everybody", EVERYBODY), ("owner", owner), ("member", member), ("staff", staff))
        }
        public = set(board.models[:-1])
        assert seen == {"everybody": public, "member": public, "owner": {*board.models}, "staff": {*board.models}}

    def test_audiences_are_apart(self, board, owner, member, staff):
        VisionModel.objects.filter(identifier=board.models[0]).update(visibility=Visibility.PRIVATE, owner=member)
        revision.bump()
        audiences = [snapshot_for(who).audience for who in (EVERYBODY, owner, member, staff)]
        assert len(set(audiences)) == 4
        assert audiences[0] == "public"
        assert audiences[3] == "all"
        assert not snapshot_for(owner).model_index.keys() & {board.models[0]}

    def test_mine_is_what_is_seen_because_it_is_ones_own(self, board, owner, staff):
        assert [model.identifier for model in snapshot_for(owner).models if model.mine] == [board.models[-1]]
        assert [model.identifier for model in snapshot_for(owner).models if model.private] == [board.models[-1]]
        assert not any(model.mine for model in snapshot_for(staff).models)

    def test_what_becomes_private_is_gone_at_once(self, board):
        assert board.models[0] in snapshot_for(EVERYBODY).model_index
        model = VisionModel.objects.get(identifier=board.models[0])
        model.visibility = Visibility.PRIVATE
        model.save()
        assert board.models[0] not in snapshot_for(EVERYBODY).model_index

    def test_it_was_never_seen_on_earlier_days_either(self, board):
        assert board.models[-1] not in snapshot_for(EVERYBODY, at=date(2024, 12, 31)).model_index

    def test_the_digest_tells_outsiders_nothing_of_private_models(self, board, owner):
        before = {who: snapshot_for(who).digest for who in (EVERYBODY, owner)}
        score = Score.objects.filter(model__identifier=board.models[-1], state="scored").latest("created")
        score.value = 0.123
        score.save()
        assert snapshot_for(EVERYBODY).digest == before[EVERYBODY]
        assert snapshot_for(owner).digest != before[owner]

    def test_the_digest_follows_what_is_seen(self, board):
        before = snapshot_for(EVERYBODY).digest
        model = VisionModel.objects.get(identifier=board.models[0])
        model.title = "Renamed"
        model.save()
        assert snapshot_for(EVERYBODY).digest != before


class TestEarlierDays:
    @pytest.fixture
    def versions(self, site):
        """Version 2 since March; a model scored on both, one after that."""
        benchmark = site.benchmark("A", version="2", since=("2026-01-10", "2026-03-01"))
        old, new = site.model("old"), site.model("new")
        site.score(old, benchmark, 0.1, version="1", created="2026-02-01T23:59:59.999999")
        site.score(old, benchmark, 0.2, version="1", created="2026-02-10")
        site.score(old, benchmark, 0.3, version="2", created="2026-03-20")
        site.score(new, benchmark, 0.4, version="2", created="2026-04-01")
        return site

    @pytest.mark.parametrize(
        ("at", "expected", "ceiling"),
        [
            ("2026-01-31", {}, 0.1),
            ("2026-02-01", {"old": ("scored", 0.1)}, 0.1),
            ("2026-02-28", {"old": ("scored", 0.2)}, 0.1),
            ("2026-03-01", {"old": ("outdated", None)}, 0.2),
            ("2026-03-20", {"old": ("scored", 0.3)}, 0.2),
            ("2026-04-01", {"new": ("scored", 0.4), "old": ("scored", 0.3)}, 0.2),
            ("9999-12-31", {"new": ("scored", 0.4), "old": ("scored", 0.3)}, 0.2),
        ],
    )
    def test_receipts_and_versions_are_those_of_then(self, versions, at, expected, ceiling):
        snapshot = snapshot_for(EVERYBODY, at=date.fromisoformat(at))
        found = {
            model: (
                state(snapshot, model, "A"),
                None if np.isnan(value(snapshot, model, "A")) else value(snapshot, model, "A"),
            )
            for model in snapshot.model_index
        }
        assert found == expected
        assert snapshot.benchmarks[0].ceiling == ceiling

    @pytest.mark.parametrize("at", ["2026-01-09", "0001-01-01"])
    def test_a_benchmark_that_there_was_not_does_not_count(self, versions, at):
        snapshot = snapshot_for(EVERYBODY, at=date.fromisoformat(at))
        assert snapshot.benchmarks == ()
        assert "A" not in snapshot.tree

    def test_one_never_scored_counts_since_it_was_known(self, site):
        Benchmark.objects.create(identifier="B", parent=site.means["IT"], created=day("2026-02-01"))
        assert "B" not in snapshot_for(EVERYBODY, at=date(2026, 1, 31)).tree
        assert "B" in snapshot_for(EVERYBODY, at=date(2026, 2, 1)).tree

    def test_a_version_that_was_withdrawn_does_not_count(self, site):
        benchmark = site.benchmark("A", version="1", since=("2026-01-01", "2026-02-01"))
        site.score(site.model("m"), benchmark, 0.5, version="1", created="2026-01-02")
        for at in (None, date(2026, 3, 1)):
            assert state(snapshot_for(EVERYBODY, at=at), "m", "A") == "scored"

    def test_versions_are_numbers_where_they_can_be(self, site):
        benchmark = site.benchmark("A", version="10", since=("2026-01-01",))
        for version, since in (("9", "2026-01-20"), ("2", "2026-01-25"), ("10", "2026-03-01")):
            BenchmarkVersion.objects.create(benchmark=benchmark, version=version, since=day(since))
        assert snapshot_for(EVERYBODY, at=date(2026, 2, 1)).benchmarks[0].version == "9"

    def test_today_is_as_without_a_date(self, board):
        now = snapshot_for(EVERYBODY)
        today = snapshot_for(EVERYBODY, at=datetime.now(UTC).date() + timedelta(days=1))
        assert today.benchmarks == now.benchmarks
        np.testing.assert_array_equal(today.value, now.value)
        np.testing.assert_array_equal(today.state, now.state)


class TestCache:
    def test_it_is_made_once_a_revision(self, board):
        first = snapshot_for(EVERYBODY)
        assert snapshot_for(AnonymousUser()) is first
        revision.bump()
        assert snapshot_for(EVERYBODY) is not first

    def test_queries_are_bounded(self, board, owner, django_assert_max_num_queries):
        with django_assert_max_num_queries(
            9
        ):  # revision, models, benchmarks, assessments, versions, scores, their order, remote results, influences
            snapshot_for(EVERYBODY)
        with django_assert_max_num_queries(1):
            snapshot_for(EVERYBODY)
        with django_assert_max_num_queries(5):  # scores are at hand
            snapshot_for(EVERYBODY, at=date(2024, 6, 1))
        with django_assert_max_num_queries(9):  # permissions of the user and of groups, private models
            snapshot_for(owner)

    def test_what_was_before_is_not_kept(self, board, owner):
        for visitor, at in ((EVERYBODY, None), (owner, None), (EVERYBODY, date(2024, 6, 1))):
            snapshot_for(visitor, at=at)
        revision.bump()
        snapshot_for(EVERYBODY)
        assert (len(snapshots._scores), len(snapshots._snapshots), len(snapshots._past)) == (1, 1, 0)

    def test_looking_back_does_not_displace_what_is_shown_to_all(self, board):
        now = snapshot_for(EVERYBODY)
        for number in range(20):
            snapshot_for(EVERYBODY, at=date(2024, 1, 1) + timedelta(days=number))
        assert snapshot_for(EVERYBODY) is now


def test_several_threads_make_one_value_and_a_failure_is_not_kept():
    from brainscore_web.leaderboard.revision import Cache

    cache, made, go = Cache(most=3), [], threading.Event()

    def make():
        go.wait(5)
        made.append(1)
        if len(made) == 1:
            raise ValueError("the first attempt fails")
        return object()

    found, errors = [], []

    def ask():
        try:
            found.append(cache.get("key", make))
        except ValueError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(10)
    assert len(errors) == 1
    assert len(found) == 7
    assert len(set(map(id, found))) == 1
    assert len(made) == 2


def test_the_cache_is_bounded_and_forgets_what_was_not_used():
    from brainscore_web.leaderboard.revision import Cache

    cache = Cache(most=2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda key=key: key)
    assert len(cache) == 2
    assert cache.get("a", lambda: "made again") == "a"
    assert cache.get("b", lambda: "made again") == "made again"
    cache.drop(lambda key: key == "a")
    assert cache.get("a", lambda: "made again") == "made again"


def test_what_is_heavy_displaces_more_and_what_is_too_heavy_nothing():
    from brainscore_web.leaderboard.revision import Cache

    cache = Cache(most=10, weigh=len)
    for text in ("aaaa", "bbbb", "c" * 11):
        cache.get(text, lambda text=text: text)
    assert len(cache) == 2
    cache.get("d" * 7, lambda: "d" * 7)
    assert len(cache) == 1
    cache.clear()
    cache.get("e" * 10, lambda: "e" * 10)
    assert len(cache) == 1


class TestBrokenTrees:
    def test_what_is_below_a_cycle_stands_apart_and_is_told_once(self, site, client, caplog):
        from brainscore_web.leaderboard.snapshot import _log_broken_tree

        _log_broken_tree.cache_clear()
        model = site.model("m")
        site.score(model, site.benchmark("A"), 0.5)
        site.score(model, site.benchmark("B", "V4"), 0.25)
        other = Benchmark.objects.create(identifier="other", is_mean=True, parent=site.means["IT"])
        Benchmark.objects.filter(identifier="IT").update(parent=other)
        for _ in range(2):
            revision.bump()
            snapshot = snapshot_for(EVERYBODY)
        assert list(snapshot.tree) == ["all", "V4", "B"]
        assert [(one.identifier, one.in_tree, one.parent) for one in snapshot.benchmarks] == [
            ("B", True, "V4"),
            ("A", False, ""),
        ]
        assert value(snapshot, "m", "A") == 0.5
        (told,) = [record for record in caplog.records if record.name == loading.__name__]
        assert told.levelname == "ERROR"
        assert "IT, other" in told.getMessage()
        for address in (
            *("/", "/vision/leaderboard/", "/vision/leaderboard/data.json", "/vision/leaderboard/export.csv"),
            *("/vision/benchmarks/", "/vision/benchmark/IT/", "/vision/benchmark/A/", "/vision/compare/"),
            *("/api/v1/leaderboard", "/api/v1/benchmarks", "/api/v1/benchmarks/IT", "/api/v1/scores?benchmark=IT"),
        ):
            assert client.get(address).status_code == 200, address
        listed = client.get("/api/v1/benchmarks").json()["items"]
        assert {one["identifier"] for one in listed} == {"all", "V4", "IT", "other", "A", "B"}

    def test_below_a_benchmark_nothing_counts(self, site, caplog):
        from brainscore_web.leaderboard.snapshot import _log_broken_tree

        _log_broken_tree.cache_clear()
        model, above = site.model("m"), site.benchmark("A")
        site.score(model, site.benchmark("B"), 0.5)
        Benchmark.objects.filter(identifier="B").update(parent=above)
        snapshot = snapshot_for(EVERYBODY)
        assert snapshot.tree.benchmarks == ("A",)
        assert not snapshot.benchmarks[snapshot.benchmark_index["B"]].in_tree
        assert "B" in caplog.text

    @pytest.mark.parametrize(
        ("changed", "parent"),
        [("all", "IT"), ("all", "all"), ("V4", "A")],
    )
    def test_none_is_made_in_the_administration(self, site, changed, parent):
        site.benchmark("A")
        rows = {row.identifier: row for row in Benchmark.objects.all()}
        for row in rows.values():
            row.full_clean()
        rows[changed].parent = rows[parent]
        with pytest.raises(ValidationError) as error:
            rows[changed].full_clean()
        assert list(error.value.message_dict) == ["parent"]

    def test_what_has_others_below_it_stays_a_mean(self, site):
        site.benchmark("A")
        site.means["IT"].is_mean = False
        with pytest.raises(ValidationError, match="only a mean"):
            site.means["IT"].full_clean()

    @pytest.mark.parametrize("name", ["..", ".", "a/../b", "a/.", " a", "a\nb"])
    def test_names_without_an_address(self, db, name):
        for row in (Benchmark(identifier=name), VisionModel(identifier=name)):
            with pytest.raises(ValidationError) as error:
                row.full_clean()
            assert list(error.value.message_dict) == ["identifier"]
        for fine in ("...", "a..b", "org/model.v1"):
            VisionModel(identifier=fine).full_clean()


def exposure(snapshot, model, benchmark):
    return EXPOSURES[snapshot.exposure[snapshot.model_index[model], snapshot.benchmark_index[benchmark]]]


def test_exposure_is_inherited_from_models_that_the_visitor_may_see(site, owner):
    places = site.benchmark("Lab2026.IT-pls", taken_from=["Places365"])
    composed = site.benchmark("Lab2026.IT:cka_cv")
    elsewhere = site.benchmark("Other2026.IT-pls", taken_from=["Ecoset"])
    base = site.model("base", trained_on=["Places365"], visibility=Visibility.PRIVATE, owner=owner)
    tuned = site.model("tuned", trained_on=["Ecoset"], fine_tuned_from="base")
    site.model("circle", trained_on=[], fine_tuned_from="circle")
    for model in (base, tuned, VisionModel.objects.get(identifier="circle")):
        site.score(model, places, 0.5)
    for visitor, expected in ((owner, "trained on it"), (EVERYBODY, "unknown")):
        snapshot = snapshot_for(visitor)
        assert exposure(snapshot, "tuned", places.identifier) == expected
        assert exposure(snapshot, "tuned", composed.identifier) == expected
        assert exposure(snapshot, "tuned", elsewhere.identifier) == "trained on it"
        assert exposure(snapshot, "circle", places.identifier) == "unknown"
    names = snapshot_for(EVERYBODY).models[snapshot_for(EVERYBODY).model_index["tuned"]].training.names
    assert names == ("Ecoset",)


def test_models_fine_tuned_from_each_other_are_refused(site):
    site.model("a", fine_tuned_from="b")
    with pytest.raises(ValidationError, match="fine-tuned from each other"):
        VisionModel(identifier="b", fine_tuned_from="a").full_clean()
    with pytest.raises(ValidationError, match="list of names"):
        VisionModel(identifier="c", trained_on={"ImageNet": 1}).full_clean()
    VisionModel(identifier="c", trained_on=["ImageNet"], fine_tuned_from="a").full_clean()
