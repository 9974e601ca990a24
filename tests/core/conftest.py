"""Scores, benchmarks and receipts of toys, stores for them, and forks as other processes."""

import multiprocessing
from types import SimpleNamespace

import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase, normalise
from brainscore_core.errors import DataUnavailable, NotApplicable
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.provenance import note
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


@pytest.fixture
def fork():
    """``fork(function, *arguments)`` runs a function in another process, which ends with the test at the latest."""
    context = multiprocessing.get_context("fork")
    started = []

    def run(function, *arguments):
        process = context.Process(target=function, args=arguments, daemon=True)
        process.start()
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.join()


def assembly(values):
    values = np.asarray(values, dtype=float)
    return DataAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"s{i}" for i in range(values.shape[0])]),
            "split": ("presentation", [i % 2 for i in range(values.shape[0])]),
            "neuroid_id": ("neuroid", [f"n{i}" for i in range(values.shape[1])]),
            "region": ("neuroid", ["IT"] * values.shape[1]),
        },
        dims=["presentation", "neuroid"],
    )


def metric_score(value=0.6):
    score = Score(value)
    attach_uncertainty(score, error=0.05, ci=(0.5, 0.7), estimates="median over neuroids", method="bootstrap")
    score.attrs["scale"] = "correlation"
    per_neuroid = Score(
        [[0.5, 0.7, np.nan]],
        coords={"split": [0], "neuroid_id": ("neuroid", ["a", "b", "c"]), "region": ("neuroid", ["IT"] * 3)},
        dims=["split", "neuroid"],
    )
    score.attrs["raw"] = per_neuroid
    score.attrs["predictions"] = assembly(np.arange(12).reshape(4, 3))
    score.attrs["targets"] = assembly(np.arange(12).reshape(4, 3) * 2)
    return score


def ceiling(value=0.8, meaning="reliability"):
    result = attach_uncertainty(Score(value), error=0.02, ci=(0.76, 0.84), estimates="splits", method="t")
    result.attrs["meaning"] = meaning
    return result


class FakeBenchmark(BenchmarkBase):
    def __init__(self, identifier="Fake2026.IT-pls", *, make=metric_score, ceiling_func=ceiling, control=False):
        super().__init__(identifier, ceiling_func, version=2, parent="IT", bibtex="@article{fake, title={Fake}}")
        self.make = make
        self.control = control

    def __call__(self, candidate):
        note("data", identifier="Fake2026")
        note("file", url="https://user:secret@example.org/a.nc?versionId=7&token=1", sha1="0" * 40, path="/home/x/a.nc")
        note("file", url="file:///home/x/private/b.nc", sha256="1" * 64, path="/home/x/private/b.nc")
        note("seed", name="splits", value=1)
        note("device", name="cpu")
        note("cache", hit=True, layer="a")
        note("cache", hit=False, layer="b")
        note("time", step="extraction", seconds=1.5, layer="a")
        note("time", step="extraction", seconds=0.25, layer="b")
        note("weights", identifier="fake-net", sha256="2" * 64)
        note("features", region="IT", layers=["a", "b"], stimuli=9, features=1234, effective_dimensionality=5.67)
        score = self.make()
        return normalise(score, self.ceiling) if "scale" in score.attrs else score


def receipt(model="model", benchmark="benchmark", value=0.5, **fields):
    return Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state="scored",
        score=Estimate(value=value),
        **fields,
    )


@pytest.fixture(scope="session")
def _s3_client(_s3_server):
    """Making one takes longer than most tests that use it."""
    boto3 = pytest.importorskip("boto3")
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
    return boto3.client("s3", endpoint_url=_s3_server, **keys)


@pytest.fixture
def bucket(s3_server, _s3_client):
    """Client of a server with an empty bucket named lab."""
    _s3_client.create_bucket(Bucket="lab")
    return _s3_client


@pytest.fixture(params=["folder", "bucket"])
def address(request, tmp_path):
    """Where receipts can be kept: tests that use it run on a folder and on a bucket."""
    if request.param == "folder":
        return str(tmp_path / "results")
    request.getfixturevalue("bucket")
    return "s3://lab/our/results"


@pytest.fixture
def fakes():
    def raising(error):
        def make():
            raise error

        return make

    benchmarks = {
        "scored": FakeBenchmark(),
        "nan": FakeBenchmark(make=lambda: Score(np.nan)),
        "refused": FakeBenchmark(make=raising(NotApplicable("records no IT"))),
        "broken": FakeBenchmark(make=raising(KeyError("no such layer"))),
        "unreachable": FakeBenchmark(make=raising(DataUnavailable("no data", "ask their author"))),
        "interrupted": FakeBenchmark(make=raising(KeyboardInterrupt())),
        "array": FakeBenchmark(make=lambda: Score([1.0, 2.0], dims=["neuroid"])),
        "infinite": FakeBenchmark(make=lambda: Score(np.inf)),
        "control": FakeBenchmark(control=True),
    }
    return SimpleNamespace(
        benchmarks=benchmarks,
        loaders={"load_model": lambda identifier: object(), "load_benchmark": benchmarks.__getitem__},
        assembly=assembly,
        metric_score=metric_score,
        ceiling=ceiling,
        FakeBenchmark=FakeBenchmark,
        receipt=receipt,
    )
