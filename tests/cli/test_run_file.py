"""Files that hold a run."""

import pytest

from brainscore.cli.run import KEYS, read_run_file

pytest.importorskip("yaml", reason="needs PyYAML: pip install 'brainscore[cluster]'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: pixels\nbenchmark: X\n", "unknown key 'benchmark'\ndid you mean benchmarks?"),
        ("zzz: 1\n", "the keys are: models, benchmarks, results"),
        ("models: []\n", "No models"),
        ("workers: many\n", "Invalid value for '--workers'"),
        ("models: pixels\nbenchmarks: all:V1\nmax_memory: much\n", "is not a size"),
        ("isolated: maybe\n", "Invalid value for '--isolated'"),
        ("again: sometimes\n", "Invalid value for '--again'"),
        ("timeout: 0\n", "Invalid value for '--timeout'"),
        ("models: [pixels\nbenchmarks: x\n", "not valid YAML"),
        ("models: !!python/object:os.system x\n", "not valid YAML"),
        ("- pixels\n", "keys with values are needed"),
    ],
)
def test_a_mistake_in_a_file_is_named(cli, tmp_path, text, message):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    result = cli("run", "--file", str(file), "--dry-run")
    assert result.exit_code == 2
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
        "max_memory: 16GB\ngpus: 1\nisolated: true\ncage: true\nscheduler: tcp://10.0.0.1:8786\n"
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
        "max_memory": "16GB",
        "gpus": 1,
        "isolated": True,
        "sandbox": True,
        "scheduler": "tcp://10.0.0.1:8786",
        "slurm": str(tmp_path / "cluster.yaml"),
        "again": "all",
        "timeout": 600,
        "domain": "vision",
    }
    file.write_text("models: pixels\nresults: s3://bucket/results\n")
    assert read_run_file(file)["results"] == "s3://bucket/results"
