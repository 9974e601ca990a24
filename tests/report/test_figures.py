import base64
import io
import json
import math
import re
import sys
import xml.etree.ElementTree as ET

import pytest
from fontTools.ttLib import TTFont
from matplotlib.text import Text

from brainscore.report import (
    find_profiles,
    log_ends,
    rankings_of,
    report_of,
    table_text,
    write_figures,
    write_table,
)
from brainscore.report._report import layer_rows
from brainscore_core.errors import UserError
from brainscore_core.figures import Lines, Panel, Point, Scatter, Series, column_width, lines, panels
from brainscore_core.figures.export import STYLE, _drawn, _leaves, save_figure
from brainscore_core.scoring import ResultsStore
from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile, LayerScore


def profile(model="a", halves=True, benchmark="A2026.IT-pls"):
    scores = [
        LayerScore("early_1", 100, 0.2, 0.05, (0.1, 0.3), 0.16, ((0.1, 0.1), (0.1, 0.12)) if halves else ()),
        LayerScore("late", 50, 0.6, 0.05, (0.5, 0.7), 0.48, ((0.4, 0.5), (0.45, 0.4)) if halves else ()),
        LayerScore(
            "head",
            3,
            math.nan,
            math.nan,
            (math.nan, math.nan),
            math.nan,
            ((math.nan,) * 2,) * 2 if halves else (),
            "3 features",
        ),
    ]
    return LayerProfile(model, benchmark, "3", False, 8.0, 40, 0.8, 1000, tuple(scores))


@pytest.fixture(scope="module")
def report(simulated):
    return report_of(simulated.many())


@pytest.fixture(scope="module")
def few(simulated):
    wanted = {"MajajHong2015.IT-pls", "Kar2019-ost", "Own2026-accuracy"}
    receipts = [receipt for receipt in simulated.many() if receipt.benchmark.identifier in wanted]
    return report_of(receipts, profiles=[profile("simulated-alexnet")])


@pytest.mark.slow(reason="draws every figure")
def test_figures(few, tmp_path):
    files = write_figures(few, tmp_path / "one")
    names = {file.name for file in files}
    assert {"heat-map.png", "heat-map.svg", "scatter.svg", "layers-simulated-alexnet-A2026-IT-pls.png"} <= names
    assert "scores-MajajHong2015-IT-pls.svg" in names
    assert len(names) == 3 * (1 + 3 + 1 + 1)
    from PIL import Image

    for file in files:
        if file.suffix == ".png":
            with Image.open(file) as image:
                assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)
                width = image.width / 300 * 25.4
                assert any(width == pytest.approx(wanted, abs=0.2) for wanted in (85, 174)), file.name
        elif file.suffix == ".pdf":
            content = file.read_bytes()
            assert b"/FontFile2" in content  # letters are embedded, as outlines of TrueType
            assert b"/Type3" not in content
        else:
            text = file.read_text(encoding="utf-8")
            assert "<text" in text
    svg = (tmp_path / "one" / "heat-map.svg").read_text(encoding="utf-8")
    for name in ("simulated-resnet50", "Kar2019-ost", ".7"):
        assert name in svg
    again = write_figures(few, tmp_path / "two")
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]


def test_a_chosen_pair(few, tmp_path):
    files = write_figures(few, tmp_path, scatter=("MajajHong2015.IT-pls", "Kar2019-ost"))
    (file,) = (file for file in files if file.name.startswith("scatter") and file.suffix == ".svg")
    assert file.name == "scatter-MajajHong2015-IT-pls-Kar2019-ost.svg"
    assert "simulated-gabor" in file.read_text(encoding="utf-8")
    with pytest.raises(UserError, match="no model was scored on 'Nowhere'"):
        write_figures(few, tmp_path / "new", scatter=("Kar2019-ost", "Nowhere"))
    assert not (tmp_path / "new").exists()


@pytest.mark.slow(reason="draws every figure several times")
def test_figures_of_odd_names_and_of_few_and_many(simulated, tmp_path):
    nasty = "$x_1$ <b>\u202e/../\x07 \\frac{1}{0}"
    receipts = [simulated.receipt(nasty, nasty), simulated.receipt("b", nasty.upper())]
    files = write_figures(report_of(receipts), tmp_path / "odd")
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+\.(png|svg|pdf)", file.name) for file in files)
    assert len({file.name.lower() for file in files}) == len(files)
    lonely = write_figures(report_of([simulated.failed()]), tmp_path / "lonely")
    assert {file.stem for file in lonely} == {"heat-map"}
    assert write_figures(report_of([]), tmp_path / "none") == ()
    many = [simulated.receipt(f"model-{number:03}", value=number / 100) for number in range(90)]
    write_figures(report_of(many), tmp_path / "many")
    assert "and 35 more models" in (tmp_path / "many" / "scores-A2026-IT-pls.svg").read_text(encoding="utf-8")


