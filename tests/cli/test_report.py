import json

import pytest
from click.testing import CliRunner

from brainscore.cli.report import command
from brainscore_core.errors import UserError
from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore


def receipt(model="model", benchmark="A2026-pls", value=0.5):
    return Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark, version=4),
        state="scored",
        score=Estimate(value=value, error=0.05, ci=(value - 0.1, value + 0.1), ci_level=0.95),
    )


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def store(tmp_path):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(value=0.1))
    store.write(receipt(value=0.7))
    store.write(receipt("other"))
    store.write(receipt("other", "MajajHong2015.IT-pls", 0.4))
    return store


def test_the_command(store, tmp_path):
    (store.folder_of("model", "A2026-pls") / "broken.json").write_text("{")
    page, plot = tmp_path / "new" / "page.html", tmp_path / "new" / "plot.png"
    result = run("--results", store.folder, "--output", page, "--plot", plot, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told == {
        "report": str(page), "plot": str(plot), "table": None, "figures": [], "receipts": 3, "unreadable": 1,
        "assessed": 0,
    }  # fmt: skip
    assert "broken.json" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "0.700 (0.600–0.800)" in text
    assert "0.100 (0.000–0.200)" not in text
    assert "broken.json" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in page.parent.iterdir()} == {"page.html", "plot.png"}


def test_stages_are_shown(store, tmp_path, caplog):
    with caplog.at_level("INFO", "brainscore_core.progress"):
        run(store.folder, "--output", tmp_path / "page.html", "--ranks")
    stages = [f"reading {store.folder}", "report of 4 receipts", "ranking the models", "comparing models"]
    assert caplog.messages == ["starting", *stages]


def test_assessments_beside_the_receipts(store, tmp_path):
    assessments = AssessmentStore(store)
    audit = Assessment(
        part="audit",
        benchmark=Used(kind="benchmark", identifier="A2026-pls", version=4),
        state="assessed",
        result={"stimuli": 90},
    )
    stored = assessments.write(audit)
    page = tmp_path / "page.html"
    result = run(store.folder, "--output", page, "--json")
    assert json.loads(result.stdout)["assessed"] == 1
    assert "No problem was found in 90 stimuli." in page.read_text(encoding="utf-8")
    (store.folder / ".assessments" / "A2026-pls" / "audit" / "broken.json").write_text("{")
    result = run(store.folder, "--output", page)
    assert "an assessment cannot be read" in result.stderr
    assert stored.created[:10] in page.read_text(encoding="utf-8")


def test_the_place_of_the_results(store, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    assert "Report of 3 scores" in run(store.folder, "--output", page).stdout
    monkeypatch.setenv("BRAINSCORE_RESULTS", str(store.folder))
    assert "Report of 3 scores" in run("--output", page).stdout
    with pytest.raises(UserError, match=r"as an argument .* and as --results"):
        run(store.folder, "--results", tmp_path, "--output", page)


def test_a_choice_of_models_and_benchmarks(store, tmp_path):
    page = tmp_path / "page.html"
    assert "Report of 2 scores" in run(store.folder, "--output", page, "--model", "other").stdout
    assert "Only models other." in page.read_text(encoding="utf-8")
    assert (
        "Report of 1 score:" in run(store.folder, "--output", page, "--benchmark", "Majaj*", "--benchmark", "X").stdout
    )
    text = page.read_text(encoding="utf-8")
    assert "1 of 1" in text  # the mean is over what was chosen
    assert "model</bdi>" not in text


def test_figures_and_tables(store, tmp_path):
    result = run(
        store.folder, "--output", tmp_path / "page.html", "--figures", tmp_path / "figures",
        "--table", tmp_path / "scores.tex", "--scatter", "A2026-pls", "MajajHong2015.IT-pls", "--over", "scored",
    )  # fmt: skip
    assert "Figures: 12 files" in result.stdout
    assert (tmp_path / "figures" / "scatter-A2026-pls-MajajHong2015-IT-pls.svg").is_file()
    assert "What has no score is left out" in (tmp_path / "scores.tex").read_text(encoding="utf-8")
    assert "What has no score is left out" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--results", "nowhere"],
        ["--plot", "plot.xyz"],
        ["--table", "table.xlsx"],
        ["--model", "nobody"],
        ["--scatter", "A2026-pls", "MajajHong2015.IT-pls"],
    ],
)
def test_what_the_command_refuses(store, tmp_path, monkeypatch, arguments):
    monkeypatch.setenv("BRAINSCORE_RESULTS", str(store.folder))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError):
        run(*arguments, "--output", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_results_in_a_bucket(s3_server, tmp_path):
    boto3 = pytest.importorskip("boto3", reason="needs boto3: pip install 'brainscore[s3]'")
    boto3.client("s3").create_bucket(Bucket="results")
    ResultsStore("s3://results/lab").write(receipt())
    page = tmp_path / "page.html"
    assert "Report of 1 score:" in run("s3://results/lab", "--output", page).stdout
    assert "0.500 (0.400–0.600)" in page.read_text(encoding="utf-8")
