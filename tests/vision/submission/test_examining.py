"""What is found in submissions without running them."""

import json
import os
import subprocess
import sys

import pytest

from brainscore_core.errors import UserError
from brainscore_core.submission import (
    Finding,
    Limits,
    declared_files,
    errors_among,
    examine,
    read_folder,
    read_zip,
    registered_elsewhere,
    registered_here,
)


@pytest.fixture
def found(zipped):
    """``found(files)``: what is found, as (severity, check, place)."""

    def find(files, **options):
        findings = examine(read_zip(zipped(files)), **options)
        return [
            (one.severity, one.check, f"{one.file}:{one.line}" if one.line else one.file, one.message)
            for one in findings
        ]

    return find


def only(findings, check):
    """Severity and place of those of one check."""
    return [(severity, place) for severity, kind, place, _ in findings if kind == check]


def test_careful_plugins(found, model, benchmark):
    assert found({**model, **benchmark}) == []


def test_findings_are_told_in_json(zipped, model):
    model["models/mine/model.py"] = "def broken(:\n"
    (finding,) = examine(read_zip(zipped(model)))
    assert str(finding) == "models/mine/model.py:1: error: Python cannot parse the file: invalid syntax"
    assert Finding.from_dict(json.loads(json.dumps(finding.as_dict()))) == finding


def test_the_start_of_a_plugin(found, model, benchmark):
    start = "models/mine/__init__.py"
    text = model[start]
    assert only(found({**model, start: text.replace('"mine"', "NAME")}), "registration") == [("error", f"{start}:5")]
    assert only(found({**model, start: "x = (\n"}), "syntax") == [("error", f"{start}:1")]
    assert only(found({**model, start: "x = 1\n", "models/mine/model.py": ""}), "registration") == [("error", start)]
    faulty = {path: text for path, text in model.items() if path != start} | benchmark
    assert only(found(faulty), "registration") == [("error", start)]
    elsewhere = {"models/mine/more.py": "from brainscore_vision import model_registry\nmodel_registry['b'] = 1\n"}
    assert only(found({**model, **elsewhere}), "registration") == [("error", "models/mine/more.py:2")]


def test_models_keep_to_themselves(found, model):
    start = "models/mine/__init__.py"
    more = "from brainscore_vision import benchmark_registry\nbenchmark_registry['a-b'] = 1\n"
    findings = found({**model, start: model[start] + more})
    assert ("error", f"{start}:6") in only(findings, "confinement")
    assert ("error", f"{start}:7") in only(findings, "registration")
    code = {"models/mine/model.py": (
        "import brainscore_vision.data.majajhong2015\n"
        "from brainscore_vision.benchmarks import majajhong2015\n"
        "from ..pixels import model\n"
        "from brainscore_vision.models.nobody import net\n"
        "from brainscore_vision.models.pixels import model\n"
        "from brainscore_vision.model_helpers.activations import pytorch\n"
        "import subprocess\n"
    )}  # fmt: skip
    places = only(found({**model, **code}), "confinement")
    assert [(severity, place.rpartition(":")[2]) for severity, place in places] == [
        ("error", "1"), ("error", "2"), ("error", "3"), ("warning", "4")
    ]  # fmt: skip


def test_what_needs_the_network_or_another_machine(found, model):
    code = {"models/mine/model.py": (
        '"""Runs on /home/me/data as well."""\n'
        "import requests, timm, torch\n"
        "a = timm.create_model('x', pretrained=True)\n"
        "b = torch.hub.load('x', 'y')\n"
        "c = resnet50(weights='IMAGENET1K_V1')\n"
        "d = resnet50(weights=None)\n"
        "e = torch.load('/home/me/weights.pth')\n"
        "f = open('/tmp/log', 'a')\n"
        "g = open('/tmp/log')\n"
    )}  # fmt: skip
    findings = found({**model, **code})
    assert [place.rpartition(":")[2] for _, place in only(findings, "network")] == ["2", "3", "4", "5"]
    assert [place.rpartition(":")[2] for _, place in only(findings, "paths")] == ["7", "8", "9"]
    assert not [one for one in findings if one[0] == "error"]


