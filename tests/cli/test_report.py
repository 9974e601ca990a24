import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from brainscore.cli.report import command
from brainscore.report import number, render_report, view_of
from brainscore_core.errors import UserError
from brainscore_core.scoring import (
    BenchmarkInfo,
    CeilingEstimate,
    ErrorInfo,
    Estimate,
    ModelInfo,
    Problem,
    Receipt,
    ResultsStore,
)

VOID = {"meta", "br", "path", "use", "rect", "hr", "img", "link"}


def receipt(model="model", benchmark="A2026-pls", value=0.5, *, control=False, ceiling=0.8, state="scored", **changes):
    fields = {
        "model": ModelInfo(identifier=model),
        "benchmark": BenchmarkInfo(identifier=benchmark, version=3, control=control, bibtex="@article{a & b}"),
        "state": state,
        "created": "2026-01-02T03:04:05.000006Z",
        "ceiling": CeilingEstimate(
            value=ceiling, error=0.01 if ceiling else None, meaning="reliability" if ceiling else "none"
        ),
    }
    if state == "scored":
        fields["score"] = Estimate(
            value=value, error=0.05, ci=(value - 0.1, value + 0.1), ci_level=0.95, ci_estimates="over neuroids",
            ci_method="bootstrap", scale="ceiled" if ceiling else "unceiled",
        )  # fmt: skip
        fields["raw"] = Estimate(value=value * 0.8, error=0.04)
    return Receipt(**(fields | changes)).identified()


def failed(model="broken", benchmark="A2026-pls"):
    error = ErrorInfo(type="ValueError", message="<b>boom</b>", traceback="Traceback …")
    return receipt(model, benchmark, state="failed", reason="ValueError: boom", error=error)


class Page(HTMLParser):
    """Checks that tags are closed, and collects the table's rows and the links."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.ids, self.links, self.scripts = [], [], set(), [], 0
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        self.scripts += tag == "script"
        if tag == "a":
            self.links.append(attrs["href"])
        for name in ("src", "href", "xlink:href"):
            assert attrs.get(name, "#").startswith("#"), f"{tag} {name}={attrs[name]}"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append("")

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "tr" in self.open:
            self.rows[-1] += f"{' '.join(data.split())}|" if data.strip() else ""


def test_numbers():
    assert number(0.12349, 0.0126) == "0.123 ± 0.013"
    assert number(-0.0001) == "0.000"
    assert number(None) == "–"
    assert number(12345.6, 4567.0) == "1.23e+04 ± 4.57e+03"


def test_groups_are_sorted_and_apart():
    view = view_of(
        [
            receipt("b", value=0.2),
            receipt("a", value=0.7),
            failed(),
            receipt("c", "B2026-rdm", ceiling=None),
            receipt("c", "C2026-pls", control=True),
        ]
    )
    assert [group.benchmark for group in view.ceiled] == ["A2026-pls"]
    assert [group.benchmark for group in view.unceiled] == ["B2026-rdm"]
    assert [group.benchmark for group in view.controls] == ["C2026-pls"]
    assert [row.model for row in view.ceiled[0].rows] == ["a", "b", "broken"]
    assert view.ceiled[0].ceiling == "0.800 ± 0.010, reliability of the measurements"
    assert view.ceiled[0].estimates == "over neuroids"
    assert view.unceiled[0].ceiling == "none"
    assert view.summary == "4 models, 3 benchmarks: 4 scored, 1 failed"


def test_the_page_is_whole_and_needs_nothing_else():
    view = view_of(
        [receipt("a"), receipt("b", state="not applicable", reason="records no IT"), failed(),
         receipt("c", "B2026-rdm", ceiling=None), receipt("c", "C2026-pls", control=True)],
        [Problem(Path("x.json"), "not valid JSON")],
    )  # fmt: skip
    text = render_report(view)
    page = Page(text)
    assert page.scripts == 0
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert {link.lstrip("#") for link in page.links} <= page.ids
    rows = "\n".join(page.rows)
    assert "a|0.500 ± 0.050|0.400 to 0.600|0.400 ± 0.040|" in rows
    assert "not applicable|: records no IT|" in rows
    assert "failed|: ValueError: boom|" in rows
    assert "x.json" in text
    assert text.index("C2026-pls") < text.index('id="receipts"')


def test_names_are_escaped_everywhere():
    nasty = "<script>alert('$x_1$')</script>\x07&\n"
    error = ErrorInfo(type="E", message=nasty, traceback=nasty)
    view = view_of(
        [
            receipt(nasty, nasty, notes=(nasty,)),
            receipt("b", nasty, state="failed", reason=nasty, error=error),
            receipt("_hidden", "模型"),
        ]
    )
    text = render_report(view)
    assert Page(text).scripts == 0
    assert "_hidden" in text


def test_the_same_receipts_give_the_same_page_in_any_order():
    receipts = [receipt(model, benchmark) for model in "abc" for benchmark in ("A2026-pls", "B2026-rdm")]
    assert render_report(view_of(receipts)) == render_report(view_of(receipts[::-1]))


def test_many_models_and_long_names():
    receipts = [receipt(f"model-{number:04d}-{'x' * 200}", value=number / 500) for number in range(500)]
    text = render_report(view_of(receipts))
    assert "and 488 more in the table" in text
    assert len(Page(text).rows) == 502


@pytest.mark.parametrize(
    "score",
    [
        Estimate(value=0.0),
        Estimate(value=-3.0, ci=(-900.0, 1e6)),
        Estimate(value=0.5, error=0.1, error_reason=None, ci_reason="too few subjects"),
    ],
)
def test_odd_numbers(score):
    text = render_report(view_of([receipt(score=score, raw=None, ceiling=None)]))
    assert "too few subjects" in text or score.ci_reason is None


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_the_command(tmp_path):
    store = ResultsStore(tmp_path / "results")
    store.write(receipt(value=0.1, created=""))
    store.write(receipt(value=0.7, created=""))
    store.write(receipt("other", created=""))
    (store.folder_of("model", "A2026-pls") / "broken.json").write_text("{")
    page, plot = tmp_path / "new" / "page.html", tmp_path / "new" / "plot.png"
    result = run("--results", store.folder, "--output", page, "--plot", plot, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"report": str(page), "plot": str(plot), "receipts": 2, "unreadable": 1}
    assert "broken.json" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "0.700 ± 0.050" in text
    assert "0.100 ± 0.050" not in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in page.parent.iterdir()} == {"page.html", "plot.png"}
    again = run("--results", store.folder, "--output", page, "--model", "other")
    assert "Report of 1 scores" in again.stdout


@pytest.mark.parametrize("arguments", [["--results", "nowhere"], ["--plot", "plot.xyz"]])
def test_what_the_command_refuses(tmp_path, arguments):
    with pytest.raises(UserError):
        run(*arguments, "--output", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_page_in_a_browser(tmp_path, need_program):
    import subprocess

    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(render_report(view_of([receipt("a"), failed()])), encoding="utf-8")
    chromium = [need_program("chromium"), "--headless", "--no-sandbox", "--disable-gpu"]
    chromium += [f"--user-data-dir={tmp_path / 'user'}", "--window-size=400,900", f"--screenshot={picture}"]
    subprocess.run([*chromium, page.as_uri()], check=True, capture_output=True, timeout=60)
    from PIL import Image

    with Image.open(picture) as image:
        assert len(image.convert("RGB").getcolors(1 << 20)) > 50
