"""The tutorial "Neural Benchmarks"."""

import numpy as np
import pytest

import brainscore_vision
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.metrics import Ceiling, Metric, Score
from brainscore_core.plugins import Registry
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_vision import load_benchmark, load_ceiling, load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, temporally_varying
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmark_helpers.test_helper import run_test
from brainscore_vision.benchmarks.kar2019.benchmark import load_assembly
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.testing import serve_stand_ins

SHA256 = "8d087f542da9b211aabce9f8b4adf601aec508f3565104d007930d37bee35707"
BIBTEX = "@article{author2024, title={Title}, author={Author, A.}, year={2024}}"

PROSE_BEFORE = "prose runs into the code"
IMPORTS = "the block lacks its imports"
VERSION = "a benchmark needs a version"
VALUES = "the values are the reader's"
DIAGRAM = "a diagram"
LAYOUT = "a folder's layout"
CUT = "^.*:(?=from )"

BLOCKS = [
    {"first": 8, "last": 11, "test": "test_quick_start"},
    {"first": 12, "last": 32, "test": "test_quick_start"},
    {"first": 46, "last": 68, "reason": DIAGRAM},
    {"first": 94, "last": 112, "reason": DIAGRAM},
    {
        "first": 146,
        "last": 189,
        "test": "test_majajhong2015",
        "dedents": {180: 0},
        "slips": ((146, CUT, "", PROSE_BEFORE),),
    },
    {
        "first": 192,
        "last": 230,
        "test": "test_kar2019",
        "dedents": {214: 1, 227: 2},
        "slips": (
            (192, CUT, "", PROSE_BEFORE),
            (210, "load_dataset.*", "load_assembly()", "the data hold two decoders, and stimuli twice"),
        ),
    },
    {
        "first": 233,
        "last": 265,
        "test": "test_papale2025",
        "dedents": {258: 0, 265: 1},
        "slips": ((233, CUT, "", PROSE_BEFORE),),
    },
    {
        "first": 268,
        "last": 304,
        "test": "test_coggan2024",
        "dedents": {277: 1, 293: 0},
        "slips": ((268, CUT, "", PROSE_BEFORE),),
    },
    {"first": 317, "last": 362, "reason": DIAGRAM + "; test_majajhong2015 calls what it shows"},
    {"first": 364, "last": 438, "reason": DIAGRAM},
    {"first": 442, "last": 450, "test": "test_majajhong2015"},
    {"first": 480, "last": 495, "test": "test_metrics", "dedents": {485: 1, 493: 1}},
    {"first": 499, "last": 503, "test": "test_metrics"},
    {"first": 507, "last": 508, "test": "test_metrics"},
    {"first": 514, "last": 516, "test": "test_metrics"},
    {"first": 521, "last": 523, "test": "test_metrics"},
    {"first": 526, "last": 542, "reason": DIAGRAM},
    {"first": 553, "last": 557, "test": "test_metrics"},
    {"first": 560, "last": 561, "test": "test_metrics"},
    {"first": 568, "last": 571, "test": "test_majajhong2015"},
    {"first": 575, "last": 578, "test": "test_freemanziemba2013"},
    {"first": 590, "last": 593, "test": "test_kar2019"},
    {"first": 597, "last": 600, "test": "test_kar2019"},
    {
        "first": 603,
        "last": 612,
        "test": "test_majajhong2015",
        "dedents": {609: 1, 610: 0},
        "fills": ((611, r"\.\.\.", "**others('IT')", VALUES), (612, r"\.\.\.", "**others('V4')", VALUES)),
    },
    {
        "first": 616,
        "last": 626,
        "test": "test_freemanziemba2013",
        "slips": ((626, "$", "\nreturn texture_modulation_index", "nothing is returned"),),
        "fills": ((618, "^.*$", "n_neuroids = responses.sizes['neuroid']", VALUES),),
    },
    {
        "first": 633,
        "last": 646,
        "test": "test_majajhong2015",
        "slips": ((638, "$", " version=1,", VERSION),),
    },
    {
        "first": 649,
        "last": 662,
        "test": "test_marques2020",
        "slips": ((654, "$", " version=1,", VERSION),),
    },
    {
        "first": 665,
        "last": 695,
        "test": "test_bracci2019",
        "dedents": {678: 1},
        "slips": ((668, "^", "self._region = region; ", "it is used below, but not set"),),
    },
    {"first": 708, "last": 769, "test": "test_own_benchmark", "dedents": {730: 1, 731: 0, 754: 0}},
    {"first": 792, "last": 797, "test": "test_parents", "fills": ((796, r"\.\.\.", "**others", VALUES),)},
    {
        "first": 798,
        "last": 803,
        "test": "test_parents",
        "fills": (
            (799, r"super\(\).__init__\(", "BenchmarkBase.__init__(made, ", "a part of a class"),
            (802, r"\.\.\.", "ceiling_func=lambda: 1, version=2", VALUES),
        ),
    },
    {"first": 804, "last": 809, "test": "test_parents", "fills": ((808, r"\.\.\.", "**others", VALUES),)},
    {"first": 810, "last": 815, "test": "test_parents", "fills": ((814, r"\.\.\.", "**others", VALUES),)},
    {
        "first": 819,
        "last": 831,
        "test": "test_majajhong2015",
        "fills": (
            (
                820,
                "^.*$",
                "",
                "these identifiers are taken: they are registered in another registry",
            ),
            (821, r"from \.", "from brainscore_vision.benchmarks.majajhong2015.", "the plugin lies elsewhere"),
        ),
    },
    {"first": 834, "last": 838, "reason": LAYOUT},
    {
        "first": 841,
        "last": 854,
        "test": "test_majajhong2015",
        "slips": ((842, "$", "\nfrom pathlib import Path\nfrom pytest import approx", IMPORTS),),
        "fills": ((845, r"approx\(.*?\)", "ANY", VALUES), (846, r"approx\(.*?\)", "ANY", VALUES)),
    },
    {"first": 859, "last": 860, "test": "test_issues"},
    {"first": 863, "last": 866, "test": "test_issues"},
    {"first": 869, "last": 872, "test": "test_issues"},
    {"first": 875, "last": 877, "test": "test_issues"},
    {"first": 880, "last": 882, "test": "test_issues"},
]