def test_tests(found, model, benchmark):
    test = "models/mine/test.py"
    assert only(found({path: text for path, text in model.items() if path != test}), "tests") == [("error", test)]
    assert only(found({**model, test: "# none\n"}), "tests") == [("warning", test)]
    test = "benchmarks/mine2026/test.py"
    assert only(found({**benchmark, test: "# none\n"}), "tests") == [("error", test)]
    said = [one[3] for one in found({**benchmark, test: "def test_it(): pass\n"})]
    assert said == [
        "no test checks the ceiling",
        "no test loads the benchmark by its identifier",
        "no test runs the benchmark on a model",
    ]
    text = benchmark[test].replace("== 0.25", "> 0")
    assert found({**benchmark, test: text}) == [
        ("warning", "tests", test, "no test compares a score with a number")
    ]  # fmt: skip
    test = "data/mine2026/test.py"
    assert only(found({**benchmark, test: "def test_it(): pass\n"}), "tests") == [("error", test)]


def test_the_checklist_of_benchmarks(found, benchmark):
    code, start = "benchmarks/mine2026/benchmark.py", "benchmarks/mine2026/__init__.py"
    text = (
        benchmark[code].replace(" version=1,", "").replace('parent="V1", ', "").replace("={T}", "={Your Paper Title}")
    )
    assert [(one[0], one[3]) for one in found({**benchmark, code: text})] == [
        ("warning", "the text still contains 'your paper title' of the template")
    ] + [("warning", f"this call passes no {name}") for name in ("parent", "version")]
    named = {path: text.replace("Mine2026-pls", "mine") for path, text in benchmark.items()}
    assert [(one[0], one[2]) for one in found(named)] == [("warning", f"{start}:6"), ("warning", f"{code}:9")]
    own = "class Mine:\n    pass\n"
    assert "BenchmarkBase" in found({**benchmark, code: own})[0][3]


def test_identifiers(found, zipped, model, written, monkeypatch, tmp_path):
    start = "models/mine/__init__.py"
    other = {"models/other/__init__.py": model[start], "models/other/test.py": "def test_it(): pass\n"}
    findings = found({**model, **other})
    assert only(findings, "identifier") == [("error", "models/other/__init__.py:5")]
    assert "models/mine/__init__.py" in findings[0][3]
    for key in (
        " mine",
        "",
        "x" * 300,
        "a\u200bb",
        "mine.py:model",
        "a//b",
        "=cmd|calc",
        "<b>mine</b>",
        "mine\u2010x",
        "timm:resnet18",
        "huggingface:lab/mine@v2",
    ):
        assert only(found({**model, start: model[start].replace("mine", key)}), "identifier"), key
    for key in ("timm:a_b/mine.c@v2", "mine+", "Mine@3"):
        assert only(found({**model, start: model[start].replace("mine", key)}), "identifier") == [], key
    for key, other in (("Pixels", "pixels"), ("pixe1s", "pixels"), ("resnet-l8", "resnet-18")):
        said = found({**model, start: model[start].replace("mine", key)})
        assert f"it looks like '{other}' of brainscore_vision.models" in said[0][3]
    pixels = {**model, start: model[start].replace("mine", "pixels")}
    assert only(found(pixels), "identifier") == [("error", f"{start}:5")]
    assert "brainscore_vision.models.pixels" in registered_here("vision", "model_registry", "pixels")
    assert found(pixels, taken=lambda domain, registry, key: None) == []
    assert found(model, taken=lambda *asked: f"Ada has {asked[1:]}")[0][3].endswith(
        "Ada has ('model_registry', 'mine')"
    )  # fmt: skip
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(written(model)))
    package = read_folder(tmp_path / "written" / "models" / "mine")
    assert errors_among(examine(package))
    assert examine(package, taken=registered_elsewhere(package)) == ()


@pytest.mark.parametrize("name", ["a.b", "a b", "_a", "mäh"])
def test_names_that_python_cannot_import(zipped, model, name):
    files = {path.replace("/mine/", f"/{name}/"): text for path, text in model.items()}
    if name.startswith("_"):
        files |= {"models/mine/__init__.py": model["models/mine/__init__.py"].replace("mine", "b")}
    findings = examine(read_zip(zipped(files)))
    assert "name" in {one.check for one in findings}


def test_names_with_hyphens_and_digits_are_imported(written, model, zipped):
    files = {path.replace("/mine/", "/3d-net_v2/"): text for path, text in model.items()}
    files["models/3d-net_v2/__init__.py"] += "from .net import NAME\nassert NAME == 'net'\n"
    files["models/3d-net_v2/net.py"] = "NAME = 'net'\n"
    assert not errors_among(examine(read_zip(zipped(files))))
    code = "from brainscore_vision import model_registry; model_registry['mine']"
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "BRAINSCORE_PLUGINS": str(written(files))}, check=True
    )


