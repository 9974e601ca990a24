"""Names and registered models that published plugins, tests and tutorials use."""

import csv
import importlib
import inspect
import os
import re
from pathlib import Path

import pytest

from brainscore_core.errors import UserError
from brainscore_language import load_model, model_registry
from tests.optional import declare_operators, require_package

require_package("transformers", "needs transformers")

_OWN = re.compile(r"plugins|tests|tutorials")

NOT_OFFERED = {
    "model_helpers.modeling_suma": "a network for transformers 4",
    "models.suma": "needs modeling_suma",
    "models.lm1b": "its published plugin brings its own modules",
    "models.earley_parser": "its published plugin brings its own modules",
    "benchmarks.syntaxgym.sg_suite": "used in its own folder only",
    "benchmarks.syntaxgym.sg_prediction.region": "used in its own folder only",
    "benchmarks.syntaxgym.sg_prediction.Region": "used in its own folder only",
    "benchmarks.wikitext_next_word": "its published plugin brings its own modules",
    "metrics.linear_predictivity.ridgecv_gpu": "RidgeCV of scikit-learn has the same values",
    "submission": "the platform's database and machines",
    "__main__.score": "the command line is called by its name, and score is imported from the package",
}


def rows(name):
    folder = os.environ.get("BRAINSCORE_FACTS")
    if not folder:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")
    with (Path(folder) / "language" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def resolve(path):
    """The object of a dotted path; None if there is none."""
    pieces = path.split(".")
    for number in range(len(pieces), 0, -1):
        try:
            found = importlib.import_module(".".join(pieces[:number]))
        except ModuleNotFoundError:
            continue
        try:
            for piece in pieces[number:]:
                found = getattr(found, piece)
        except AttributeError:
            return None
        return found
    return None


def parameters(text):
    """Names of the parameters in a published signature."""
    inside = re.sub(r"\[[^][]*(\[[^][]*\][^][]*)*\]", "", text.split(" -> ")[0].strip()[1:-1])
    return [match[0] for part in inside.split(",") if (match := re.match(r"\*{0,2}\w+", part.strip()))]


def test_names_that_plugins_tests_and_tutorials_use():
    declare_operators()
    problems = []
    surface = rows("api_surface.csv")
    used = [row for row in surface if _OWN.search(row["used_by"]) and row["path"].startswith("brainscore_language")]
    assert len(used) > 60
    for row in used:
        path = row["path"]
        if path.removeprefix("brainscore_language.").startswith(tuple(NOT_OFFERED)):
            continue
        found = resolve(path)
        if found is None:
            problems.append(f"{path} is missing")
        elif row["kind"] in ("function", "method") and row["signature_or_value"].startswith("("):
            ours = inspect.signature(found).parameters
            flexible = any(parameter.kind is parameter.VAR_KEYWORD for parameter in ours.values())
            missing = [name for name in parameters(row["signature_or_value"]) if name.lstrip("*") not in ours]
            if missing and not flexible:
                problems.append(f"{path} has no parameter {missing}")
    assert problems == []


def test_registered_models():
    keys = set()
    for row in rows("models.csv"):
        if row["key"].startswith("oasm"):
            keys |= {"oasm-sigma0", *(f"oasm-sigma{tenth / 10}" for tenth in range(1, 49))}
        else:
            keys.add(row["key"])
    assert len(keys) == 93
    assert keys <= set(model_registry)


@pytest.mark.parametrize("model", ["suma", "lm1b", "earley-parser-minivocab"])
def test_models_of_other_plugins_say_what_they_need(model):
    with pytest.raises(UserError, match=f"{model} needs .*\n.*BRAINSCORE_PLUGINS"):
        load_model(model)
