"""The first tutorial's package `brainio`."""

import importlib
import subprocess
import sys

import pytest

import brainio
from brainscore_core.errors import UnknownIdentifier
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import data_registry, load_dataset, stimulus_set_registry

CORE = "brainscore_core.supported_data_standards.brainio"
MODULES = ["assemblies", "catalogs", "fetch", "lookup", "packaging", "stimuli", "transform"]


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    """A catalog of stimuli without files: one set of its own, one of a registered name."""
    rows = ["identifier,lookup_type,class,location_type,location,sha1,stimulus_set_identifier"]
    for name in ("lab.Words2024", "Named2024"):
        table = tmp_path / f"stimulus_{name}.csv"
        table.write_text(f"stimulus_id,word\n1,{name}\n")
        digest = importlib.import_module(f"{CORE}.s3").sha1_hash(table)
        rows.append(f"{name},stimulus_set,StimulusSet,local,{table.name},{digest},")
    (tmp_path / "lookup.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("BRAINIO_CATALOGS", str(tmp_path / "lookup.csv"))


@pytest.mark.parametrize("module", MODULES)
def test_modules_give_what_is_defined_below(module):
    named = importlib.import_module(f"brainio.{module}")
    below = importlib.import_module(f"{CORE}.{'catalogs' if module == 'lookup' else module}")
    own = {"get_assembly", "get_stimulus_set"} if module == "fetch" else set()
    for name in set(named.__all__) - own:
        assert getattr(named, name) is getattr(below, name, getattr(named, name))
    missing = {"fetch": {"AssemblyLoader", "resolve_assembly_class", "unzip"}, "stimuli": {"StimulusSet"}}
    assert missing.get(module, set()) <= set(named.__all__)
    if module == "assemblies":
        assert set(below.__all__) - {"ASSEMBLY_CLASSES", "resolve_assembly_class"} == set(named.__all__)
    assert getattr(brainio, module) is named


def test_importing_loads_nothing_heavy():
    code = "import sys, brainio\nprint(' '.join(sorted({name.split('.')[0] for name in sys.modules})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"torch", "sklearn", "scipy", "netCDF4", "xarray", "pandas", "numpy", "PIL"}


def test_no_such_name():
    with pytest.raises(AttributeError, match="no attribute 'get_asembly'"):
        _ = brainio.get_asembly
    assert {"get_assembly", "packaging"} <= set(dir(brainio))


@pytest.fixture
def registered():
    """Identifier of data of this test."""
    data_registry["Named2024"] = lambda: DataAssembly([2.0], dims=["x"])
    stimulus_set_registry["Named2024"] = lambda: StimulusSet({"stimulus_id": ["1"]})
    yield "Named2024"
    del data_registry["Named2024"], stimulus_set_registry["Named2024"]


def test_registered_data(registered):
    assert brainio.get_assembly(registered).identical(load_dataset(registered))
    assert set(data_registry) == set(brainio.list_assemblies())
    assert set(stimulus_set_registry) == set(brainio.list_stimulus_sets())
    assert brainio.list_assemblies() == sorted(brainio.list_assemblies())


def test_catalogued_data(catalog):
    assert "lab.Words2024" in brainio.list_stimulus_sets()
    with recording() as record:
        assert brainio.get_stimulus_set("lab.Words2024")["word"].tolist() == ["lab.Words2024"]
    assert {"kind": "stimulus_set", "identifier": "lab.Words2024"} in record.items


def test_registries_come_before_catalogs(catalog, registered):
    assert "word" not in brainio.get_stimulus_set(registered).columns
    assert brainio.list_stimulus_sets().count(registered) == 1


def test_an_identifier_with_its_laboratory(registered):
    assert brainio.fetch.get_assembly(f"tests.{registered}").values == 2
    data_registry[f"tests.{registered}"] = lambda: DataAssembly([1.0], dims=["x"])
    try:
        assert brainio.get_assembly(f"tests.{registered}").values == 1
    finally:
        del data_registry[f"tests.{registered}"]


@pytest.mark.parametrize("get", ["get_assembly", "get_stimulus_set"])
def test_an_unknown_identifier(get):
    with pytest.raises(UnknownIdentifier, match=r"neither a plugin nor a catalog .*'Simulated2027'.*Simulated2026"):
        getattr(brainio, get)("Simulated2027")


def test_types(registered):
    assert brainio.stimuli.StimulusSet is StimulusSet
    assert isinstance(brainio.get_stimulus_set(registered), StimulusSet)
