"""Published plugins of language, unmodified: how many are imported, made and scored, and the reason of each failure.

``python perf/published_language.py WHEEL [--tests]`` reads the plugins from the wheel of brainscore_language 2.3. What
they fetch has a stand-in: small simulated recordings for data, networks of the same architecture and number of blocks
with random weights, a program that answers for containers. ``--tests`` runs the plugins' own tests instead, without
stand-ins. gensim, nltk, datasets and tensorflow are needed by single plugins. Prints tables.
"""

import argparse
import collections
import importlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
import zipfile
from pathlib import Path

import numpy as np

KINDS = ("metrics", "data", "benchmarks", "models")
SECONDS = 400
TRIED = 5  # registrations that are scored of a plugin with more than ten
FAMILIES = {  # in the name on the hub: class of configuration, and names of its numbers of units, heads and blocks
    "openai-gpt": ("OpenAIGPTConfig", "n_embd", "n_head", "n_layer"),
    "gpt-neo": ("GPTNeoConfig", "hidden_size", "num_heads", "num_layers"),
    "gpt2": ("GPT2Config", "n_embd", "n_head", "n_layer"),
    "falcon": ("FalconConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "gemma": ("GemmaConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "mistral": ("MistralConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "mpt": ("MptConfig", "d_model", "n_heads", "n_layers"),
    "opt": ("OPTConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "phi": ("PhiConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "pythia": ("GPTNeoXConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "qwen2": ("Qwen2Config", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "qwen3": ("Qwen3Config", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "llama": ("LlamaConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
    "llada": ("LlamaConfig", "hidden_size", "num_attention_heads", "num_hidden_layers"),
}
BLOCKS = {  # in a name: number of blocks; the first that fits
    "qwen3": 4,
    "12b": 36,
    "14b": 48,
    "medium": 24,
    "large": 36,
    "xl": 48,
    "1.3b": 24,
    "2.7b": 32,
    "40b": 60,
    "24b": 40,
    "30b": 48,
    "2b": 18,
}
PROGRAM = """#!/bin/sh
case "$3" in
  *next-word*) echo '{"measure": "the"}' ;;
  *token-logits*) echo '{"measure": [[0.5, 0]], "tokens": [0]}' ;;
  *) echo "{\\"measure\\": [[$(printf %s "$3" | cksum | cut -c1-3), 1, 2]]}" ;;
esac
"""


def configuration(name: str):
    """A small network of the family of a name, with as many blocks."""
    import transformers

    family = next(family for family in FAMILIES if family in name.lower())
    kind, units, heads, blocks = FAMILIES[family]
    number = next((count for part, count in BLOCKS.items() if part.lower() in name.lower()), 36)
    number = {"openai-gpt": 12, "distilgpt2": 6, "gpt2": 12, "EleutherAI/gpt-neo-125m": 12}.get(name, number)
    options = {units: 16, heads: 2, blocks: number, "vocab_size": 300, "pad_token_id": None}
    if family == "gpt-neo":
        options["attention_types"] = [[["global"], number]]
    if family in ("gemma", "mistral", "qwen2", "qwen3", "llama", "llada"):
        options |= {"num_key_value_heads": 2, "intermediate_size": 16, "head_dim": 8}
    if family == "opt":
        options |= {"ffn_dim": 16, "word_embed_proj_dim": 16}
    return getattr(transformers, kind)(**options)


def tokenizer(*_, **options):
    """A token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=1024, truncation_side="left")


def recordings(identifier: str = "", *_, **options):
    """Recordings in the published form; a score for a ceiling."""
    from brainscore_core.metrics import Score
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly

    random = np.random.default_rng(0)
    if "ceiling" in options.get("assembly_prefix", ""):
        return Score(0.5)
    words = [f"word{number}" for number in range(60)]
    groups = np.repeat(np.arange(20), 3)
    texts = {
        "stimulus": words,
        "word": words,
        "stimulus_id": np.arange(60),
        "experiment": np.repeat(["243sentences", "384sentences"], 30),
        "word_within_sentence_id": np.tile(np.arange(1, 4), 20),
        **dict.fromkeys(("story", "sentence_id", "story_id", "passage_label", "passage_index"), groups),
    }
    coords = {name: ("presentation", values) for name, values in texts.items()}
    if identifier == "Futrell2018":
        people = {"subject_id": ("subject", [f"p{number}" for number in range(8)])}
        times = 300 + random.standard_normal((60, 1)) + random.standard_normal((60, 8))
        return BehavioralAssembly(
            times, coords={**coords, **people}, dims=["presentation", "subject"], attrs={"bibtex": ""}
        )
    named = np.repeat(["a", "b", "c"], 2)
    values = random.standard_normal((60, 4)) @ random.standard_normal((4, 6)) + random.standard_normal((60, 6))
    units = dict.fromkeys(("subject", "subject_id", "subject_UID"), ("neuroid", named))
    return NeuroidAssembly(
        values,
        coords={**coords, **units, "neuroid_id": ("neuroid", np.arange(6))},
        dims=["presentation", "neuroid"],
        attrs={"identifier": identifier},
    )


def put_stand_ins(folder: Path) -> None:
    """Replace what fetches: storage, hub, suites of grammar, containers, word vectors."""
    import requests
    import transformers

    from brainscore_language.utils import s3

    s3.load_from_s3 = recordings
    causal = transformers.AutoModelForCausalLM.from_config
    transformers.AutoModelForCausalLM.from_pretrained = lambda name, **_: causal(configuration(name))
    transformers.AutoModel.from_pretrained = lambda name, **_: transformers.AutoModel.from_config(configuration(name))
    transformers.AutoConfig.from_pretrained = lambda name, **_: configuration(name)
    transformers.AutoTokenizer.from_pretrained = tokenizer
    suites = folder / "benchmarks" / "syntaxgym" / "suites" / "syntaxgym-2020"
    requests.get = lambda url, **_: types.SimpleNamespace(
        json=lambda: json.loads((suites / url.rsplit("/", 1)[1]).read_text(encoding="utf-8"))
    )
    lines = [" = A page = \n", " the fox is the fox \n"]
    sys.modules["datasets"] = types.SimpleNamespace(load_dataset=lambda *_, **__: {"text": lines})
    program = folder / "bin" / "docker"
    program.parent.mkdir(exist_ok=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    os.environ["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    vectors = "\n".join(f"word{word} " + " ".join(map(str, np.arange(300) * word % 7)) for word in range(60))
    (folder / "models" / "glove" / "glove.840B.300d.txt").write_text(vectors)


class Reader:
    """A subject that does everything, as `EmbeddingSubject` and word lengths."""

    def __init__(self):
        from brainscore_language import load_model

        self.units, self.lengths = load_model("randomembedding-100"), load_model("word-length")
        self.task = None

    def identifier(self):
        return "reader"

    def start_behavioral_task(self, task):
        self.task = task

    def start_neural_recording(self, *recording, **named):
        self.units.start_neural_recording(*recording, **named)

    def digest_text(self, text):
        if self.task is None:
            return self.units.digest_text(text)
        times = self.lengths.digest_text(text)
        if self.task == "next_word":
            times["behavior"] = times["behavior"].astype(object).copy(data=["the"] * times["behavior"].size)
        return times


def use(kind: str, key: str, made) -> None:
    """Score with an object, or read a text with it."""
    from brainscore_language import load_benchmark

    if kind == "metrics":
        vector = {"pearsonr": np.arange(9.0), "accuracy": ["a", "b"]}.get(key)
        value = made(recordings(), recordings()) if vector is None else made(vector, vector)
        assert np.isfinite(float(value))
    elif kind == "benchmarks":
        value = float(made(Reader()))
        assert np.isfinite(value), value
    elif kind == "models":
        benchmark = load_benchmark("Tuckute2024-ridge")
        benchmark._load_data = recordings
        try:
            value = float(benchmark(made))
        except NotImplementedError:  # reads only
            made.start_behavioral_task("reading_times")
            value = float(np.nansum(made.digest_text(["the", "dog", "slept"])["behavior"].values.astype(float)))
        assert np.isfinite(value), value


def examine(kind: str, name: str, folder: Path, answers) -> None:
    """Import a plugin; make and use what it registers."""
    import brainscore_language as language

    warnings.simplefilter("ignore")
    registry = language.REGISTRIES[kind if kind == "data" else kind[:-1]]
    rows, reasons = [0] * 5, {}
    try:
        importlib.import_module(f"brainscore_language.{kind}.{name}")
        keys = sorted(registry.keys_from(str(folder / kind / name)))
    except Exception as error:  # any plugin may fail; its reason is the result
        answers.put((kind, name, [1, 0, 0, 0, 0], {f"import: {described(error)}": [name]}))
        return
    for key in keys:
        stage = "make"
        try:
            made = registry.make(key)
            rows[2] += 1
            if len(keys) > 10 and rows[3] >= TRIED:
                continue
            rows[3] += 1
            stage = "score"
            use(kind, key, made)
            rows[4] += 1
        except Exception as error:  # as above
            reasons.setdefault(f"{stage}: {described(error)}", []).append(key)
    rows[0], rows[1] = len(keys), len(keys)
    answers.put((kind, name, rows, reasons))


def described(error: Exception) -> str:
    """Class and first line of an error, and where it arose."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = (str(error).strip() or " ").splitlines()[0][:160]
    return f"{type(error).__name__}: {line} ({Path(last.filename).name}:{last.lineno})"


def run_examinations(folder: Path, only: str) -> None:
    """Print what was imported, made and scored of each kind, and reasons."""
    import torch
    import transformers  # noqa: F401 # once, for all processes

    import brainscore_language  # noqa: F401 # registers plugins

    torch.set_num_threads(1)
    put_stand_ins(folder)
    context = multiprocessing.get_context("fork")
    totals = {kind: np.zeros(5, dtype=int) for kind in KINDS}
    plugins: collections.Counter[str] = collections.Counter()
    failures = []
    for kind in KINDS:
        for path in sorted((folder / kind).iterdir()):
            if not (path / "__init__.py").is_file() or not re.search(only, f"{kind}/{path.name}"):
                continue
            plugins[kind] += 1
            answers = context.Queue()
            process = context.Process(target=examine, args=(kind, path.name, folder, answers))
            process.start()
            try:
                _, name, counts, reasons = answers.get(timeout=SECONDS)
            except Exception:  # no answer in time
                name, counts, reasons = path.name, [1, 0, 0, 0, 0], {f"no answer in {SECONDS} s": [path.name]}
            process.terminate()
            process.join()
            totals[kind] += counts
            failures += [(kind, name, reason, keys) for reason, keys in reasons.items()]
            sys.stderr.write(f"{kind}/{name}: {counts} {list(reasons)}\n")
    print("| kind | plugins | registrations | imported | made | tried | scored |\n|---|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        print(f"| {kind} | {plugins[kind]} | " + " | ".join(map(str, totals[kind])) + " |")
    print("\n| plugin | what failed |\n|---|---|")
    for kind, name, reason, keys in failures:
        print(f"| `{kind}/{name}` | {reason}({len(keys)}) |")


def run_tests(folder: Path) -> None:
    """Run the plugins' own tests, and print how many passed, and the reasons of the others."""
    files = sorted(str(path) for path in folder.glob("*/*/test.py"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "--import-mode=importlib",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "--tb=line", "-n", "0", *files], cwd=folder, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    print(lines[-1])
    reasons = collections.Counter(
        re.sub(r"0x\w+|\d{3,}", "…", line.split(" - ", 1)[1])[:150]
        for line in lines
        if line.startswith(("FAILED", "ERROR")) and " - " in line
    )
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")


def main() -> None:
    """Unpack the wheel, and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--tests", action="store_true", help="run the plugins' own tests")
    parser.add_argument("--only", default="", help="regular expression of plugins, such as models/gpt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(options.wheel) as archive:
            archive.extractall(place)
        folder = Path(place) / "published"
        folder.mkdir()
        for kind in KINDS:
            (Path(place) / "brainscore_language" / kind).rename(folder / kind)
        os.environ |= {
            "BRAINSCORE_LANGUAGE_PLUGINS": str(folder),
            "BRAINIO": str(Path(place) / "masks"),
            "HF_HUB_OFFLINE": "1",
            "NLTK_DATA": str(folder),
            "TQDM_DISABLE": "1",
            "HF_TOKEN": "none",  # else tests of models are skipped
        }
        if options.tests:
            run_tests(folder)
        else:
            run_examinations(folder, options.only)


if __name__ == "__main__":
    main()