PROSE = {44, 116, 117, 119, 776}


def is_score(value):
    return bool(0 <= float(value) <= 1) and {"raw", "ceiling", "error", "ci"} <= value.attrs.keys()


def test_every_line_of_code_is_in_a_block(stray_code):
    assert stray_code == ({}, [])


def test_quick_start(document, plugin, packaged, recordings, model):
    """The template works when copied."""
    stimuli, assembly = recordings("YourDataset")
    packaged("YourDataset", stimuli, assembly.isel(neuroid=assembly["region"].values == "IT"))
    plugin("benchmarks/yourbenchmark", __init__=document.code(8), benchmark=document.code(12))
    benchmark = load_benchmark("YourBenchmark.IT-pls")
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == ("YourBenchmark.IT-pls", 1, "IT")
    score = benchmark(model())
    assert is_score(score)
    assert float(score) > 0.3  # the recordings follow the pictures


@pytest.mark.slow(reason="scores whole benchmarks")
def test_majajhong2015(document, model, s3_server, tmp_path):
    names = document.names
    names |= {"load_dataset": load_dataset, "load_metric": load_metric, "NeuralBenchmark": NeuralBenchmark}
    names |= {"Metric": Metric, "Ceiling": Ceiling, "BIBTEX": BIBTEX, "ceiler": load_ceiling("internal_consistency")}

    def others(region):
        assembly = names["load_assembly"](region, average_repetitions=True)
        return {
            "assembly": assembly,
            "version": 1,
            "similarity_metric": load_metric("pls"),
            "visual_degrees": 8,
            "number_of_trials": 50,
            "ceiling_func": lambda: names["ceiler"](names["load_assembly"](region, average_repetitions=False)),
            "parent": region,
        }

    names["others"] = others
    with serve_stand_ins("MajajHong2015", "MajajHong2015.private"):
        document.run(603)
        scores = {region: names[f"benchmark_{region}"](model()) for region in ("V4", "IT")}
        assert all(map(is_score, scores.values()))
        document.run(568)
        assert float(names["ceiling_func"]()) == float(scores["IT"].ceiling)

        document.run(146)
        benchmark = names["DicarloMajajHong2015ITPLS"]()
        assert (benchmark.identifier, benchmark.version, benchmark.region) == ("MajajHong2015.IT-pls", 3, "IT")
        assert float(benchmark(model())) == float(scores["IT"])
        assert float(document.run(442)["benchmark"](model())) == float(scores["IT"])
        document.run(633)
        assert float(names["DicarloMajajHong2015ITPLS"]()(model())) == float(scores["IT"])

        names["benchmark_registry"] = Registry("benchmark_registry", noun="benchmark")
        document.run(819)
        registered = names["benchmark_registry"].make("MajajHong2015.IT-pls")
        private = load_benchmark("MajajHong2015.IT-pls")
        assert float(registered(model())) == float(private(model()))
        assert float(brainscore_vision.score(model(), "MajajHong2015.IT-pls")) == float(private(model()))

        features = model()
        features.start_recording("IT", time_bins=[(70, 170)])
        recorded = features.look_at(private._assembly.stimulus_set)
        recorded = NeuroidAssembly(
            recorded.values.reshape(len(recorded), -1),
            coords={
                "stimulus_id": ("presentation", recorded["stimulus_id"].values),
                "neuroid_id": ("neuroid", recorded["neuroid_id"].values),
            },
            dims=["presentation", "neuroid"],
        )
        write_netcdf(recorded, tmp_path / "alexnet-majaj2015.private-features.12.nc")
        names |= {"__file__": str(tmp_path / "test.py"), "run_test": run_test, "ANY": None}
        test = document.run(841)["test_MajajHong2015"]
        test("MajajHong2015.IT-pls", pytest.approx(float(private(model())), abs=1e-6))


