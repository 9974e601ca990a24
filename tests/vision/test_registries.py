"""The five registries of the vision package, and what loads from them."""

import textwrap

import numpy as np
import pytest

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import (
    benchmark_registry,
    data_registry,
    load_benchmark,
    load_ceiling,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
    metric_registry,
    model_registry,
    plugin_index,
    stimulus_set_registry,
)

REGISTRIES = {
    "benchmarks": benchmark_registry,
    "data": data_registry,
    "metrics": metric_registry,
    "models": model_registry,
    "stimulus sets": stimulus_set_registry,
}


@pytest.fixture
def register():
    """Registers for one test."""
    added = []

    def run(registry, key, factory):
        registry[key] = factory
        added.append((registry, key))
        return key

    yield run
    for registry, key in added:
        del registry[key]


class Named:
    identifier = "own name"


class Nameless:
    pass


class Slotted:
    __slots__ = ()


@pytest.mark.parametrize("registry", REGISTRIES.values(), ids=REGISTRIES.keys())
class TestBuiltInPlugins:
    def test_are_found_without_importing_one(self, registry):
        keys = list(registry)
        assert keys
        assert all(key in registry for key in keys)

    def test_show_all_their_keys_in_the_source(self, registry):
        assert [plugin.file for plugin in plugin_index.dynamic(registry.name) if plugin.source == "built in"] == []

    def test_register_nothing_twice(self, registry):
        assert [key for key in registry if len(registry.locations(key)) > 1] == []

    def test_register_what_their_source_shows(self, registry):
        for key in registry:
            assert callable(registry[key])
            assert registry.location(key).folder is not None


def test_every_built_in_plugin_can_be_read():
    assert plugin_index.problems == ()


class TestData:
    def test_identifier_and_provenance(self, register):
        register(data_registry, "test-data", lambda: DataAssembly([1.0, 2.0], dims=["x"]))
        register(stimulus_set_registry, "test-stimuli", lambda: StimulusSet({"stimulus_id": ["a"]}))
        with recording() as record:
            assembly = load_dataset("test-data")
            stimuli = load_stimulus_set("test-stimuli")
        assert assembly.attrs["identifier"] == "test-data"
        assert stimuli.identifier == "test-stimuli"
        assert record.items == [
            {"kind": "data", "identifier": "test-data"},
            {"kind": "stimulus_set", "identifier": "test-stimuli"},
        ]

    def test_their_own_identifiers_stay(self, register):
        def stimuli():
            made = StimulusSet({"stimulus_id": ["a"]})
            made.identifier = "own"
            return made

        register(data_registry, "test-data", lambda: DataAssembly([1.0], dims=["x"], attrs={"identifier": "own"}))
        register(stimulus_set_registry, "test-stimuli", stimuli)
        assert load_dataset("test-data").attrs["identifier"] == "own"
        assert load_stimulus_set("test-stimuli").identifier == "own"

    @pytest.mark.parametrize("made", [np.zeros(3), {}, StimulusSet({"stimulus_id": ["a"]})])
    def test_what_is_no_assembly(self, register, made):
        register(data_registry, "test-data", lambda: made)
        with (
            recording() as record,
            pytest.raises(UserError, match=rf"'test-data' \({__file__}:\d+\) is of type {type(made).__name__}"),
        ):
            load_dataset("test-data")
        assert record.items == []

    def test_what_is_no_stimulus_set(self, register):
        register(stimulus_set_registry, "test-stimuli", lambda: DataAssembly([1.0], dims=["x"]))
        with pytest.raises(UserError, match="not a StimulusSet"):
            load_stimulus_set("test-stimuli")

    def test_errors_of_the_factory_pass_unchanged(self, register):
        register(data_registry, "test-data", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            load_dataset("test-data")


class TestOthers:
    @pytest.mark.parametrize(
        ("registry", "load"),
        [(metric_registry, load_metric), (model_registry, load_model), (benchmark_registry, load_benchmark)],
    )
    def test_identifiers(self, register, registry, load):
        register(registry, "test-named", Named)
        register(registry, "test-nameless", Nameless)
        register(registry, "test-slotted", Slotted)
        assert load("test-named").identifier == "own name"
        assert load("test-nameless").identifier == "test-nameless"
        assert not hasattr(load("test-slotted"), "identifier")
        assert load("test-named") is not load("test-named")

    @pytest.mark.parametrize("load", [load_metric, load_ceiling])
    def test_arguments_of_metrics(self, register, load):
        register(metric_registry, "test-metric", lambda *args, **kwargs: (args, kwargs))
        assert load("test-metric", 1, splits=2) == ((1,), {"splits": 2})

    @pytest.mark.parametrize(
        ("load", "noun", "command"),
        [
            (load_dataset, "dataset", "brainscore list data"),
            (load_stimulus_set, "stimulus set", "brainscore list stimulus-sets"),
            (load_metric, "metric", "brainscore list metrics"),
            (load_ceiling, "metric", "brainscore list metrics"),
            (load_benchmark, "benchmark", "brainscore list benchmarks"),
            (load_model, "model", "brainscore list models"),
        ],
    )
    def test_unknown(self, load, noun, command):
        with pytest.raises(UnknownIdentifier, match=f"There is no {noun} 'nonesuch'") as error:
            load("nonesuch")
        assert command in str(error.value)

    def test_a_benchmark_by_its_own_identifier(self, register, tmp_path, monkeypatch):
        folder = tmp_path / "benchmarks" / "test_plugin"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(
            textwrap.dedent("""
            from brainscore_vision import benchmark_registry

            class Benchmark:
                identifier = 'TestStudy2026.IT-rdm'

            benchmark_registry['test-study'] = Benchmark
            """)
        )
        monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path))
        assert load_benchmark("TestStudy2026.IT-rdm").identifier == "TestStudy2026.IT-rdm"
        monkeypatch.delenv("BRAINSCORE_PLUGINS")
        with pytest.raises(UnknownIdentifier):
            load_benchmark("TestStudy2026.IT-rdm")


def test_a_folder_of_plugins_is_imported_under_the_packages_name(tmp_path, monkeypatch):
    folder = tmp_path / "models" / "test_mine"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from .part import VALUE\n")
    (folder / "part.py").write_text("VALUE = 7\n")
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path))
    import brainscore_vision.models.test_mine

    assert brainscore_vision.models.test_mine.VALUE == 7
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    plugin_index.refresh()
    assert not hasattr(brainscore_vision.models, "test_mine")