def test_requirements(found, model):
    file = "models/mine/requirements.txt"
    lines = [
        "numpy", "timm>=0.9; python_version > '3.8'", "git+https://github.com/a/b", "net @ https://x.org/net.whl",
        "./wheels/x.whl", "--index-url https://x.org", "-e .", "a b", "-r ../../other.txt", "--hash=sha256:0",
        "brainscore_vision @ git+https://github.com/brain-score/vision", "${TOKEN}x",
    ]  # fmt: skip
    findings = only(found({**model, file: "\n".join(lines)}), "requirements")
    errors = [int(place.rpartition(":")[2]) for severity, place in findings if severity == "error"]
    assert errors == [3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert ("note", f"{file}:11") in findings
    assert only(found({**model, "models/mine/setup.py": "x = 1"}), "requirements")[0][0] == "warning"


def test_metadata(found, model):
    start = "models/mine/__init__.py"
    bare = {**model, start: model[start].replace("METADATA = {}", "")}
    assert only(found(bare), "metadata") == [("warning", start)]
    assert found({**bare, "models/mine/metadata.py": "METADATA = {}\n"}) == []
    pytest.importorskip("yaml")
    file = "models/mine/metadata.yml"
    assert found({**bare, file: "models:\n  mine:\n    architecture: CNN\n"}) == []
    (bad,) = found({**bare, file: "models:\n  mine:\n    architektur: CNN\n"})[:1]
    assert bad[:3] == ("warning", "metadata", file)
    assert "architektur" in bad[3]
    assert only(found({**bare, file: "- a\n-b: ["}), "metadata") == [("warning", file)]


SHA1, SHA256 = "a" * 40, "b" * 64
LOADS = f"""
from brainscore_core.supported_data_standards.brainio.s3 import *
from brainscore_core.supported_data_standards.brainio.fetch import fetch

BUCKET = "brainscore-storage/models"
load_weight_file("bucket-a", "net/w.pth", "v1", "{SHA1}")
load_weight_file(bucket=BUCKET, relative_path="w.pth", sha1="{SHA1}", version_id="v2", folder_name="mine")
load_stimulus_set_from_s3(identifier="A.b", bucket="bucket-a", csv_sha1="{SHA1}", zip_sha1="{SHA1}",
                          csv_version_id="c", zip_version_id="z")
load_assembly_from_s3("A", "v3", "{SHA1}", "bucket-a", None)
fetch("https://example.org/w.bin", sha256="{SHA256}")
load_weight_file("bucket-a", "free.pth", "v1")
load_weight_file("bucket-a", "short.pth", "v1", "abc")
load_weight_file("bucket-a", name_of(), "v1", "{SHA1}")
load_file_from_s3("bucket-a", "latest.pth", sha1="{SHA1}")
"""


def test_declared_files(zipped, model):
    model["models/mine/model.py"] = LOADS
    package = read_zip(zipped(model))
    files = {one.url: one for one in declared_files(package)}
    ends = {url.rpartition("amazonaws.com/")[2]: one for url, one in files.items()}
    assert {name: (one.sha1, one.sha256, one.version_id, one.line) for name, one in ends.items()} == {
        "models/net/w.pth": (SHA1, None, "v1", 6),
        "models/mine/w.pth": (SHA1, None, "v2", 7),
        "stimulus_A_b.csv": (SHA1, None, "c", 8),
        "stimulus_A_b.zip": (SHA1, None, "z", 8),
        "assy_A.nc": (SHA1, None, "v3", 10),
        "https://example.org/w.bin": (None, SHA256, None, 11),
        "models/free.pth": (None, None, "v1", 12),
        "models/short.pth": (None, None, "v1", 13),
        "latest.pth": (SHA1, None, None, 15),
    }
    assert ends["models/mine/w.pth"].bucket == "brainscore-storage/models"
    assert ends["models/mine/w.pth"].url.startswith("https://brainscore-storage.s3.amazonaws.com/")
    findings = [one for one in examine(package) if one.check == "declared files"]
    assert [(one.severity, one.line) for one in findings] == [
        ("error", 12), ("error", 13), ("warning", 14), ("warning", 15)
    ]  # fmt: skip


def test_text_that_reads_otherwise_than_it_runs(found, model):
    code = "models/mine/model.py"
    assert only(found({**model, code: "# coding: utf-7\nx = 1\n"}), "encoding") == [("error", f"{code}:1")]
    assert only(found({**model, code: "# -*- coding: UTF-8 -*-\nx = 'ü'\n"}), "encoding") == []
    assert only(found({**model, code: "x = 1\ny = 'a\u202eb'\n"}), "encoding") == [("error", f"{code}:2")]


def test_programs_and_packages(found, model):
    code = {"models/mine/model.py": (
        "import os\n"
        "from os import system as run, path\n"
        "import subprocess as sp, torch\n"
        "os.system('ls')\n"
        "run('ls')\n"
        "sp.check_call(['python', '-m', 'pip', 'install', 'timm'])\n"
        "os.system('pip install timm')\n"
        "eval('1 + 1')\n"
        "model.eval()\n"
        "torch.compile(model)\n"
        "os.path.join('pip', 'install')\n"
    )}  # fmt: skip
    places = only(found({**model, **code}), "programs")
    assert [(severity, place.rpartition(":")[2]) for severity, place in places] == [
        ("warning", "3"), ("warning", "4"), ("warning", "5"), ("error", "6"), ("error", "7"), ("warning", "8")
    ]  # fmt: skip


@pytest.mark.parametrize("from_s3", [True, False])
@pytest.mark.parametrize("with_zip", [True, False])
def test_what_the_site_gives_to_be_copied(zipped, from_s3, with_zip):
    pytest.importorskip("django")
    from brainscore_web.uploads.plugin_code import Registration, Stored, copy_code

    def stored(name):
        return Stored("bucket/folder", f"v-{name}", SHA1, SHA256, f"https://example.org/data/{name}?version=1")

    code = copy_code(
        Registration(
            "Mine2026", "Mine2026", "NeuroidAssembly", stored("csv"), stored("zip") if with_zip else None, stored("nc"),
            from_s3=from_s3, private=not from_s3, site="https://example.org",
        )
    )  # fmt: skip
    test = "from brainscore_vision import load_dataset\n\n\ndef test_it():\n    load_dataset('Mine2026')\n"
    package = read_zip(zipped({"data/mine2026/__init__.py": code, "data/mine2026/test.py": test}))
    assert examine(package) == ()
    kinds = ["csv", *(["zip"] if with_zip else []), "nc"]
    declared = declared_files(package)
    if from_s3:
        names = {"csv": "stimulus_Mine2026.csv", "zip": "stimulus_Mine2026.zip", "nc": "assy_Mine2026.nc"}
        assert sorted((one.url.rpartition("/")[2], one.sha1, one.version_id, one.bucket) for one in declared) == sorted(
            (names[kind], SHA1, f"v-{kind}", "bucket/folder") for kind in kinds
        )
    else:
        assert sorted((one.url, one.sha1, one.sha256, one.bucket) for one in declared) == sorted(
            (f"https://example.org/data/{kind}?version=1", None, SHA256, "") for kind in kinds
        )


def test_stimuli_that_are_files_by_themselves(zipped, model):
    start = "from x import load_stimulus_set_from_url\n"
    rows = "[{'url': 'https://a.org/1.png', 'sha256': '" + SHA256 + "'}]"
    call = (
        "load_stimulus_set_from_url(identifier='a', csv_url='https://a.org/a.csv', csv_sha256='" + SHA256 + "', files="
    )
    model["models/mine/model.py"] = f"{start}{call}{rows})\n{call}rows())\n"
    package = read_zip(zipped(model))
    assert [one.url for one in declared_files(package)] == ["https://a.org/a.csv", "https://a.org/1.png"]
    assert [(one.severity, one.line) for one in examine(package) if one.check == "declared files"] == [("warning", 3)]


@pytest.mark.parametrize(
    "code",
    [
        "x" + ".a" * 900 + "()\n",
        "x" + ".a" * 900 + "[1] = 2\n",
        "f(" * 150 + "[" + "0, " * 20_000 + "]" + ")" * 150 + "\n",
        "x = [" + "0, " * 70_000 + "]\n",
        "x = [" + ", ".join(map(str, range(70_000))) + "]\n",
    ],
    ids=["deep calls", "deep subscripts", "deep and wide", "long", "large"],
)
def test_code_that_nobody_can_look_at(found, zipped, model, code):
    """It is an error of the submission, soon, and none of the site."""
    place = "models/mine/model.py"
    package = read_zip(zipped({**model, place: code}))
    assert [(one.severity, one.check, one.file) for one in package.findings] == [("error", "size", place)]
    assert place not in package.files
    assert examine(package) == ()


def test_all_of_it_is_too_much(zipped, model):
    more = {f"models/mine/part_{n}.py": "f()\n" * 20 for n in range(6)}
    parts = 6 * 3 * 20  # a statement, a call and a name a line
    with pytest.raises(UserError, match="too much Python"):
        read_zip(zipped({**model, **more}), limits=Limits(all_nodes=parts))
    assert Limits().all_nodes > 4 * Limits().nodes
    assert read_zip(zipped(more | model), limits=Limits(all_nodes=2 * parts)).findings == ()


def test_numbers_of_thousands_of_digits(found, model):
    """Python does not write them out; what is looked at is not the worse for it."""
    model["models/mine/model.py"] = "x[0x" + "f" * 5000 + "]()\n"
    assert [one for one in found(model) if one[0] == "error"] == []


def test_registrations_that_cannot_be_told(found, model):
    start = "models/mine/__init__.py"
    loops = "for a in range(5000):\n    for b in range(5000):\n        model_registry['mine'] = print\n"
    assert only(found({**model, start: model[start] + loops}), "registration") == [("error", start)]


def test_files_that_only_the_author_has(found, model):
    """Absolute paths, relative ones that depend on where Python is started, and those that lead out of the plugin."""
    code = (
        "import os\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "HERE = Path(__file__).parent\n"
        "a = np.load('/lab/share/stimuli.npy')\n"
        "b = open('table.csv')\n"
        "c = open(Path(__file__).parent / 'table.csv')\n"
        "d = open(Path(__file__).resolve().parent / 'forgotten.csv')\n"
        "e = Path(__file__).parents[2] / 'data' / 'mine2026'\n"
        "f = Path('notes.txt').read_text()\n"
        "g = Path.home() / 'stimuli'\n"
        "h = open(HERE / 'table.csv'), open(os.devnull), open('/dev/null'), np.load(HERE)\n"
        "i = Path(__file__).parent / '..' / 'other' / 'table.csv'\n"
        "j = open('out.csv', 'w')\n"
        "k = '/api' + '/', 'a/b', 'and/or', 'https://example.net/x/y'\n"
    )
    findings = found({**model, "models/mine/model.py": code, "models/mine/table.csv": "1,2\n"})
    told = {place.rpartition(":")[2]: message for _, kind, place, message in findings if kind in ("files", "paths")}
    assert set(told) == {"5", "6", "8", "9", "10", "11", "13"}
    assert told["8"] == "'forgotten.csv' is not among the files of the plugin"
    assert told["9"] == "the code uses 'data/mine2026' outside of its plugin"
    assert not [one for one in findings if one[0] == "error"]


def test_metadata_that_are_missing(found, model):
    """Fields that are left out, and those that readers look for and that are unknown."""
    metadata = (
        "from brainscore_vision import model_registry\n"
        "from brainscore_vision.model_helpers.metadata import ModelMetadata\n\n"
        "METADATA = {\n"
        "    'mine': ModelMetadata(architecture='net', parameters=1, training_data=None, source=None, famly='x')\n"
        "}\n\n"
        "model_registry['mine'] = lambda: None\n"
    )
    findings = [one for one in found({**model, "models/mine/__init__.py": metadata}) if one[1] == "metadata"]
    assert [(severity, message) for severity, _, _, message in findings] == [
        ("warning", "ModelMetadata has no field famly"),
        ("warning", "ModelMetadata lacks code_licence, weights_licence, bibtex"),
        ("note", "ModelMetadata does not state source"),
    ]


@pytest.mark.parametrize("name", ["Template2026-accuracy", "Template2026.IT-pls"])
def test_what_a_template_leaves_to_its_author(tmp_path, monkeypatch, name):
    """Each sentence that a template asks to replace is found until it is replaced; nothing else of it is a warning."""
    from brainscore.scaffold import write_plugin
    from brainscore_core.submission import read_folder
    from brainscore_core.submission.completeness import PLACEHOLDERS

    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    write_plugin("benchmark", name, root=tmp_path)
    for kind in ("metric", "model"):
        write_plugin(kind, "templated", root=tmp_path)
    findings = examine(read_folder(tmp_path), taken=lambda domain, registry, key: None)
    text = " ".join(" ".join(path.read_text().lower().split()) for path in tmp_path.rglob("*.py"))
    told = {one.remedy for one in findings}
    assert [phrase for phrase, remedy in PLACEHOLDERS.items() if phrase in text and remedy not in told] == []
    assert sum(one.check == "template" for one in findings) >= 8
    assert {one.check for one in findings if one.severity != "note"} == {"template"}