def test_a_picture_shows_what_the_svg_contains(tmp_path):
    from PIL import Image

    chart = Scatter(
        points=[Point(x=x, y=x * x, label="", kind=kind) for kind, x in enumerate((0.1, 0.5, 0.9))],
        title="t", x_title="x", y_title="y",
    )  # fmt: skip
    svg = panels([[Panel(chart=chart, heading="one")], [Panel(chart=chart, heading="other")]], title="t")
    save_figure(svg, tmp_path / "new" / "figure.png", dpi=200)
    with Image.open(tmp_path / "new" / "figure.png") as image:
        picture = image.convert("RGB")
    root = ET.fromstring(svg)
    sides = [float(side) for side in root.get("viewBox").split()[2:]]
    assert picture.size == tuple(pytest.approx(side * 85 / 400 / 25.4 * 200, abs=1) for side in sides)
    scale = picture.width / sides[0]
    colours = [rule.removeprefix("fill: ") for rule in (STYLE[f"chart-kind-{kind}"] for kind in range(3))]
    namespace = "{http://www.w3.org/2000/svg}"
    found = []

    def colour(pixel):
        return f"#{bytes(pixel).hex()}"

    def look(element, left, top):
        place = re.search(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if place and "rotate" not in element.get("transform"):
            left, top = left + float(place[1]), top + float(place[2])
        if element.tag == f"{namespace}circle":
            at = (left + float(element.get("cx"))) * scale, (top + float(element.get("cy"))) * scale
            found.append(colour(picture.getpixel(tuple(round(one) for one in at))))
        for child in element:
            look(child, left, top)

    look(root, 0.0, 0.0)
    assert found == [colours[0]] * 2  # circles are of the first kind, one in each panel
    shown = {colour(one) for _, one in picture.getcolors(picture.width * picture.height)}
    assert shown >= {*colours, "#ffffff"}
    # texts: the headings leave dark pixels above the axes
    heading = picture.crop((0, 0, picture.width // 4, round(18 * scale)))
    assert min(heading.convert("L").tobytes()) < 60


def test_figures_are_svg_png_or_pdf(tmp_path):
    svg = panels([[Panel(chart=Scatter(points=[], title="t", x_title="x", y_title="y"))]], title="t")
    for name, start in (("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")):
        save_figure(svg, tmp_path / name)
        save_figure(svg, tmp_path / f"again-{name}")
        assert (tmp_path / name).read_bytes().startswith(start)
        assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    with pytest.raises(ValueError, match=r"a\.xyz"):
        save_figure(svg, tmp_path / "a.xyz")


def test_svg_files_contain_their_letters_and_pictures_texts_after_tooltips(tmp_path):
    names = Series(name="s", x=[f"long name {number}" for number in range(9)], y=[0.5] * 9)
    svg = lines(Lines(series=[names], title="t", x_title="", y_title="", width=column_width(114)))
    save_figure(svg, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert 'width="114mm"' in text
    (font,) = re.findall(r"data:font/woff;base64,([^)]*)", text)
    with TTFont(io.BytesIO(base64.b64decode(font))) as letters:
        assert {ord(letter) for letter in "long name 0.5"} <= letters.getBestCmap().keys()
    assert "long name 0" in {artist.get_text() for artist in _drawn(svg).findobj(Text)}
    with pytest.raises(ValueError, match="85, 114, 174 mm wide, not 100 mm"):
        column_width(100)


def test_no_text_is_below_six_points():
    sizes = [float(size) for rule in STYLE.values() for size in re.findall(r"font-size: ([0-9.]+)px", rule)]
    assert min(sizes) * 85 / 400 / 25.4 * 72 >= 6


def test_transformations_apply_from_the_last_to_the_first():
    turned = '<g transform="translate(10 20) rotate(-90)"><path class="chart-grid" d="M0 0L4 2"/></g>'
    root = ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{turned}</svg>')
    ((_, properties, matrix, angle),) = _leaves(root)
    assert properties["stroke-width"] == "1"
    assert matrix.transform((4, 2)) == pytest.approx((12, 16))
    assert angle == -90


def test_latex(report):
    text = table_text(report, ".tex")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == text.count(r"\bottomrule")
    for line in text.splitlines():
        if line.endswith(r"\\"):
            assert line.count(" & ") in (1, 2, 3, 4)
    assert r"\textbf{" in text
    assert re.search(r"0\.\d{3} \(0\.\d{3}--0\.\d{3}\)", text)
    assert not re.search(r"(?<!\\)[_%#]", text)


def test_markdown(report):
    text = table_text(report, ".md")
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 3 + 3 + 1 + 1
    for block in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
        assert "**" in block
    assert "not applicable" in text


def test_the_best_is_bold_with_what_equals_it_in_print(simulated):
    receipts = [simulated.receipt(model, value=value) for model, value in (("a", 0.50004), ("b", 0.5), ("c", 0.4))]
    text = table_text(report_of(receipts, tree=simulated.small_tree()), ".md")
    bold = [line for line in text.splitlines() if "**0.500 (0.400–0.600)**" in line]
    assert [line.split(" | ")[0] for line in bold] == ["| a", "| b"]


@pytest.mark.parametrize("ending", [".tex", ".md"])
def test_names_are_escaped_in_tables(simulated, tmp_path, ending):
    nasty = "a_b & c % $x$ # {y} ~ ^ \\input{x} | `code` <script> \"q\" 'q' *b* [l](x)\n\u202e"
    path = tmp_path / f"table{ending}"
    write_table(report_of([simulated.receipt(nasty, nasty), simulated.receipt("plain", nasty)]), path)
    text = path.read_text(encoding="utf-8")
    assert "\u202e" not in text
    assert "<script>" not in text
    if ending == ".tex":
        assert r"\input{x}" not in text
        assert not re.search(r"(?<!\\)[%#_]", text)
    else:
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")} == {3}


def test_other_endings_are_refused(report, tmp_path):
    with pytest.raises(UserError, match="xlsx"):
        write_table(report, tmp_path / "table.xlsx")


def keep(folder, number, profile_):
    file = folder / f"{number:02}" / f"{number:02}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"schema": 1} | profile_.to_dict()))


def test_profiles_are_found(tmp_path):
    keep(tmp_path, 1, profile("a", halves=False))
    keep(tmp_path, 2, profile("a"))
    keep(tmp_path, 3, profile("stranger"))
    keep(tmp_path, 4, profile("a", benchmark="B2026.V1-pls"))
    (tmp_path / "02" / "broken.json").write_text("{")
    found = find_profiles({"a", "b"}, tmp_path)
    assert [(one.model, one.benchmark) for one in found] == [("a", "A2026.IT-pls"), ("a", "B2026.V1-pls")]
    assert found[0].held_out is not None
    assert find_profiles({"a"}, tmp_path / "nowhere") == ()


def test_layers_on_the_page(simulated):
    from brainscore.report import render_report

    text = render_report(report_of([simulated.receipt("a")], profiles=[profile()]))
    assert "late</bdi>" in text
    assert "Held-out score" in text
    rows = layer_rows(profile())["rows"]
    assert [row["best"] for row in rows] == [False, True, False]
    assert rows[1]["score"].endswith("(0.500–0.700)")
    assert rows[2]["reason"] == "3 features"


def test_log_ends(simulated, tmp_path):
    store = ResultsStore(tmp_path / "results")
    kept = store.write(simulated.failed(), {"log": "x" * 10_000 + "the end"})
    lost = store.write(simulated.failed("other"), {"log": "gone"})
    silent = store.write(simulated.failed("third"))
    store.attachment_path(lost, "log").unlink()
    ends = log_ends(store, [kept, lost, silent, simulated.receipt()])
    assert set(ends) == {kept.id, lost.id}
    assert ends[kept.id].endswith("xthe end")
    assert len(ends[kept.id]) < 4000
    assert "is missing" in ends[lost.id]


def test_ranks_are_shown_and_decide_what_is_bold(simulated, tmp_path):
    from dataclasses import replace

    from brainscore.report import render_report
    from brainscore_core.statistics.comparison import RankedModel, Ranking

    receipts = [simulated.receipt(model, value=value) for model, value in (("a", 0.5), ("b", 0.48), ("c", 0.2))]
    report = report_of(receipts, tree=simulated.small_tree())
    ranked = [
        RankedModel(model=model, score=0.5, rank=rank, best=best, worst=worst, groups=groups)
        for model, rank, best, worst, groups in (("a", 1, 1, 2, "a"), ("b", 2, 1, 2, "a"), ("c", 3, 3, 3, "b"))
    ]
    ranking = Ranking(benchmark="A2026.IT-pls", models=tuple(ranked), left_out={}, level=0.95, simultaneous=True)
    report = replace(report, rankings={"A2026.IT-pls": ranking})
    text = render_report(report)
    assert "2<small>1 to 2, a</small>" in text
    assert "all intervals together contain the true ranks with a confidence of 95" in text
    scores = table_text(report, ".md").split("Scores relative")[1]
    bold = [line for line in scores.splitlines() if "**" in line]
    assert [line.split(" | ")[0] for line in bold] == ["| a", "| b"]


def test_ranks_come_from_the_store_that_the_report_shows(simulated, tmp_path):
    store = ResultsStore(tmp_path)
    receipts = [store.write(simulated.receipt(model, value=value)) for model, value in (("a", 0.5), ("b", 0.4))]
    report = report_of([*receipts, store.write(simulated.receipt("a", "Alone2026-rdm"))])
    found = rankings_of(report, store)
    assert set(found) == {"A2026.IT-pls"}
    # nothing is stored that could tell the two apart
    assert [(one.model, one.rank, one.best, one.worst) for one in found["A2026.IT-pls"].models] == [
        ("a", 1, 1, 2),
        ("b", 2, 1, 2),
    ]
    store.write(simulated.receipt("a", value=0.9, created="2027-01-01T00:00:00.000000Z"))
    assert rankings_of(report, store) == {}


def test_pictures_need_matplotlib_and_svg_does_not(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10mm" height="10mm" viewBox="0 0 10 10"></svg>'
    save_figure(svg, tmp_path / "figure.svg", dpi=100)
    with pytest.raises(UserError, match="PNG by matplotlib, which is not installed"):
        save_figure(svg, tmp_path / "figure.png", dpi=100)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]
