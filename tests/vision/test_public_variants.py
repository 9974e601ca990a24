"""Denied data name the public variant that a user may take in their place."""

import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.metrics import Score
from brainscore_core.plugins.registry import public_variants
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, NotFound, SeveralFailures
from brainscore_core.supported_data_standards.brainio.packaging import package_data_assembly
from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3
from brainscore_vision import (
    benchmark_registry,
    data_registry,
    load_benchmark,
    load_dataset,
    load_stimulus_set,
    run_pair,
    stimulus_set_registry,
)


@pytest.fixture
def register():
    """Registers for one test."""
    added = []

    def run(registry, key, factory):
        registry[key] = factory
        added.append((registry, key))

    yield run
    for registry, key in added:
        del registry[key]


def raising(error):
    def factory():
        raise error

    return factory


@pytest.mark.parametrize(
    ("identifier", "names", "expected"),
    [
        ("Doe2024.private", ["Doe2024.public", "Doe2024.private", "Roe2024.public"], ["Doe2024.public"]),
        ("Doe2024.temporal.private", ["Doe2024.public", "Doe2024.temporal.public"], ["Doe2024.temporal.public"]),
        ("set-private", ["set-public", "other-public"], ["set-public"]),
        ("Doe2024.aperture-private", ["Doe2024.aperture-public"], ["Doe2024.aperture-public"]),
        ("Doe2024.IT-pls", ["Doe2024public.IT-pls", "Doe2024public.V4-pls"], ["Doe2024public.IT-pls"]),
        ("Doe2024-i2n", ["Doe2024public-i2n"], ["Doe2024public-i2n"]),
        ("Doe2024", ["Doe2024", "Doe2025"], []),
        ("Doe2024.public", ["Doe2024.public", "Doe2024public"], []),
    ],
)
def test_variants(identifier, names, expected):
    assert public_variants(identifier, names) == expected


@pytest.mark.parametrize(
    ("registry", "load"),
    [
        (data_registry, load_dataset),
        (stimulus_set_registry, load_stimulus_set),
        (benchmark_registry, load_benchmark),
    ],
)
def test_denied(register, registry, load):
    denied = AccessDenied("cannot fetch https://example.org/a", remedy="Ask.")
    register(registry, "Doe2024.private", raising(denied))
    register(registry, "Doe2024.public", dict)
    with pytest.raises(AccessDenied) as caught:
        load("Doe2024.private")
    assert caught.value.remedy.splitlines() == [
        "Ask.",
        f"A public variant of the {registry.noun} 'Doe2024.private': 'Doe2024.public'.",
    ]


def test_one_of_several_is_denied(register):
    errors = [AccessDenied("denied"), NotFound("missing")]
    register(data_registry, "Doe2024.private", raising(SeveralFailures("two failed", remedy="Ask.", errors=errors)))
    register(data_registry, "Doe2024.public", dict)
    with pytest.raises(SeveralFailures, match=r"(?s)Ask\..*'Doe2024\.public'"):
        load_dataset("Doe2024.private")


def test_other_errors_stay_as_they_are(register):
    register(data_registry, "Doe2024.private", raising(NotFound("missing", remedy="Check the URL.")))
    register(data_registry, "Doe2024.public", dict)
    with pytest.raises(NotFound) as caught:
        load_dataset("Doe2024.private")
    assert caught.value.remedy == "Check the URL."


def test_where_there_is_none(register):
    register(data_registry, "Doe2024.private", raising(AccessDenied("denied", remedy="Ask.")))
    with pytest.raises(AccessDenied) as caught:
        load_dataset("Doe2024.private")
    assert caught.value.remedy == "Ask."


def test_scoring_names_data_and_benchmark(register, s3_server, monkeypatch):
    """The data lie in S3 and are private; the receipt says what else there is."""
    boto3 = pytest.importorskip("boto3")
    boto3.client("s3", endpoint_url=s3_server).create_bucket(Bucket="store")
    assembly = NeuroidAssembly(
        [[1.0]],
        coords={"stimulus_id": ("presentation", ["a"]), "neuroid_id": ("neuroid", ["n"])},
        dims=["presentation", "neuroid"],
    )
    with pytest.warns(UserWarning, match="no versioning"):
        package = package_data_assembly(None, assembly, "Doe2024.private", None, "NeuroidAssembly", "store")

    class Private(BenchmarkBase):
        def __call__(self, candidate):
            return Score(float(load_dataset("Doe2024.private").mean()))

    register(
        data_registry,
        "Doe2024.private",
        lambda: load_assembly_from_s3(
            "Doe2024.private", package["version_id"], package["sha1"], package["bucket"], NeuroidAssembly
        ),
    )
    register(data_registry, "Doe2024.public", dict)
    register(benchmark_registry, "Doe2024.IT-mean", lambda: Private("Doe2024.IT-mean", lambda: Score(1.0), version=1))
    register(benchmark_registry, "Doe2024public.IT-mean", dict)

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("BRAINSCORE_MIRROR", "")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    receipt = run_pair("pixels", "Doe2024.IT-mean", raise_errors=False).receipt
    assert receipt.state == "failed"
    assert receipt.error.type == "AccessDenied"
    assert "dataset 'Doe2024.private': 'Doe2024.public'" in receipt.reason
    assert "benchmark 'Doe2024.IT-mean': 'Doe2024public.IT-mean'" in receipt.reason