@pytest.fixture
def one_thread():
    """Many small steps are slow where threads of several processes wait for each other."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.slow(reason="scores whole benchmarks")
def test_kar2019(document, model, s3_server, one_thread):
    names = document.names
    names |= {"BIBTEX": BIBTEX, "np": np, "temporally_varying": temporally_varying, "candidate": model()}
    names["load_assembly"] = load_assembly
    document.run(590)
    assert names["TIME_BINS"][-1] == (240, 250)
    assert document.run(597)["TIME_BINS"] == [(start, start + 10) for start in range(70, 250, 10)]
    with serve_stand_ins("Kar2019"):
        benchmark = document.run(192)["DicarloKar2019OST"]()
        assert (benchmark.identifier, float(benchmark.ceiling)) == ("Kar2019-ost", 0.79)
        assert np.isnan(float(benchmark(model())))  # it does not change over time
        score = benchmark(growing(model()))
    assert -1 <= float(score.attrs["raw"]) <= 1


def growing(candidate):
    """A model whose responses rise out of noise."""
    look_at = candidate.look_at

    def look_at_over_time(stimuli, number_of_trials=1):
        recordings = look_at(stimuli, number_of_trials=number_of_trials)
        recordings = recordings.transpose("presentation", "neuroid", "time_bin")[:, ::16]
        noise = np.random.default_rng(0).normal(size=(*recordings.shape[:2], 1)) * recordings.values.std()
        share = np.linspace(0.1, 1, recordings.sizes["time_bin"])
        return recordings.copy(data=recordings.values * share + noise * (1 - share))

    candidate.look_at = look_at_over_time
    return candidate


def test_papale2025(document, model, s3_server):
    document.names["BIBTEX"] = BIBTEX
    with serve_stand_ins("Papale2025_train", "Papale2025_test"):
        document.run(233)
        benchmark = document.names["_Papale2025"]("IT", load_metric("ridge_split"), "ridge")
        assert (benchmark.identifier, benchmark.parent) == ("Papale2025.IT-ridge", "IT")
        score = benchmark(model())
    assert is_score(score)


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_coggan2024(document, model, s3_server):
    """Its helpers are the reader's; here those of the published definition."""
    off = ~np.eye(24, dtype=bool)

    def similarities(assembly):
        patterns = np.asarray(assembly.values).reshape(24, -1)
        means = patterns.mean(axis=0)
        kept = patterns[:, np.abs(means) > 3.1 * means[patterns.std(axis=0) > 0].std()]
        kept = kept[:, kept.std(axis=0) > 0]
        return np.corrcoef((kept - kept.mean(axis=0)) / kept.std(axis=0))

    def subjects(assembly):
        return np.moveaxis(assembly.values, assembly.dims.index("neuroid"), 0)[:, off]

    def get_score(rsm, assembly):
        return Score(np.mean([np.corrcoef(rsm[off], one)[0, 1] for one in subjects(assembly)]))

    def get_ceiling(assembly):
        each = subjects(assembly)
        others = [np.delete(each, one, axis=0).mean(axis=0) for one in range(len(each))]
        return Score(np.mean([np.corrcoef(one, mean)[0, 1] for one, mean in zip(each, others, strict=True)]))

    document.names |= {
        "BIBTEX": BIBTEX,
        "np": np,
        "RSA": similarities,
        "get_score": get_score,
        "get_ceiling": get_ceiling,
        "ceiler": lambda raw, ceiling: Score((float(raw) / float(ceiling)) ** 2),
    }
    with serve_stand_ins("Coggan2024_fMRI"):
        benchmark = document.run(268)["_Coggan2024_Region"]("IT")
        assert (benchmark.identifier, benchmark.region) == ("tong.Coggan2024_fMRI.IT-rdm", "IT")
        assert float(benchmark(model())) == pytest.approx(
            float(load_benchmark(benchmark.identifier)(model()).unclamped)
        )


