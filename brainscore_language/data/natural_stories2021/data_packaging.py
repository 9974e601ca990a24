"""Tables of the Natural Stories corpus, as published, and reading times as an assembly.

The published table of words lists each reading time one word too early: the listed time depends on length, frequency
and surprisal of the *next* word, which the reader has not seen (r = .254 with its length, .036 with that of the next
but one), and the last listed time of every story is that of the end of the text. ``NaturalStories2021`` therefore moves
times by one word; ``NaturalStories2021.listed`` has them as published.
"""

import csv
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch_all

_URL = "https://raw.githubusercontent.com/languageMIT/naturalstories/4700daad696e942f5aba23c957a7423d0de66612"
_SHA256 = {
    "naturalstories_RTS/all_stories.tok": "0e4e9bd4708aaa01d8bea342696bb83cedff679c09184545483f6f3f4ba8aca3",
    "naturalstories_RTS/processed_wordinfo.tsv": "047d2a0b84eff99d90535d1517f7fa7d466b81fbd60e990f2f08caac04d8aa56",
    "freqs/freqs-1.tsv": "dfe87aa455e43226eb7f79faa6e5d9926446c3d8346014dd75837f39c3f19add",
    "probs/all_stories_gpt3.csv": "6ccee02c20a688d5f7e69a023025d725e8fb06d87e2c7f997b399384c200a0ad",
}
_SENTENCE_ENDS = (".", "?", "!", ".'", "?'", "!'", ";'")


def _fetch(*names: str) -> list[Path]:
    return fetch_all([{"url": f"{_URL}/{name}", "sha256": _SHA256[name]} for name in names])


def _read(path: Path, **options: Any) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, **options)


@cache
def load_words() -> pd.DataFrame:
    """The 10,256 words in order, with reading times as listed.

    Returns
    -------
    pandas.DataFrame
        ``item`` (story, from 1), ``zone`` (word in its story, from 1), ``word``, ``sentence`` (over all stories),
        ``place`` (word in its sentence, from 1), ``length`` in characters, ``log_frequency`` (log2 of the count in
        Google Books since 1990; NaN for 10 words), ``rt`` (mean over readers, ms), ``sd``, ``n`` (number of readings).
    """
    words, listed = map(
        _read, _fetch("naturalstories_RTS/all_stories.tok", "naturalstories_RTS/processed_wordinfo.tsv")
    )
    words = words.merge(listed, on=["item", "zone", "word"], validate="one_to_one").sort_values(["item", "zone"])
    words = words.reset_index(drop=True).rename(columns={"meanItemRT": "rt", "sdItemRT": "sd", "nItem": "n"})
    words = words.astype({"rt": float, "sd": float, "n": float})
    frequencies = _read(
        _fetch("freqs/freqs-1.tsv")[0], header=None, names=["code", "order", "token", "count", "context"]
    )
    frequencies = frequencies[frequencies.code.str.endswith(".word")]
    codes = frequencies.code.str.split(".", expand=True)
    frequencies = pd.DataFrame(
        {
            "item": codes[0].astype(int),
            "zone": codes[1].astype(int),
            "log_frequency": np.log2(pd.to_numeric(frequencies["count"]).clip(lower=1)),
        }
    )
    words = words.merge(frequencies, on=["item", "zone"], how="left")
    words["length"] = words.word.str.len()
    return words.assign(**_sentences(words.word.tolist()))


def _sentences(words: list[str]) -> dict[str, list[int]]:
    """Number of the sentence of each word, and number of the word in its sentence."""
    sentence, place = 1, 0
    sentences, places = [], []
    for number, word in enumerate(words):
        place += 1
        sentences.append(sentence)
        places.append(place)
        following = words[number + 1] if number + 1 < len(words) else ""
        if word.endswith(_SENTENCE_ENDS) and following and not (following.islower() or word == "Mr."):
            sentence, place = sentence + 1, 0
    return {"sentence": sentences, "place": places}


def load_gpt3_surprisal() -> pd.Series:
    """Surprisal in bits of each word, as published for GPT-3 (davinci, May 2020); NaN for 8 words without a value."""
    tokens = pd.read_csv(_fetch("probs/all_stories_gpt3.csv")[0], keep_default_na=False)
    begins = tokens.token.str.startswith(" ") | (tokens.groupby("story").cumcount() == 0)
    tokens["zone"] = begins.groupby(tokens.story).cumsum()
    tokens["bits"] = -pd.to_numeric(tokens.logprob, errors="coerce") / np.log(2)
    bits = tokens.groupby(["story", "zone"]).bits.sum(min_count=1)
    words = load_words()
    return bits.reindex(pd.MultiIndex.from_arrays([words["item"] - 1, words.zone])).reset_index(drop=True)


def load_reading_times(*, listed: bool) -> BehavioralAssembly:
    """Mean reading times of words in ms, over readers.

    Parameters
    ----------
    listed : bool
        Whether times stay where the published table lists them; otherwise they are moved by one word, and the first
        word of each story has none (NaN).

    Returns
    -------
    BehavioralAssembly
        presentation; with ``stimulus_id`` (story.word), ``word``, ``story_id``, ``word_id``, ``sentence_id``,
        ``word_within_sentence_id``, ``length``, ``log_frequency``, ``readings`` (their number), ``sd`` (ms).
    """
    words = load_words()
    times = words.groupby("item")[["rt", "sd", "n"]].shift(0 if listed else 1)
    ids = {"item": "story_id", "zone": "word_id", "sentence": "sentence_id", "place": "word_within_sentence_id"}
    columns = words[["word", *ids, "length", "log_frequency"]].rename(columns=ids)
    columns = columns.assign(readings=times.n, sd=times.sd)
    stimulus_ids = words["item"].astype(str) + "." + words.zone.astype(str)
    coords = {"stimulus_id": stimulus_ids, **columns}
    assembly = BehavioralAssembly(
        times.rt.to_numpy(),
        coords={str(name): ("presentation", values.to_numpy()) for name, values in coords.items()},
        dims=["presentation"],
    )
    assembly.attrs["identifier"] = "NaturalStories2021.listed" if listed else "NaturalStories2021"
    return assembly
