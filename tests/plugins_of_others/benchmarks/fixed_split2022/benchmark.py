"""Training and test stimuli are fixed; every metric is given the same list of penalties. The data are simulated."""

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.benchmark_helpers.neural_common import TrainTestNeuralBenchmark, average_repetition
from brainscore_vision.metrics.regression_correlation.metric import ALPHA_LIST
from brainscore_vision.utils import LazyLoad

BIBTEX = """@misc{split2022, title={Recordings}, author={Author, A.}, year={2022}, url={https://example.org}}"""
REDUCED_ALPHA_LIST = ALPHA_LIST[::20]
VISUAL_DEGREES = 8


def _FixedSplit2022(region, similarity_metric, identifier_metric_suffix, ceiler=load_metric("internal_consistency")):
    train_assembly = LazyLoad(lambda region=region: load_assembly(region, "train", average_repetitions=True))
    test_assembly = LazyLoad(lambda region=region: load_assembly(region, "test", average_repetitions=True))
    test_assembly_repetition = LazyLoad(lambda region=region: load_assembly(region, "test", average_repetitions=False))
    return TrainTestNeuralBenchmark(
        identifier=f"FixedSplit2022.{region}-{identifier_metric_suffix}",
        version=1,
        ceiling_func=lambda: ceiler(test_assembly_repetition),
        train_assembly=train_assembly,
        test_assembly=test_assembly,
        similarity_metric=similarity_metric,
        alpha_coord="subject",
        per_voxel_ceilings=False,
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=1,
        parent=region,
        bibtex=BIBTEX,
    )


def FixedSplit2022(region, metric_type, alphas=REDUCED_ALPHA_LIST):
    similarity_metric = load_metric(f"{metric_type}_split", alphas=alphas)
    return _FixedSplit2022(region, similarity_metric=similarity_metric, identifier_metric_suffix=metric_type)


def load_assembly(region, split, average_repetitions):
    random = np.random.default_rng(0 if split == "train" else 1)
    stimuli = [f"{split}{i:02d}" for i in range(60 if split == "train" else 20)]
    signal = random.standard_normal((len(stimuli), 6))
    responses = signal + 0.5 * random.standard_normal((4, *signal.shape))
    assembly = NeuroidAssembly(
        responses.reshape(-1, 6),
        coords={
            "stimulus_id": ("presentation", stimuli * 4),
            "repetition": ("presentation", np.repeat(range(4), len(stimuli))),
            "neuroid_id": ("neuroid", list(range(6))),
            "region": ("neuroid", [region] * 6),
            "subject": ("neuroid", ["a", "a", "a", "b", "b", "b"]),
        },
        dims=["presentation", "neuroid"],
    )
    assembly.attrs["stimulus_set"] = StimulusSet({"stimulus_id": stimuli})
    assembly.attrs["stimulus_set"].identifier = f"FixedSplit2022-{split}"
    return average_repetition(assembly) if average_repetitions else assembly