def test_metrics(document, recordings, model):
    """Each metric that is named, with simulated recordings."""
    stimuli, assembly = recordings("Simulated", n_stimuli=60)
    target = assembly.squeeze("time_bin").mean(dim="repetition")
    candidate = model()
    candidate.start_recording("IT", time_bins=[(70, 170)])
    source = candidate.look_at(stimuli)
    names = document.names
    names |= {"Metric": Metric, "DataAssembly": DataAssembly, "Score": Score, "load_metric": load_metric}
    own = document.run(480)["CrossRegressedCorrelation"]
    published = load_metric("pls")
    metric = own()
    metric.cross_validation = published.cross_validation
    metric.regression, metric.correlation = published.regression, published.correlation
    assert float(metric(source, target)) == pytest.approx(float(published(source, target)), abs=1e-3)

    for first in (507, 514, 521):
        assert -1 <= float(document.run(first)["metric"](source, target)) <= 1
    half = len(target) // 2
    target = aligned(target, source)
    parts = {"source_train": source[:half], "source_test": source[half:]}
    parts |= {"target_train": target[:half], "target_test": target[half:]}
    names |= parts
    assert -1 <= float(document.run(499)["metric"](*parts.values())) <= 1
    assert -1 <= float(document.run(553)["score"]) <= 1
    assert document.run(560)["metric"] is not None


def aligned(target, source):
    order = {name: number for number, name in enumerate(target["stimulus_id"].values)}
    return target.isel(presentation=[order[name] for name in source["stimulus_id"].values])


