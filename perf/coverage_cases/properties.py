"""Intervals of properties' distributions, of dimensions, and of solution times."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, PropertyAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords, once

__all__ = ["CASES"]


def _property(values):
    where = coords("neuroid", neuroid_id=np.arange(len(values))) | coords(
        "neuronal_property", neuronal_property=["size"]
    )
    assembly = PropertyAssembly(np.reshape(values, (-1, 1)), coords=where, dims=["neuroid", "neuronal_property"])
    assembly.attrs["size_bins"] = np.linspace(0, 3, 13)
    return assembly


def _ks():
    metric = load_metric("ks_similarity", property_name="size")
    recorded = _property(np.random.default_rng(7).gamma(4, 0.3, 80))

    def draw(rng, n) -> Score:
        return metric(_property(rng.gamma(4, 0.4, n)), recorded)

    value = once(lambda: float(draw(np.random.default_rng(9), 200_000)))
    return Case(["ks_similarity"], "model neuroids", "200,000 model neuroids", draw, value)


def _property_ceiling():
    from brainscore_vision import load_ceiling

    ceiling = load_ceiling("property_ceiling", load_metric("ks_similarity", property_name="size"))

    def draw(rng, n) -> Score:
        return ceiling(_property(rng.gamma(4, 0.3, n)))

    return Case(["property_ceiling"], "recorded neuroids", "mean of the scores", draw, average)


def _dimensionality():
    metric = load_metric("factor_dimensionality", factor="shape")

    def draw(rng, n) -> Score:
        shared, first, second = rng.standard_normal((3, 2 * n, 20))
        strength = np.where(np.arange(2 * n)[:, None] < n, 0.8, 0.4)
        where = coords("presentation", factor=np.repeat(["shape", "texture"], n)) | coords(
            "neuroid", neuroid_id=range(20)
        )
        return metric(
            *(NeuroidAssembly(strength * shared + part, coords=where, dims=["presentation", "neuroid"])
              for part in (first, second))
        )  # fmt: skip

    value = once(lambda: draw(np.random.default_rng(9), 100_000).attrs["unrounded"])
    return Case(["factor_dimensionality"], "pairs of each factor", "100,000 pairs", draw, value)


class _Given:
    """A readout that takes the features for probabilities."""

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X


@cache
def _ost():
    return load_metric("ost", readout=_Given)


def _solution_times():
    starts = np.arange(70, 170, 10)

    def draw(rng, n) -> Score:
        shared, own = rng.standard_normal((2, n))
        truth = np.arange(n) % 2
        time = 118 + 14 * (0.7 * shared + 0.7 * own)
        right = 1 / (1 + np.exp(-0.8 - (starts - time[:, None]) / 20))  # of each image and time bin
        features = np.stack([np.where(truth[:, None] == k, right, 1 - right) for k in (0, 1)], axis=1)
        where = coords("presentation", stimulus_id=np.arange(n))
        source = NeuroidAssembly(
            features,
            coords=where
            | coords("presentation", image_label=truth)
            | coords("neuroid", neuroid_id=[0, 1])
            | coords("time_bin", time_bin_start=starts, time_bin_end=starts + 10),
            dims=["presentation", "neuroid", "time_bin"],
        )
        measured = 120 + 15 * (0.8 * shared + 0.6 * rng.standard_normal(n))
        where |= coords("presentation", i1=np.full(n, 1.7))
        return _ost()(source, DataAssembly(measured, coords=where, dims=["presentation"]))

    truth = "mean of the scores; given times, no readout"
    return Case(["ost"], "images", truth, draw, average, sizes=(50, 100, 200))


CASES = [_ks(), _property_ceiling(), _dimensionality(), _solution_times()]
