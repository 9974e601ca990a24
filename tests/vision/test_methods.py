"""Facts about a stored score from attachments and installed plugins."""

from dataclasses import replace

import pytest

from brainscore_core.runner.methods import methods_of
from brainscore_core.runner.verification import stored_in
from brainscore_core.scoring import ResultsStore
from brainscore_vision import run_pair


@pytest.mark.slow(reason="scores a regression on 800 stimuli")
def test_a_regression_says_how_stimuli_were_divided_and_other_code_says_nothing(tmp_path):
    store = ResultsStore(tmp_path)
    receipt = run_pair("pixels", "Simulated2026.V1-pls", results=store).receipt

    def text(receipt):
        return methods_of(stored_in(store, receipt))

    complete = text(receipt)
    for expected in (
        "10 random splits over stimulus_id, 90 % to fit, seed 1, stratified by object_name",
        "Values before aggregation: 10 splits × 96 neuroids.",
        "8.0° of visual angle",
        "sign(r) · r² divided by the ceiling",
        "https://doi.org/10.1073/pnas.1403112111 (metric pls)",
    ):
        assert expected in complete
    other = replace(receipt.benchmark, plugin=replace(receipt.benchmark.plugin, sha256="0" * 64))
    assert "8.0° of visual angle" not in text(replace(receipt, benchmark=other))
    store.attachment_path(receipt, "raw").unlink()
    without = text(receipt)
    assert "Not read, and so not described here: the attachment 'raw'" in without
    assert "10 random splits" not in without
    assert "8.0° of visual angle" in without
