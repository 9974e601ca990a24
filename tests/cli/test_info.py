"""``brainscore info``."""

import json

import pytest

from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.results.assessments import AssessmentStore

BENCHMARK = '''
"""A benchmark of the lab."""

from brainscore_vision import benchmark_registry

BIBTEX = """
@misc{lab2026,
    title = {Lab}
}
"""


class Benchmark:
    identifier = 'Lab2026.IT-rdm'
    version = 3
    parent = 'IT'
    bibtex = BIBTEX
    ceiling = float('nan')


benchmark_registry['lab-it'] = Benchmark
'''


def test_without_importing(cli, lab):
    folder = lab("benchmarks", "lab", "raise SystemError\n" + BENCHMARK, requirements_txt="x", README_md="# Lab")
    (entry,) = json.loads(cli("info", "lab-it", "--json").stdout)
    assert entry["kind"] == "benchmarks"
    assert entry["package"] == "brainscore_vision.benchmarks.lab"
    assert entry["file"].startswith(f"{folder / '__init__.py'}:")
    assert entry["requirements"] == str(folder / "requirements.txt")
    assert entry["readme"] == str(folder / "README.md")
    assert entry["bibtex"] == ["@misc{lab2026,\n    title = {Lab}\n}"]


def test_metadata_of_a_model(cli):
    (entry,) = json.loads(cli("info", "alexnet", "--json").stdout)
    assert entry["metadata"]["family"] == "alexnet"
    assert entry["metadata"]["parameters"] == 61_100_840
    assert entry["layers"]["IT"] == ["features.12"]
    assert entry["problems"] == []
    assert [text[:20] for text in entry["bibtex"]] == ["@inproceedings{NIPS2"]
    lines = [line.rstrip() for line in cli("info", "alexnet").output.splitlines()]
    assert "parameters           61,100,840" in lines
    assert "size (MB)            244.4" in lines
    assert "runnable             yes" in lines
    assert sum(line.startswith("bibtex") for line in lines) == 1


def test_metadata_of_a_benchmark(cli):
    (entry,) = json.loads(cli("info", "Marques2020_Ringach2002-max_dc", "--json").stdout)
    assert entry["metadata"]["data"]["species"] == "macaque"
    assert (entry["version"], entry["parent"], entry["control"]) == (1, "V1-response_magnitude", False)
    assert ["Ringach2002" in text for text in entry["bibtex"]] == [True]  # not those of the other studies
    output = cli("info", "Marques2020_Ringach2002-max_dc").output
    assert "species: macaque" in output
    assert "n neuroids: 304" in output
    assert "duration" not in output  # not known


def test_metadata_that_cannot_be_read(cli, lab):
    folder = lab("benchmarks", "lab", BENCHMARK)
    (folder / "metadata.py").write_text("METADATA = 1 / 0")
    (entry,) = json.loads(cli("info", "lab-it", "--json").stdout)
    assert entry["metadata"] is None
    assert entry["problems"] == ["cannot be imported: ZeroDivisionError: division by zero"]
    assert "ZeroDivisionError" in cli("info", "lab-it").output


def test_loaded(cli, lab):
    lab("benchmarks", "lab", BENCHMARK)
    (entry,) = json.loads(cli("info", "lab-it", "--ceiling", "--json").stdout)
    assert (entry["version"], entry["parent"], entry["own_identifier"]) == (3, "IT", "Lab2026.IT-rdm")
    assert entry["ceiling"] is None  # NaN is no JSON
    assert entry["about"] == "A benchmark of the lab."


def test_by_the_benchmarks_own_identifier(cli, lab):
    lab("benchmarks", "lab", BENCHMARK)
    (entry,) = json.loads(cli("info", "Lab2026.IT-rdm", "--json").stdout)
    assert entry["identifier"] == "lab-it"


def test_text(cli, lab):
    lab("benchmarks", "lab", BENCHMARK)
    lab(
        "models",
        "lab",
        """
        from brainscore_vision import model_registry

        class Model:
            def visual_degrees(self):
                return 8

        model_registry['lab-it'] = Model
        """,
    )
    output = cli("info", "lab-it", "--load").output
    lines = dict(line.split(None, 1) for line in output.splitlines() if line and not line.startswith(" "))
    assert lines["version"] == "3"
    assert lines["visual"] == "degrees  8"
    assert "    title = {Lab}" in output


def test_unknown(cli, lab):
    lab("benchmarks", "lab", BENCHMARK)
    result = cli("info", "lab-itt")
    assert result.exit_code == 2
    assert "Nothing is registered as 'lab-itt'. Nearest: lab-it" in result.stderr
    assert "Traceback" not in result.output


