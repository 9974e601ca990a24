"""Files that hold a run."""

import pytest

from brainscore.cli.run import KEYS, read_run_file

pytest.importorskip("yaml", reason="needs PyYAML: pip install 'brainscore[cluster]'")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("models: pixels\nbenchmark: X\n", 2, "unknown key 'benchmark'\ndid you mean benchmarks?"),
        ("zzz: 1\n", 1, "the keys are: models, benchmarks, results"),
        ("models: pixels\nmodels: gabor\n", 2, "'models' is already on line 1"),
        ("models:\n  - pixels\n  - 3\n", 3, "'models' must be a name or a list of names"),
        ("models: []\n", 1, "a name or a list of names"),
        ("workers: many\n", 1, "'workers' must be a whole number of at least 1"),
        ("workers: true\n", 1, "whole number"),
        ("models: pixels\nmax_memory: much\n", 2, "'max_memory' must be a size such as 8GB"),
        ("isolated: maybe\n", 1, "'isolated' must be true or false"),
        ("again: sometimes\n", 1, "failed, none or all"),
        ("timeout: 0\n", 1, "a number of seconds above 0"),
        ("models: [pixels\nbenchmarks: x\n", 2, "not valid YAML"),
        ("models: !!python/object:os.system x\n", 1, "not valid YAML"),
        ("- pixels\n", 1, "keys with values are needed"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(cli, tmp_path, text, line, message):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    result = cli("run", "--file", str(file), "--dry-run")
    assert result.exit_code == 2
    assert f"{file}:{line}: " in result.stderr
    assert message in result.stderr


def test_an_empty_file_and_one_without_benchmarks(cli, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("# nothing\n")
    assert "is empty" in cli("run", "--file", str(file)).stderr
    file.write_text("models: pixels\n")
    assert "No benchmarks" in cli("run", "--file", str(file)).stderr


def test_a_file_says_everything(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "models: [pixels, net.py:make, mine=nets/a.py:make]\nbenchmarks: all:V1\nresults: out\nworkers: 4\n"
        "max_memory: 16GB\ngpus: 1\nisolated: true\nsandbox: true\ncage: true\nscheduler: tcp://10.0.0.1:8786\n"
        "slurm: cluster.yaml\n"
        "again: all\ntimeout: 600\ndomain: vision\n"
    )
    found = read_run_file(file)
    assert set(found) == set(KEYS)
    assert found == {
        "models": ["pixels", f"{tmp_path}/net.py:make", f"mine={tmp_path}/nets/a.py:make"],
        "benchmarks": ["all:V1"],
        "results": str(tmp_path / "out"),
        "workers": 4,
        "max_memory": "16000000000",
        "gpus": 1,
        "isolated": True,
        "sandbox": True,
        "cage": True,
        "scheduler": "tcp://10.0.0.1:8786",
        "slurm": str(tmp_path / "cluster.yaml"),
        "again": "all",
        "timeout": 600.0,
        "domain": "vision",
    }
    file.write_text("models: pixels\nresults: s3://bucket/results\n")
    assert read_run_file(file)["results"] == "s3://bucket/results"
