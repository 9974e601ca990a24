"""The packaged tree against what the benchmarks here say of themselves, and against the published tree."""

import json
import os
from pathlib import Path

import pytest

from brainscore_core.errors import UserError
from brainscore_core.plugins import Registry
from brainscore_core.results.aggregates import LeafResult, aggregate
from brainscore_core.scoring import BenchmarkInfo
from brainscore_vision import benchmark_registry, data_registry, load_benchmark
from brainscore_vision.catalogue import leaderboard_tree, node_name
from brainscore_vision.testing import list_stand_ins, stand_in

TREE = leaderboard_tree()
CONTROLS = {"Simulated2026.IT-pls", "Simulated2026.IT-rdm", "Simulated2026.V1-pls", "Simulated2026.V1-rdm"}


@pytest.fixture
def stand_ins(monkeypatch):
    """Benchmarks are made on data of the form of theirs; none are fetched."""
    known, make, made = list_stand_ins(), Registry.make, {}

    def loaded(self, key, *args, **kwargs):
        if self is data_registry and key in known["assemblies"]:
            if key not in made:
                made[key] = stand_in(key)
            return made[key].copy()
        return make(self, key, *args, **kwargs)

    monkeypatch.setattr(Registry, "make", loaded)


def test_the_tree_has_the_registered_benchmarks_at_their_parents(stand_ins):
    here = Path(benchmark_registry.location("Kar2019-ost").folder).parent
    expected = {}
    for key in benchmark_registry:
        if key in CONTROLS or Path(benchmark_registry.location(key).folder).parent != here:
            continue
        benchmark = load_benchmark(key)
        if benchmark.parent is not None:
            expected[key] = (benchmark.version, node_name(benchmark.parent))
    assert set(TREE.benchmarks) == set(expected), "benchmarks and leaderboard_tree.json differ"
    for key, (version, parent) in expected.items():
        assert TREE[key].version == version, key
        # the leaderboard may gather benchmarks in a node of their own below the parent that they name
        assert parent in TREE.ancestors(key), key


def test_controls_are_on_no_leaderboard():
    assert set(benchmark_registry) >= CONTROLS
    for key in CONTROLS:
        assert key not in TREE


@pytest.mark.parametrize(
    ("identifier", "ancestors"),
    [
        ("Marques2020_Ringach2002-or_selective", ("V1-orientation", "Marques2020", "V1", "neural_vision")),
        ("Kar2019-ost", ("IT", "neural_vision")),
        ("Rajalingham2018-i2n", ("behavior_vision",)),
        ("Geirhos2021edge-error_consistency", ("Geirhos2021", "behavior_vision")),
    ],
)
def test_places(identifier, ancestors):
    assert TREE.ancestors(identifier) == (*ancestors, "average_vision")


def test_the_order_of_columns():
    assert TREE.roots == ("average_vision", "engineering_vision")
    assert TREE.children("average_vision") == ("neural_vision", "behavior_vision")
    assert TREE.children("neural_vision") == ("V1", "V2", "V4", "IT")
    assert [TREE[name].title for name in ("average_vision", "neural_vision")] == ["Global Score", "Neural"]


def test_engineering_is_apart():
    low, high = (
        aggregate(
            TREE,
            [
                LeafResult(model="m", benchmark="Kar2019-ost", version=2, state="scored", score=0.5),
                LeafResult(model="m", benchmark="ImageNet-top1", version=1, state="scored", score=score),
            ],
        )[0]
        for score in (0.1, 0.9)
    )
    assert low["average_vision"] == high["average_vision"]
    assert high["engineering_vision"].value == pytest.approx(low["engineering_vision"].value * 9)
    n_it = sum(name in low for name in TREE.children("IT"))  # some have no benchmarks
    regions = 4
    assert low["average_vision"].value == pytest.approx(0.5 / n_it / regions / 2)


def test_further_benchmarks():
    tree = leaderboard_tree([BenchmarkInfo(identifier="Mine2026-i2n", version=1, parent="behavior")])
    assert tree["Mine2026-i2n"].parent == "behavior_vision"
    assert set(tree) - set(TREE) == {"Mine2026-i2n"}
    tree = leaderboard_tree([BenchmarkInfo(identifier="Ferguson2024mine", parent="Ferguson2024")])
    assert tree.ancestors("Ferguson2024mine")[0] == "Ferguson2024"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"parent": "V3"}, "the parent 'V3', which is not a node of the leaderboard"),
        ({"parent": None}, "the parent None"),
        ({"parent": "Kar2019-ost"}, "the parent 'Kar2019-ost'"),
        ({"parent": "IT", "control": True}, "is a control"),
    ],
)
def test_further_benchmarks_without_a_place_are_refused(fields, message):
    with pytest.raises(UserError, match=message):
        leaderboard_tree([BenchmarkInfo(identifier="Mine2026-x", **fields)])


def test_the_published_tree():
    folder = os.environ.get("BRAINSCORE_FACTS")
    if not folder:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")
    published = json.loads((Path(folder) / "leaderboard_tree.json").read_text())
    for node in published["aggregate_nodes"]:
        mine = TREE[node["identifier"]]
        assert (mine.parent, mine.benchmark) == (node["parent"], False)
        assert mine.order == (999 if node["order"] is None else node["order"])
        assert mine.title == published["display_names"].get(node["identifier"])
    leaves = {leaf["registry_key"]: leaf for leaf in published["leaves"]}
    for key in TREE.benchmarks:
        if key in leaves:
            assert (TREE[key].parent, TREE[key].version) == (leaves[key]["tree_parent"], leaves[key]["version"]), key
    assert set(TREE.benchmarks) - set(leaves) == {  # of this project
        "Geirhos2019-shape_bias",
        "Kriegeskorte2008.IT-human-rdm",
        "Kriegeskorte2008.IT-monkey-rdm",
    }
    assert set(TREE) == {node["identifier"] for node in published["aggregate_nodes"]} | set(TREE.benchmarks)