def test_a_missing_requirement(cli, lab):
    folder = lab(
        "models",
        "lab",
        "import no_such_thing\nfrom brainscore_vision import model_registry\nmodel_registry['lab'] = 1",
        requirements_txt="no-such-thing",
    )
    assert cli("info", "lab").exit_code == 0
    result = cli("info", "lab", "--load")
    assert result.exit_code == 2
    assert f"python -m pip install -r {folder / 'requirements.txt'}" in result.stderr
    assert "Traceback" not in result.output


def test_what_a_perfect_model_would_reach(cli):
    (entry,) = json.loads(cli("info", "Simulated2026.V1:cka", "--attainable", "--json").stdout)
    low, high = entry["attainable_ci"]
    assert 0.9 < low < entry["attainable"] < high < 1
    assert entry["ceiling"] is None  # of CKA


def test_assessments_of_a_benchmark(cli, tmp_path):
    name = "Simulated2026.V1-rdm"
    missing = cli("info", name, "--results", str(tmp_path)).stdout.splitlines()
    assert [line.split(maxsplit=1)[1] for line in missing if line.startswith("validity")] == [
        f"not assessed: brainscore assess {name}"
    ]
    store = AssessmentStore(tmp_path)
    benchmark = Used(kind="benchmark", identifier=name, version=1, sha256="0" * 64)
    store.write(Assessment(part="recovery", benchmark=benchmark, state="not applicable", reason="no candidates"))
    store.write(Assessment(part="audit", benchmark=benchmark, state="assessed", result={"stimuli": 800}))
    lines = [line.strip() for line in cli("info", name, "--results", str(tmp_path)).stdout.splitlines()]
    (audit,) = (line for line in lines if "audit (" in line)
    assert audit.endswith("version 1, code changed since): No problem was found in 800 stimuli.")
    assert lines[lines.index(audit) + 1].endswith("Not applicable: no candidates.")
    (entry,) = json.loads(cli("info", name, "--results", str(tmp_path), "--json").stdout)
    assert [one["part"] for one in entry["assessments"]] == ["audit", "recovery"]
    assert entry["assessments"][0]["changed"] == [f"benchmark {name}"]
    assert "assessments" not in json.loads(cli("info", "pixels", "--json").stdout)[0]


def test_what_a_model_was_trained_on(cli):
    (entry,) = json.loads(cli("info", "vit_base_patch16_clip_224:openai_ft_in1k", "--json").stdout)
    assert entry["training"] == {"names": ["ImageNet (ILSVRC 2012)", "WIT-400M"], "complete": True}
    for model, expected in (("hmax", "not stated"), ("pixels", "nothing"), ("alexnet", "ImageNet (ILSVRC 2012)")):
        (line,) = (line for line in cli("info", model).stdout.splitlines() if line.startswith("trained on "))
        assert line.split(maxsplit=2)[2] == expected


def test_a_network_in_a_file(cli, tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "mine.py"
    file.write_text(
        "from torch import nn\n\n\ndef make():\n"
        "    return nn.Sequential(nn.Conv2d(3, 2, 8, stride=8), nn.ReLU(), nn.Flatten(), nn.Linear(1568, 5))\n"
    )
    (entry,) = json.loads(cli("info", f"{file}:make", "--json").stdout)
    assert (entry["layers"], entry["visual_degrees"]) == (["0", "1", "3"], 8)
    text = cli("info", f"{file}:make").stdout
    assert "a layer is selected for each" in text
    assert "images are resized to 224 × 224 pixels" in text


def test_a_model_of_a_library(cli, monkeypatch):
    from brainscore_vision import model_registry

    installed = model_registry.resolver._replace(require=lambda identifier: None)
    monkeypatch.setattr(model_registry, "resolver", installed)
    [entry] = json.loads(cli("info", "timm:resnet10t-untrained-seed2", "--json").stdout)
    assert (entry["name"], entry["weights"], entry["library"][:5]) == ("resnet10t", "as initialised, seed 2", "timm ")


def test_a_network_is_described(cli, tmp_path):
    (tmp_path / "mine.py").write_text(
        """
import torch


def make():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 9, stride=8), torch.nn.ReLU())
"""
    )
    (entry,) = json.loads(cli("info", f"{tmp_path / 'mine.py'}:make", "--json").stdout)
    assert entry["preprocessing"].startswith("resized to 224 × 224 pixels (bilinear, antialiased), divided by 255")
    assert entry["recorded"][0] == "0: stimuli × 4 channels × 27 rows × 27 columns"
