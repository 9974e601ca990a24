"""The rules, by tables."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest

from brainscore_web.competitions.rules import (
    Cell,
    Direction,
    Entered,
    EntryFacts,
    NotApplicable,
    Phase,
    Rule,
    Standing,
    Terms,
    check_entry,
    deadline_end,
    phase_of,
    places,
    prizes_of,
    species_group,
    standings,
    task_kind,
    weights_of,
)

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

DEADLINE = datetime(2024, 7, 9, 12, tzinfo=UTC)
STATES = {"!": "failed", "?": "missing", "-": "not applicable", "~": "undefined", "<": "outdated"}


def cells(row):
    return [Cell(STATES[one]) if one in STATES else Cell("scored", float(one), 0.1) for one in row.split()]


def run(table, *, withdrawn=(), late=(), teams=None, listed=("a", "b"), wins="lowest", **rule):
    """Standings of {identifier: "score score"}; each is its own team where `teams` does not say."""
    entries = [
        Entered(
            key=name,
            team=(teams or {}).get(name, name),
            identifier=name,
            entered=datetime(2024, 7, 9 if name in late else 8, 12, tzinfo=UTC),
            withdrawn="changed our mind" if name in withdrawn else None,
        )
        for name in table
    ]
    made = Rule(Direction(wins), tuple(listed), **{"deadline": DEADLINE, **rule})
    return {row.entry.identifier: row for row in standings(entries, made, lambda name: cells(table[name]))}


RANKING = {
    # what: (values, lowest wins, places)
    "nobody": ([], True, ()),
    "one": ([0.5], True, (1,)),
    "lowest": ([0.3, 0.1, 0.2], True, (3, 1, 2)),
    "highest": ([0.3, 0.1, 0.2], False, (1, 3, 2)),
    "two firsts": ([0.1, 0.1, 0.2], True, (1, 1, 3)),
    "two seconds": ([0.2, 0.1, 0.2, 0.3], True, (2, 1, 2, 4)),
    "all equal": ([0.4] * 3, False, (1, 1, 1)),
    "rounding is no difference": ([0.1 + 0.2, 0.3], True, (1, 1)),
    "the tenth digit is": ([0.3, 0.3000000001], True, (1, 2)),
    "below zero": ([0.0, -0.1], True, (2, 1)),
}


@pytest.mark.parametrize("what", RANKING)
def test_places(what):
    values, lowest, wanted = RANKING[what]
    assert places(values, lowest_wins=lowest) == wanted


PRIZES = {
    # what: (places, prizes, split, won)
    "usual": ((1, 2, 3), (3000, 2000), True, ("3000", "2000", "0")),
    "two firsts share both": ((1, 1, 3), (3000, 2000), True, ("2500", "2500", "0")),
    "two seconds share the second": ((1, 2, 2), (3000, 2000), True, ("3000", "1000", "1000")),
    "three seconds, to the cent": ((1, 2, 2, 2), (3000, 2000), True, ("3000", "666.66", "666.66", "666.66")),
    "organisers decide": ((1, 1, 3), (3000, 2000), False, (None, None, "0")),
    "nothing to decide on": ((1, 2, 3, 3), (3000, 2000), False, ("3000", "2000", "0", "0")),
    "no prizes": ((1, 1), (), True, ("0", "0")),
    "fewer entries than prizes": ((1,), (3000, 2000), True, ("3000",)),
}


@pytest.mark.parametrize("what", PRIZES)
def test_prizes(what):
    taken, prizes, split, wanted = PRIZES[what]
    won = prizes_of(taken, [Decimal(one) for one in prizes], split=split)
    assert won == tuple(None if one is None else Decimal(one) for one in wanted)


def test_mean_over_components_equals_means_of_means():
    rng = np.random.default_rng(3)
    paths = [("V1", "a"), ("V1", "a"), ("V1", "b"), ("V1",), ("IT",), ("IT",), ()]
    values = rng.normal(size=len(paths))
    v1 = np.mean([np.mean(values[:2]), values[2], values[3]])
    expected = np.mean([v1, np.mean(values[4:6]), values[6]])
    assert sum(weights_of(paths)) == 1
    row = run(
        {"x": " ".join(map(repr, map(float, values)))}, listed="abcdefg", components=tuple(paths), wins="highest"
    )["x"]
    assert row.mean == pytest.approx(expected, rel=1e-12)
    assert row.components == (
        ("V1", pytest.approx(v1, rel=1e-12)),
        ("IT", pytest.approx(np.mean(values[4:6]), rel=1e-12)),
    )


def test_what_is_left_out_keeps_the_weights_of_components():
    row = run({"x": "0.2 - 0.6"}, listed="abc", components=(("V1",), ("V1",), ("IT",)))["x"]
    assert row.mean == pytest.approx(0.4)


STANDINGS = {
    # what: (table, options, {identifier: (standing, place, mean)})
    "lowest mean": (
        {"x": "0.5 0.3", "y": "0.1 0.2"}, {}, {"x": ("ranked", 2, 0.4), "y": ("ranked", 1, 0.15)},
    ),
    "highest mean": (
        {"x": "0.5 0.3", "y": "0.1 0.2"}, {"wins": "highest"}, {"x": ("ranked", 1, 0.4), "y": ("ranked", 2, 0.15)},
    ),
    "a missing score keeps out": (
        {"x": "0 ?", "y": "0.9 0.9"}, {}, {"x": ("incomplete", None, None), "y": ("ranked", 1, 0.9)},
    ),
    "a crash never wins, nor counts as 0": (
        {"x": "! !", "y": "0.9 0.9", "z": "0 !"}, {},
        {"x": ("incomplete", None, None), "y": ("ranked", 1, 0.9), "z": ("incomplete", None, None)},
    ),
    "nor where the highest wins": ({"x": "1 !"}, {"wins": "highest"}, {"x": ("incomplete", None, None)}),
    "undefined and outdated ones neither": (
        {"x": "0.1 ~", "y": "0.1 <", "z": "0.1 nan"}, {}, dict.fromkeys("xyz", ("incomplete", None, None)),
    ),
    "not applicable is left out": ({"x": "0.2 -"}, {}, {"x": ("ranked", 1, 0.2)}),
    "if at least half is applicable": (
        {"x": "0.2 - -"}, {"listed": ("a", "b", "c")}, {"x": ("incomplete", None, None)},
    ),
    "not applicable counts as 0": (
        {"x": "0.2 -"}, {"not_applicable": NotApplicable.ZERO, "wins": "highest"}, {"x": ("ranked", 1, 0.1)},
    ),
    "not applicable keeps out": (
        {"x": "0.2 -"}, {"not_applicable": NotApplicable.EXCLUDE}, {"x": ("incomplete", None, None)},
    ),
    "all not applicable": ({"x": "- -"}, {}, {"x": ("incomplete", None, None)}),
    "below the floor": ({"x": "-0.4 0.4"}, {"floor": 0.0}, {"x": ("ranked", 1, 0.2)}),
    "without a floor": ({"x": "-0.4 0.4"}, {}, {"x": ("ranked", 1, 0.0)}),
    "a tie": (
        {"x": "0.1 0.3", "y": "0.3 0.1", "z": "0.5 0.5"}, {},
        {"x": ("ranked", 1, 0.2), "y": ("ranked", 1, 0.2), "z": ("ranked", 3, 0.5)},
    ),
    "late": (
        {"x": "0 0", "y": "0.9 0.9"}, {"late": "x"}, {"x": ("late", None, 0.0), "y": ("ranked", 1, 0.9)},
    ),
    "withdrawn": (
        {"x": "0 0", "y": "0.9 0.9"}, {"withdrawn": "x"}, {"x": ("withdrawn", None, 0.0), "y": ("ranked", 1, 0.9)},
    ),
    "withdrawn and late": ({"x": "0 0"}, {"withdrawn": "x", "late": "x"}, {"x": ("withdrawn", None, 0.0)}),
    "the best of a team": (
        {"x": "0.2 0.2", "y": "0.1 0.1", "z": "0.3 0.3"}, {"teams": {"x": "Ada  B", "y": "ada b"}},
        {"x": ("not the team's best", None, 0.2), "y": ("ranked", 1, 0.1), "z": ("ranked", 2, 0.3)},
    ),
    "a team's better one that does not count": (
        {"x": "0 !", "y": "0.1 0.1"}, {"teams": {"x": "t", "y": "t"}},
        {"x": ("incomplete", None, None), "y": ("ranked", 1, 0.1)},
    ),
    "a team's late one": (
        {"x": "0 0", "y": "0.1 0.1"}, {"teams": {"x": "t", "y": "t"}, "late": "x"},
        {"x": ("late", None, 0.0), "y": ("ranked", 1, 0.1)},
    ),
    "two equal ones of a team": (
        {"y": "0.1 0.1", "x": "0.1 0.1"}, {"teams": {"x": "t", "y": "t"}},
        {"x": ("ranked", 1, 0.1), "y": ("not the team's best", None, 0.1)},
    ),
    "unknown teams are not one": (
        {"x": "0.2 0.2", "y": "0.1 0.1"}, {"teams": {"x": "", "y": ""}},
        {"x": ("ranked", 2, 0.2), "y": ("ranked", 1, 0.1)},
    ),
    "all of a team": (
        {"x": "0.2 0.2", "y": "0.1 0.1"}, {"teams": {"x": "t", "y": "t"}, "one_a_team": False},
        {"x": ("ranked", 2, 0.2), "y": ("ranked", 1, 0.1)},
    ),
    "nothing is listed": ({"x": ""}, {"listed": ()}, {"x": ("incomplete", None, None)}),
}  # fmt: skip


@pytest.mark.parametrize("what", STANDINGS)
def test_standings(what):
    table, options, wanted = STANDINGS[what]
    rows = run(table, **options)
    assert {name: (row.standing, row.place) for name, row in rows.items()} == {
        name: (standing, place) for name, (standing, place, _) in wanted.items()
    }
    for name, (_, _, mean) in wanted.items():
        assert rows[name].mean == (None if mean is None else pytest.approx(mean))
    assert all(row.why for row in rows.values() if row.standing != Standing.RANKED)


EXPLAINED = {
    # what: (row, options, what it says)
    "which failed": ("0.1 !", {}, ("failed: b",)),
    "all": ("! ?", {}, ("failed: a", "missing: b")),
    "alike": ("! !", {}, ("failed: all 2",)),
    "late and missing": ("0.1 ?", {"late": "x"}, ("entered after the deadline, 2024-07-09 12:00 UTC", "missing: b")),
    "withdrawn": ("0.1 0.1", {"withdrawn": "x"}, ("withdrawn: changed our mind",)),
    "left out": ("0.1 -", {}, ("b: not applicable, left out of the mean",)),
    "zero": ("0.1 -", {"not_applicable": NotApplicable.ZERO}, ("b: not applicable, counts as 0",)),
    "floor": ("0.1 -2", {"floor": 0.0}, ("b: below 0, counts as 0",)),
    "nothing to say": ("0.1 0.1", {}, ()),
}


@pytest.mark.parametrize("what", EXPLAINED)
def test_every_result_explains_itself(what):
    row, options, wanted = EXPLAINED[what]
    assert run({"x": row}, **options)["x"].why == wanted


def test_reasons_of_receipts_are_told():
    rule = Rule(Direction.LOWEST, ("a", "b", "c"))
    found = [
        Cell("failed", reason="out of memory"),
        Cell("failed", reason="out of memory"),
        Cell("failed", reason="NaN"),
    ]
    (row,) = standings([Entered("1", "t", "x")], rule, lambda _: found)
    assert row.why == ("failed: a, b (out of memory)", "failed: c (NaN)")


def test_only_the_error_of_one_score_is_that_of_the_mean():
    assert run({"x": "0.2 0.4"})["x"].error is None  # which may be on the same stimuli
    one = [Cell("scored", 0.2, 0.1), Cell("scored", 0.4, 0.0)]
    row = standings([Entered("1", "t", "x")], Rule(Direction.LOWEST, ("a", "b")), lambda _: one)[0]
    assert row.error == pytest.approx(0.1 / 2)
    bare = standings([Entered("1", "t", "x")], Rule(Direction.LOWEST, ("a",)), lambda _: [Cell("scored", 0.2)])
    assert bare[0].error is None


def test_order_is_places_first_then_reasons():
    table = {"late": "0 0", "worse": "0.3 0.3", "gone": "0 0", "crash": "0 !", "best": "0.1 0.1", "second": "0.2 0.2"}
    rows = run(table, late=["late"], withdrawn=["gone"], teams={"worse": "t", "best": "t"})
    assert list(rows) == ["best", "second", "worse", "crash", "late", "gone"]


def test_rules_that_contradict_themselves():
    assert Rule(Direction.LOWEST, ("a",), not_applicable=NotApplicable.ZERO).problems
    assert Rule(Direction.LOWEST, ("a", "a")).problems
    assert not Rule(Direction.HIGHEST, ("a",), not_applicable=NotApplicable.ZERO).problems


def test_as_many_cells_as_are_listed():
    with pytest.raises(ValueError, match="1 cells for 2"):
        run({"x": "0.1"})


ROW = st.lists(st.one_of(st.floats(0, 1), st.sampled_from(sorted(STATES))), min_size=3, max_size=3)


@hypothesis.given(st.dictionaries(st.sampled_from("abcdefgh"), ROW), st.sampled_from(["lowest", "highest"]))
def test_whatever_the_scores(table, wins):
    text = {name: " ".join(map(str, row)) for name, row in table.items()}
    rows = run(text, listed=("p", "q", "r"), wins=wins, prizes=(Decimal(3000), Decimal(2000)))
    assert set(rows) == set(table)
    ranked = [row for row in rows.values() if row.place is not None]
    for row in ranked:  # as many are better as its place says
        better = sum(
            (one.mean < row.mean - 1e-9) if wins == "lowest" else (one.mean > row.mean + 1e-9) for one in ranked
        )
        assert row.place - 1 >= better
        assert "!" not in table[row.entry.identifier]
    assert sum(row.prize or 0 for row in ranked) <= 5000
    again = run({name: text[name] for name in reversed(text)}, listed=("p", "q", "r"), wins=wins)
    assert {name: row.place for name, row in again.items()} == {name: row.place for name, row in rows.items()}


FITS = {
    "regions": frozenset({"V4"}), "species": frozenset({"human"}), "tasks": frozenset(), "static_images": True,
    "time_bins": 1,
}  # fmt: skip
NEURAL = Terms(
    "benchmarks",
    regions=frozenset({"V1", "V2", "V4", "IT"}),
    species=frozenset({"human", "non-human primate"}),
    static_images=True,
    single_time_bin=True,
    entered=frozenset({"taken"}),
    listed=frozenset({"alexnet"}),
)
BEHAVIORAL = Terms("benchmarks", tasks=frozenset({"label", "probabilities", "odd_one_out"}))
FINDINGS = {
    # what: (facts, terms, {check: severity})
    "fits": (FITS, NEURAL, {}),
    "fits behaviour": ({"tasks": frozenset({"label"})}, BEHAVIORAL, {}),
    "another region": ({**FITS, "regions": frozenset({"V4", "MT"})}, NEURAL, {"regions": "error"}),
    "mouse": ({**FITS, "species": frozenset({"mouse"})}, NEURAL, {"species": "error"}),
    "video": ({**FITS, "static_images": False}, NEURAL, {"stimuli": "error"}),
    "dynamics": ({**FITS, "time_bins": 3}, NEURAL, {"time_bins": "error"}),
    "behaviour in the neural track": ({**FITS, "regions": frozenset()}, NEURAL, {"regions": "error"}),
    "neural in the behavioural track": (FITS, BEHAVIORAL, {"tasks": "error"}),
    "another task": ({"tasks": frozenset({"reading"})}, BEHAVIORAL, {"tasks": "error"}),
    "nothing known": (
        {}, NEURAL, dict.fromkeys(("regions", "species", "stimuli", "time_bins"), "warning"),
    ),
    "a model": ({**FITS, "competes": "models"}, NEURAL, {"kind": "error"}),
    "twice": ({**FITS, "identifier": "taken"}, NEURAL, {"entered": "error"}),
    "what it is scored on": ({**FITS, "identifier": "alexnet"}, NEURAL, {"listed": "error"}),
    "a mean": ({**FITS, "mean": True}, NEURAL, {"mean": "error"}),
    "private": ({**FITS, "public": False}, NEURAL, {"private": "warning"}),
    "on its way": ({**FITS, "here": False}, NEURAL, {"published": "warning"}),
    "closed": (FITS, Terms("benchmarks", open=False), {"time": "error"}),
    "everything at once": (
        {"identifier": "taken", "mean": True, "regions": frozenset({"MT"}), "species": frozenset({"mouse"}),
         "static_images": False, "time_bins": 2},
        NEURAL,
        dict.fromkeys(("entered", "mean", "regions", "species", "stimuli", "time_bins"), "error"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FINDINGS)
def test_findings(what):
    facts, terms, wanted = FINDINGS[what]
    found = check_entry(EntryFacts(**{"competes": "benchmarks", "identifier": "mine", **facts}), terms)
    assert {one.check: one.severity for one in found} == wanted
    assert len(found) == len(wanted)
    assert all(one.message and one.remedy for one in found)


PHASES = {
    # what: (now, published, opens, deadline, frozen, awarded, phase)
    "draft": ("2024-05-01T00", False, None, None, False, False, Phase.DRAFT),
    "announced": ("2024-02-29T23", True, "2024-03-01", "2024-07-08", False, False, Phase.ANNOUNCED),
    "open": ("2024-03-01T00", True, "2024-03-01", "2024-07-08", False, False, Phase.OPEN),
    "still open somewhere on Earth": ("2024-07-09T11", True, None, "2024-07-08", False, False, Phase.OPEN),
    "closed": ("2024-07-09T12", True, None, "2024-07-08", False, False, Phase.CLOSED),
    "never closes": ("2034-01-01T00", True, None, None, False, False, Phase.OPEN),
    "frozen": ("2024-05-01T00", True, None, "2024-07-08", True, False, Phase.FROZEN),
    "awarded": ("2024-05-01T00", True, None, None, True, True, Phase.AWARDED),
}


@pytest.mark.parametrize("what", PHASES)
def test_phases(what):
    now, published, opens, deadline, frozen, awarded, wanted = PHASES[what]
    days = [None if day is None else date.fromisoformat(day) for day in (opens, deadline)]
    moment = datetime.fromisoformat(f"{now}:00+00:00")
    found = phase_of(moment, published=published, opens=days[0], deadline=days[1], frozen=frozen, awarded=awarded)
    assert found == wanted


def test_a_day_ends_everywhere():
    assert deadline_end(date(2024, 7, 8)) == DEADLINE
    assert deadline_end(None) is None


@pytest.mark.parametrize(("text", "wanted"), [
    ("human", "human"), ("Humans", "human"), ("Homo sapiens", "human"), ("macaque", "non-human primate"),
    ("rhesus monkey", "non-human primate"), ("non-human primate", "non-human primate"), ("Mouse", "mouse"), ("", ""),
])  # fmt: skip
def test_species(text, wanted):
    assert species_group(text) == wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("label (sorted set of truth)", "label"), ("naming", "label"), ("probabilities", "probabilities"),
    ("choice", "probabilities"), ("odd_one_out", "odd_one_out"), ("odd one out", "odd_one_out"),
    ("passive viewing", ""), ("visual search", None),
])  # fmt: skip
def test_tasks(text, wanted):
    assert task_kind(text) == wanted
