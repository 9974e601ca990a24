"""How long a network takes to read 400 sentences, beside the definition, which reads each context anew.

``OMP_NUM_THREADS=2 python perf/language_speed.py`` prints seconds of processor time, the memory that reading adds, and
the largest difference; ``SENTENCES`` in the environment states another number than 400. Sentences have twelve words of
one token; they are read word by word, and in passages of four, with reading times of each part or recordings alone. The
recorded layer is the middle one of six.
"""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

SENTENCES, WORDS, VOCABULARY = int(os.environ.get("SENTENCES", "400")), 12, 8000


def subject(one_pass: bool):
    """A random network of 6 blocks of 384 units."""
    import torch

    for operator in ("nms", "qnms"):  # which a torchvision that was built for another torch lacks
        if not hasattr(torch.ops.torchvision, operator):
            torch.library.define(
                f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

    torch.manual_seed(0)
    config = GPT2Config(n_layer=6, n_embd=384, n_head=6, vocab_size=VOCABULARY, bos_token_id=None, eos_token_id=None)
    words = Tokenizer(models.WordLevel({f"w{number}": number for number in range(VOCABULARY)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0", model_max_length=1024)
    made = HuggingfaceSubject(
        "net", {"language_system": "transformer.h.2"}, model=GPT2LMHeadModel(config), tokenizer=tokenizer
    )
    if not one_pass:
        made._is_causal = False  # each part in a pass of its own
        made._called_once = Never()  # to the end of the network
    return made


class Never(dict):
    """Answers no to every question."""

    def get(self, *_):
        return False


def texts(form: str) -> list[list[str]]:
    """Parts of each text."""
    drawn = np.random.default_rng(0).integers(1, VOCABULARY, (SENTENCES, WORDS))
    sentences = [[f"w{number}" for number in sentence] for sentence in drawn]
    if form == "words":
        return sentences
    joined = [" ".join(sentence) for sentence in sentences]
    return [joined[start : start + 4] for start in range(0, SENTENCES, 4)]


def measure(form: str, way: str) -> dict:
    """Read all texts; seconds, MB, and sums of times and responses."""
    reader = subject(way == "one pass")
    if form != "passages, recordings alone":
        reader.start_behavioral_task("reading_times")
    reader.start_neural_recording("language_system", "fMRI")
    reader.digest_text(texts(form)[0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    answers = [reader.digest_text(parts) for parts in texts(form)]
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bits = np.concatenate(
        [np.zeros(1) if answer["behavior"] is None else answer["behavior"].values for answer in answers]
    )
    units = np.concatenate([answer["neural"].values for answer in answers])[::50]
    return {"seconds": seconds, "added": (peak - before) / 1024, "bits": bits.tolist(), "units": units.tolist()}


def in_process(form: str, way: str) -> dict:
    """`measure` in a process of its own."""
    done = subprocess.run([sys.executable, __file__, form, way], check=True, capture_output=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Each measurement in a process of its own."""
    if len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
        return
    print("| read in | definition | one pass | ratio | memory added | largest difference |")
    print("|---|---:|---:|---:|---:|---:|")
    for form in ("words", "passages", "passages, recordings alone"):
        slow, fast = (in_process(form, way) for way in ("definition", "one pass"))
        bits, units = (np.nanmax(np.abs(np.subtract(slow[name], fast[name]))) for name in ("bits", "units"))
        print(
            f"| {form} | {slow['seconds']:.1f} s | {fast['seconds']:.1f} s "
            f"| {slow['seconds'] / fast['seconds']:.1f} × | {slow['added']:.0f} and {fast['added']:.0f} MB "
            f"| {bits:.0e} bits, {units:.0e} in units |"
        )


if __name__ == "__main__":
    main()
