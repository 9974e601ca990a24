"""``brainscore info``."""

import json

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
