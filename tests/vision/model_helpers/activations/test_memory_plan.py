import tracemalloc

import numpy as np
import pytest

from brainscore_core.activation_store import ActivationStore
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.model_helpers.activations import memory_plan
from brainscore_vision.model_helpers.activations.memory_plan import plan

SHAPES = {"conv1": (64, 55, 55), "fc": 1000}
FEATURES = 64 * 55 * 55 + 1000
PROCESS = 500_000_000


@pytest.fixture
def store(tmp_path):
    return ActivationStore(tmp_path, max_bytes="20GB")


@pytest.fixture(autouse=True)
def _disk(monkeypatch):
    monkeypatch.setattr(
        "brainscore_core.activation_store.disk_usage",
        lambda folder: type("Usage", (), {"free": 10**12}),
    )


def planned(stimuli=5000, **options):
    return plan(SHAPES, stimuli, **{"limit": "4GB", "process_bytes": PROCESS, **options})


def test_layers_on_disk_take_no_memory(store):
    found = planned(store=store)
    assert (found.dtype, found.reduction, found.batch_size) == ("float32", None, 64)
    assert found.disk == 5000 * FEATURES * 4
    assert found.room == 20 * 10**9
    assert found.numbers["activations kept in memory"] == 0
    assert found.numbers["batch of 64 in the network"] == 64 * FEATURES * 4 * 5
    assert found.numbers["coordinates of neuroids"] == 800 * (FEATURES - 1000)  # of the widest layer
    assert found.predicted_peak <= found.limit == 4 * 10**9
    again = planned(50, store=store)
    assert again.batch_size == 50
    assert again.disk == found.disk / 100


def test_without_a_store_they_do(store):
    in_memory = planned(2000)
    assert in_memory.numbers["activations kept in memory"] == 2000 * FEATURES * 4
    assert (in_memory.disk, in_memory.room) == (0, 0)
    assert in_memory.predicted_peak - planned(2000, store=store).predicted_peak == 2000 * FEATURES * 4


def test_the_batch_shrinks_to_the_limit(store):
    options = {"store": store, "input_bytes": 12_000_000}
    wide = planned(limit="8GB", **options)
    narrow = planned(limit="2.4GB", **options)
    assert wide.batch_size == 64
    assert 1 <= narrow.batch_size < 64
    assert narrow.predicted_peak <= 2.4e9 < narrow.predicted_peak + 60_000_000  # one more would not fit
    assert planned(batch_size=8, **options).batch_size == 8


def test_dtype(store):
    assert planned(store=store, dtype=np.float16).disk == 5000 * FEATURES * 2
    assert planned(store=store, dtype="float64", limit="9GB").dtype == "float64"


def test_several_layers_side_by_side_are_in_memory(store):
    alone = planned(store=store)
    together = planned(store=store, together=True, limit="7GB")
    assert together.numbers["metric"] - alone.numbers["metric"] == 5000 * FEATURES * 4


def test_reduction_where_it_is_asked_for(store):
    found = planned(store=store, reduction="projection:200")
    assert found.reduction == "projection:200"
    assert found.disk == 5000 * 2 * 200 * 4
    pca = planned(store=store, reduction="pca:200", limit="4GB")
    assert pca.numbers["reduction"] > found.numbers["reduction"]
    with pytest.raises(UserError, match="there is no reduction 'ica'"):
        planned(reduction="ica")


def test_reduction_only_where_it_must_be(store, tmp_path):
    assert planned(store=store, reduction="auto").reduction is None
    assert planned(store=ActivationStore(tmp_path, max_bytes="1GB"), reduction="auto").reduction == "projection"
    assert planned(reduction="auto").reduction == "projection"


def test_too_much_memory(store):
    with pytest.raises(UserError) as refused:
        planned(store=store, together=True)
    assert f"5000 stimuli × {FEATURES} features do not fit" in refused.value.message
    assert "6.2 GB of memory needed, 4.0 GB allowed" in refused.value.message
    assert "process and network 500.0 MB" in refused.value.message
    assert "metric 5.5 GB" in refused.value.message
    assert "--max-memory" in refused.value.remedy
    assert "reduction='projection'" in refused.value.remedy
    assert "disk" not in str(refused.value)


def test_one_stimulus_too_much(store):
    with pytest.raises(UserError, match=r"5\.\d GB of memory needed, 4\.0 GB allowed\n.*batch of 1 in the network 5"):
        planned(store=store, input_bytes=1_250_000_000)


def test_too_much_disk(tmp_path):
    with pytest.raises(
        UserError, match=r"3\.9 GB of disk needed, 2\.0 GB available(?s:.*)BRAINSCORE_ACTIVATIONS_LIMIT"
    ):
        planned(store=ActivationStore(tmp_path, max_bytes="2GB"))


def test_activations_could_go_to_disk():
    with pytest.raises(UserError, match="store activations on disk"):
        planned(50_000)


def test_limit_of_the_environment(monkeypatch, store):
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "3GB")
    assert planned(store=store, limit=None).limit == 3 * 10**9


def test_what_no_plan_is_made_for(store):
    with pytest.raises(ValueError, match="no layers"):
        plan({}, 10)
    with pytest.raises(ValueError, match="above 0"):
        planned(0)


@pytest.mark.parametrize("metric", ["rdm", "cka"])
def test_metrics_of_geometries_stay_within_the_plan(metric):
    """With so many stimuli that matrices of them, rather than chunks of features, take most of the memory."""
    stimuli = 1500
    rng = np.random.default_rng(0)
    source, target = (
        NeuroidAssembly(
            rng.standard_normal((stimuli, neuroids), dtype=np.float32),
            coords={
                "stimulus_id": ("presentation", np.arange(stimuli)),
                "object_name": ("presentation", np.arange(stimuli) % 8),
                "neuroid_id": ("neuroid", np.arange(neuroids)),
            },
            dims=["presentation", "neuroid"],
        )
        for neuroids in (1600, 60)
    )
    compare = load_metric(metric)
    tracemalloc.start()
    assert np.isfinite(compare(source, target).attrs["error"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_plan._GEOMETRY_CHUNKS + memory_plan._GEOMETRY_SQUARES * 8 * stimuli**2
