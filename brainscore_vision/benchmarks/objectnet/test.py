import pytest

from brainscore_vision import load_benchmark, load_stimulus_set
from brainscore_vision.benchmark_helpers import RecordedDecisions

BENCHMARKS = {"ObjectNet-top1": "BarbuMayo2019"}


def observer(stimuli, share):
    """It is right on a share of the stimuli."""
    right = int(share * len(stimuli))
    names = [synset if k < right else "n00000000" for k, synset in enumerate(stimuli["synset"])]
    return RecordedDecisions("observer", dict(zip(stimuli["stimulus_id"], names, strict=True)), visual_degrees=8)


@pytest.mark.parametrize("identifier", BENCHMARKS)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_accuracy(stand_ins, identifier, share):
    benchmark = load_benchmark(identifier)
    score = benchmark(observer(load_stimulus_set(BENCHMARKS[identifier]), share))
    assert float(score) == pytest.approx(share, abs=0.01)
    assert float(benchmark.ceiling) == 1


def test_classes_are_hidden(stand_ins):
    class Witness(RecordedDecisions):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            assert "synset" not in stimuli.columns
            assert number_of_trials == 10
            return super().look_at(stimuli, number_of_trials)

    (identifier, stimuli), *_ = BENCHMARKS.items()
    shown = load_stimulus_set(stimuli)
    decisions = dict(zip(shown["stimulus_id"], shown["synset"], strict=True))
    assert float(load_benchmark(identifier)(Witness("witness", decisions, visual_degrees=8))) == 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_published_scores_of_no_label_and_of_the_truth(identifier):
    stimuli = load_stimulus_set(BENCHMARKS[identifier])
    benchmark = load_benchmark(identifier)
    assert [float(benchmark(observer(stimuli, share))) for share in (0, 1)] == [0, 1]