def test_freemanziemba2013(document, recordings):
    document.names |= {"load_metric": load_metric, "np": np}
    metric = document.run(575)["similarity_metric"]
    stimuli, _ = recordings("Textures")
    types = np.array(["noise", "texture"])[np.arange(40) % 2]
    rng = np.random.default_rng(0)
    responses = NeuroidAssembly(
        rng.random((40, 30)) + 1,
        coords={
            "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
            "texture_type": ("presentation", types),
            "type": ("presentation", types),
            "family": ("presentation", np.arange(40) // 2 % 4),
            "sample": ("presentation", np.arange(40) // 8),
            "neuroid_id": ("neuroid", np.arange(30)),
        },
        dims=["presentation", "neuroid"],
    )
    assert -1 <= float(metric(responses, responses)) <= 1

    def modulation(texture, noise):
        texture, noise = texture.mean(axis=-1), noise.mean(axis=-1)
        return ((texture - noise) / (texture + noise)).mean(axis=-1)

    document.names["calc_texture_modulation"] = modulation
    neuroids_first = responses.transpose("neuroid", "presentation")
    index = document.run(616)["freemanziemba2013_properties"](neuroids_first, None)
    mean = {
        (kind, family): responses.values[(types == kind) & (np.arange(40) // 2 % 4 == family)].mean(axis=0)
        for kind in ("noise", "texture")
        for family in range(4)
    }
    pairs = [(mean["texture", family], mean["noise", family]) for family in range(4)]
    np.testing.assert_allclose(index, np.mean([(one - other) / (one + other) for one, other in pairs], axis=0))


@pytest.mark.slow(reason="scores whole benchmarks")
def test_marques2020(document, s3_server):
    from brainscore_vision.benchmarks.marques2020.benchmark import STUDIES
    from brainscore_vision.metrics.distribution_similarity import NeuronalPropertyCeiling

    document.names |= {"BIBTEX": BIBTEX, "load_dataset": load_dataset, "load_metric": load_metric}
    document.names["NeuronalPropertyCeiling"] = NeuronalPropertyCeiling
    document.names["cavanaugh2002_properties"] = STUDIES["Cavanaugh2002a"].properties
    stimuli = ("Marques2020_blank", "Marques2020_receptive_field", "Marques2020_orientation", "Marques2020_size")
    with serve_stand_ins("Cavanaugh2002a", *stimuli):
        benchmark = document.run(649)["MarquesCavanaugh2002V1SurroundSuppressionIndex"]()
        assert (benchmark.region, benchmark.parent) == ("V1", "V1-surround_modulation")
        assert is_score(benchmark(brainscore_vision.load_model("gabor")))


def test_bracci2019(document, model, s3_server):
    document.names |= {
        "BIBTEX": BIBTEX,
        "BrainModel": BrainModel,
        "Score": Score,
        "load_dataset": load_dataset,
        "load_metric": load_metric,
        "load_stimulus_set": load_stimulus_set,
        "place_on_screen": place_on_screen,
    }
    benchmark_class = document.run(665)["_Bracci2019RSA"]
    benchmark_class._get_human_ceiling = lambda self, assembly: Score(0.5)
    with serve_stand_ins("Bracci2019"):
        benchmark = benchmark_class("IT")
        score = benchmark(model())
    assert float(benchmark.ceiling) == 1
    assert float(score) == pytest.approx(2 * float(score.attrs["raw"]))


def test_own_benchmark(document, packaged, recordings, model):
    packaged("MyExperiment2024", *recordings("MyExperiment2024"))
    document.run(708)
    for region in ("IT", "V4"):
        benchmark = document.names[f"MyExperiment2024{region}PLS"]()
        assert (benchmark.identifier, benchmark.parent) == (f"MyExperiment2024.{region}-pls", region)
        assert is_score(benchmark(model()))


def test_parents(document, recordings):
    class Mine(BenchmarkBase):
        def __call__(self, candidate):
            return Score(1)

    _, assembly = recordings("Mine", n_stimuli=4)
    document.names |= {"NeuralBenchmark": NeuralBenchmark, "BenchmarkBase": BenchmarkBase, "made": object.__new__(Mine)}
    document.names |= {"region": "IT", "metric": "pls"}
    document.names["others"] = {
        "assembly": assembly,
        "version": 1,
        "similarity_metric": load_metric("pls"),
        "visual_degrees": 8,
        "number_of_trials": 1,
        "ceiling_func": lambda: 1,
    }
    for first in (792, 804, 810):
        document.run(first)
    assert document.run(798)["made"].parent == "IT"


def test_issues(document, recordings, model, capsys):
    stimuli, assembly = recordings("MyExperiment2024")
    candidate = model()
    document.names["candidate"] = candidate
    document.run(869)
    document.names |= {
        "assembly": assembly,
        "assembly_repetition": assembly,
        "biological_assembly": assembly,
        "model_assembly": candidate.look_at(stimuli),
        "ceiler": load_ceiling("internal_consistency"),
    }
    for first in (863, 875, 880):
        document.run(first)
    assert capsys.readouterr().out == "Samples: 160, Features: 12\n"
    assert 0 < float(document.run(859)["ceiling_func"]()) <= 1
    document.names["model_assembly"] = candidate.look_at(stimuli[1:])
    with pytest.raises(AssertionError, match="Mismatched IDs"):
        document.run(863)
