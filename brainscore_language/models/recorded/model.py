"""Recorded surprisals as subjects."""

from pathlib import Path

import pandas as pd

from brainscore_language.data.natural_stories2021.data_packaging import load_gpt3_surprisal, load_words
from brainscore_language.model_helpers.reading import RecordedSubject


def gpt3() -> RecordedSubject:
    """GPT-3, published with the corpus."""
    return _recorded("gpt3-davinci-recorded2020", load_gpt3_surprisal())


def smollm2() -> RecordedSubject:
    """SmolLM2-135M."""
    table = pd.read_csv(Path(__file__).with_name("smollm2_135m.tsv"), sep="\t")
    return _recorded("smollm2-135m-recorded", table.bits)


def _recorded(identifier: str, bits: pd.Series) -> RecordedSubject:
    stories = load_words().assign(bits=bits.to_numpy()).groupby("item")
    times = {tuple(story.word): story.bits.to_numpy() for _, story in stories}
    return RecordedSubject(identifier, times, texts="the ten stories of Natural Stories, word by word")
