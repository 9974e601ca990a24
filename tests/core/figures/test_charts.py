"""Charts are read back as XML and compared with what they were drawn from."""

import math
import re
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainscore_core
from brainscore_core.figures import (
    HEAT,
    CellState,
    Dots,
    DotsRow,
    HeatMap,
    Lines,
    Mark,
    Matrix,
    MatrixGroup,
    Panel,
    Point,
    Scatter,
    Series,
    dots_with_intervals,
    heat_map,
    lines,
    matrix,
    panels,
    scatter,
    standalone,
)
from brainscore_core.figures.axes import clipped, text_width
from brainscore_core.figures.export import STYLE

SVG = "{http://www.w3.org/2000/svg}"
NAN = math.nan
CSS = Path(brainscore_core.__file__).parent / "identity/charts.css"
NASTY = "<b>\"A\" & 'B'</b> \x00\x1b ]]> é"


def parsed(svg):
    return ET.fromstring(str(svg))


def classed(root, name):
    return [one for one in root.iter() if name in one.get("class", "").split()]


def centre(mark):
    if mark.tag == f"{SVG}circle":
        return float(mark.get("cx")), float(mark.get("cy"))
    if mark.tag == f"{SVG}rect":
        return tuple(float(mark.get(a)) + float(mark.get(b)) / 2 for a, b in (("x", "width"), ("y", "height")))
    raise AssertionError(mark.tag)


def ends(path):
    return [float(part) for part in re.findall(r"-?[0-9.]+", path.get("d"))]


def titles(root):
    return [
        one.find(f"{SVG}title").text
        for one in root.iter()
        if one.get("class", "").startswith("chart ") is False and one.find(f"{SVG}title") is not None
    ]


def heat(rows, columns, values, **options):
    states = np.where(np.isnan(values), "failed", "").astype(object)
    states[-1:, -1:] = "missing"
    kinds = {
        "failed": CellState(name="did not work", letter="F", pattern="rising"),
        "missing": CellState(name="missing", letter="", pattern="dots"),
        "unused": CellState(name="unused", letter="U", pattern="falling"),
    }
    return HeatMap(rows=rows, columns=columns, values=values, states=states, state_kinds=kinds, title="t", **options)


def one_of_each():
    points = [
        Point(
            x=i / 10,
            y=1 - i / 10,
            x_low=i / 10 - 0.01,
            x_high=i / 10 + 0.01,
            y_low=0.1,
            y_high=0.9,
            label=NASTY,
            href=f"/m/{i}?a=1&b=2",
            kind=i,
            name=f"m{i}",
        )
        for i in range(9)
    ]
    rows = [
        DotsRow(label=NASTY, heading=True),
        DotsRow(
            label="A" * 80,
            value=0.5,
            low=0.4,
            high=0.7,
            text="0.500",
            href="/b",
            kind=4,
            marks=[Mark(value=0.9, kind="best"), Mark(value=0.3, kind="median"), Mark(value=1, kind="ceiling")],
        ),
        DotsRow(label="B", text="failed", indent=2),
    ]
    values = np.linspace(-1, 1, 9).reshape(3, 3)
    values[0, 1] = NAN
    large = np.clip(np.add.outer(np.arange(60), -np.arange(60)) / 60, -1, 1)
    large[0, 5] = NAN
    layers = Series(name="IT", x=["a", "b", "c"], y=[0.1, NAN, 0.3], low=[0, 0, 0.2], high=[0.2, 1, 0.4])
    history = Series(name=NASTY, x=[date(2024, 1, 1), date(2025, 6, 1)], y=[0.2, 0.4], hrefs=["/s/1", None])
    return {
        "scatter": scatter(
            Scatter(points=points, title=NASTY, x_title="x", y_title="y", kinds=list("abcdefgh"), identity=True)
        ),
        "dots": dots_with_intervals(
            Dots(rows=rows, title="t", x_title="x", reference=0.0, kinds=("a", "", "", "", "b"))
        ),
        "matrix": matrix(
            Matrix(labels=["A", NASTY, "C"], values=values, title="t", counts=np.ones((3, 3)), hrefs=["/a", None, None])
        ),
        "large": matrix(
            Matrix(
                labels=[f"n{i}" for i in range(60)],
                values=large,
                title="t",
                groups=[MatrixGroup("V1", 0, 20), MatrixGroup("IT", 20, 60)],
            )
        ),
        "lines": lines(
            Lines(series=[layers], title="t", x_title="x", y_title="y", highlight=(0, 2), reference=(0.5, "ceiling"))
        ),
        "heat": heat_map(heat(["A", NASTY], ["V1", "IT", "V4"], [[0.1, NAN, 0.9], [NAN, NAN, NAN]])),
        "panels": panels(
            [
                [Panel(chart=Dots(rows=rows, title="t", x_title="x", ceiling=1.0), heading=NASTY, notes=["n = 1"])],
                [Panel(chart=Scatter(points=points, title="t", x_title="x", y_title="y"))],
            ],
            title="t",
        ),
        "history": lines(Lines(series=[history, history], title="t", x_title="x", y_title="y")),
    }


@pytest.mark.parametrize("kind", ["scatter", "dots", "matrix", "large", "lines", "history", "heat", "panels"])
def test_each_chart_is_xml_named_unstyled_and_the_same_each_time(kind):
    svg = one_of_each()[kind]
    root = parsed(svg)
    assert svg == one_of_each()[kind]
    names = {one.get("id"): one for one in root.iter() if one.get("id")}
    assert names[root.get("aria-labelledby")].tag == f"{SVG}title"
    assert names[root.get("aria-describedby")].tag == f"{SVG}desc"
    links = list(root.iter(f"{SVG}a"))
    assert root.get("role") == ("group" if links else "img")  # an image has no parts that could be links
    assert not [one for one in root.iter() if one.get("style")]
    assert "<style" not in svg
    assert "nan" not in re.sub(r">[^<]*<", "><", svg).lower()
    assert not re.search(r'[ "(]-0[" )LMhv]', svg)


@pytest.mark.parametrize("kind", ["scatter", "dots", "matrix", "large", "lines", "history", "heat", "panels"])
def test_each_class_has_colours_on_the_page_and_in_files(kind):
    used = {name for one in parsed(one_of_each()[kind]).iter() for name in one.get("class", "").split()}
    css = CSS.read_text(encoding="utf-8")
    groups = {"chart-points", "chart-errors", "chart-cells", "chart-series"}
    shape = {"chart-scatter", "chart-dots", "chart-matrix", "chart-lines", "chart-large", "chart-heat", "chart-panels"}
    assert used - groups - shape <= STYLE.keys()
    for name in used - groups - shape:
        assert re.search(rf"\.{name}(?![\w-])", css), name


def test_files_have_the_colours_of_the_page_in_light():
    css = CSS.read_text(encoding="utf-8")
    assert set(re.findall(r"var\((--chart-[\w-]+)\)", css)) == set(re.findall(r"(--chart-[\w-]+):", css))
    for name, colour in re.findall(r"--(chart-(?:cell|kind)-\w+): light-dark\((#\w+),", css):
        assert colour in STYLE[name], name


def _luminance(colour):
    parts = [part / 255 for part in bytes.fromhex(colour[1:])]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_marks_can_be_told_from_what_is_behind_them(scheme):
    css = CSS.with_name("colours.css").read_text(encoding="utf-8") + CSS.read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", css)
    of = {name: light if scheme == "light" else dark for name, light, dark in pairs}
    values = np.linspace(-1, 1, 41)
    grid = np.resize(values, (7, 7))
    texts, cells = [], []
    for start in range(0, 41, 7):  # numbers are written in matrices of up to eight rows
        grid = np.resize(np.roll(values, -start), (7, 7))
        root = parsed(matrix(Matrix(labels=list("abcdefg"), values=grid, title="t")))
        texts += ["strong" in one.get("class") for one in classed(root, "chart-cell-text")]
        cells += [one.find(f"{SVG}rect").get("class") for one in classed(root, "chart-cells")[0]]
    assert len(set(cells)) == 41
    for cell, strong in zip(cells, texts, strict=True):
        assert _contrast(of[cell], of["chart-on-strong" if strong else "ink"]) >= 4.5, cell
    for kind in range(8):
        assert _contrast(of[f"chart-kind-{kind}"], of["paper"]) >= 3
    for text in ("ink", "quiet", "accent", "good", "warn", "bad"):
        assert min(_contrast(of[text], of[back]) for back in ("paper", "surface", "accent-surface")) >= 4.5, text
    for state in ("good", "warn", "bad"):
        assert _contrast(of[state], of[f"{state}-surface"]) >= 4.5, state
    assert _contrast(of["on-accent"], of["accent"]) >= 4.5
    assert _contrast(of["strong-line"], of["paper"]) >= 3


def test_points_stand_where_their_values_are():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    points = [
        Point(x=a, y=b, label=f"p{i}", x_low=a - 0.2, x_high=a + 0.1, y_low=b - 0.3, y_high=b + 0.2)
        for i, (a, b) in enumerate(zip(x, y, strict=True))
    ]
    points.insert(7, Point(x=NAN, y=0.0, label="none"))
    root = parsed(scatter(Scatter(points=points, title="t", x_title="x", y_title="y")))
    marks = np.array([centre(mark) for mark in classed(root, "chart-mark")])
    assert len(marks) == 30
    for values, places, sign in ((x, marks[:, 0], 1), (y, marks[:, 1], -1)):
        slope, offset = np.polyfit(values, places, 1)
        assert np.sign(slope) == sign
        np.testing.assert_allclose(slope * values + offset, places, atol=0.06)
    slope, offset = np.polyfit(x, marks[:, 0], 1)
    across = [ends(path) for path in classed(root, "chart-error")][::2]
    np.testing.assert_allclose([one[0] for one in across], slope * (x - 0.2) + offset, atol=0.12)
    np.testing.assert_allclose([one[2] for one in across], slope * (x + 0.1) + offset, atol=0.12)
    ticks = [one for one in classed(root, "chart-tick") if "chart-middle" in one.get("class")]
    for tick in ticks:
        assert float(tick.get("x")) == pytest.approx(slope * float(tick.text.replace("−", "-")) + offset, abs=0.12)


def test_identity_joins_equal_values():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 20)
    y = 0.5 * x + 0.2 + rng.normal(0, 0.05, 20)
    points = [Point(x=a, y=b, label="p") for a, b in zip(x, y, strict=True)]
    root = parsed(scatter(Scatter(points=points, title="t", x_title="x", y_title="y", identity=True)))
    marks = np.array([centre(mark) for mark in classed(root, "chart-mark")])
    of_x, of_y = np.polyfit(marks[:, 0], x, 1), np.polyfit(marks[:, 1], y, 1)

    def values(name):
        x1, y1, x2, y2 = ends(classed(root, name)[0])
        return np.polyval(of_x, [x1, x2]), np.polyval(of_y, [y1, y2])

    at_x, at_y = values("chart-identity")
    np.testing.assert_allclose(at_x, at_y, atol=2e-3)


def test_names_stand_apart_and_links_lead_on():
    points = [Point(x=0.5 + i * 1e-4, y=0.5, label=f"p{i}", name=f"a long name {i}", href=f"/m/{i}") for i in range(20)]
    root = parsed(scatter(Scatter(points=points, title="t", x_title="x", y_title="y")))
    assert [one.get("href") for one in root.iter(f"{SVG}a")] == [f"/m/{i}" for i in range(20)]
    boxes = [(float(n.get("x")), float(n.get("y")), text_width(n.text, 11)) for n in classed(root, "chart-name")]
    assert 1 <= len(boxes) < 20
    for i, (x, y, width) in enumerate(boxes):
        for other_x, other_y, other_width in boxes[:i]:
            assert x >= other_x + other_width or other_x >= x + width or abs(y - other_y) >= 11


def test_forms_tell_kinds_apart_without_colour():
    points = [Point(x=i, y=i, label="p", kind=i) for i in range(8)]
    root = parsed(scatter(Scatter(points=points, title="t", x_title="x", y_title="y", kinds=list("abcdefgh"))))
    marks = [m for g in classed(root, "chart-points") for m in classed(g, "chart-mark")]
    hollow = {4, 5, 7}
    forms = [
        (m.tag, re.sub(r"[0-9.-]+ [0-9.-]+", "", m.get("d", ""), count=1), i in hollow) for i, m in enumerate(marks)
    ]
    assert len(set(forms)) == 8
    assert [one.text for one in classed(root, "chart-legend")] == list("abcdefgh")


def test_rows_of_dots_stand_where_their_values_are():
    values = [0.1, 0.9, NAN, -0.4]
    rows = [
        DotsRow(
            label=f"r{i}",
            value=v,
            low=v - 0.1,
            high=v + 0.2,
            text="" if v == v else "failed",
            marks=[Mark(value=0.5, kind="median")],
        )
        for i, v in enumerate(values)
    ]
    root = parsed(dots_with_intervals(Dots(rows=rows, title="t", x_title="x", reference=0.0)))
    marks = [centre(mark) for mark in classed(root, "chart-mark")]
    there = [v for v in values if v == v]
    slope, offset = np.polyfit(there, [x for x, _ in marks], 1)
    np.testing.assert_allclose(np.polyval([slope, offset], there), [x for x, _ in marks], atol=0.06)
    for bar, value in zip(classed(root, "chart-bar"), there, strict=True):
        np.testing.assert_allclose(
            [ends(bar)[0], ends(bar)[2]], [slope * (value + d) + offset for d in (-0.1, 0.2)], atol=0.11
        )
    medians = [m for m in classed(root, "chart-median") if ends(m)[0] > 50]
    np.testing.assert_allclose([ends(m)[0] for m in medians], slope * 0.5 + offset, atol=0.11)
    assert ends(classed(root, "chart-reference")[0])[0] == pytest.approx(offset, abs=0.11)
    assert [y for _, y in marks] == sorted(y for _, y in marks)
    assert "failed" in [one.text for one in classed(root, "chart-tick")]
    assert [one.text for one in classed(root, "chart-row-label")] == ["r0", "r1", "r2", "r3"]


def test_ceiling_and_state_stand_beside_the_dots():
    rows = [DotsRow(label="A", value=0.5), DotsRow(label="B", state="failed")]
    root = parsed(dots_with_intervals(Dots(rows=rows, title="t", x_title="x", reference=0.0, ceiling=1.0)))
    (zero,), (_, one) = classed(root, "chart-reference"), classed(root, "chart-identity")  # the first is the legend's
    zero, one = ends(zero)[0], ends(one)[0]
    (dot,) = classed(root, "chart-mark")
    assert centre(dot)[0] == pytest.approx((zero + one) / 2, abs=0.1)
    (state,) = (text for text in root.iter(f"{SVG}text") if text.text == "failed")
    assert zero < float(state.get("x")) < float(state.get("x")) + text_width("failed", 11) < one
    rows = [DotsRow(label="A", state="reason " * 50)]
    long = parsed(dots_with_intervals(Dots(rows=rows, title="t", x_title="x", width=300)))
    (state,) = (text for text in long.iter(f"{SVG}text") if "…" in text.text)
    assert float(state.get("x")) + text_width(state.text, 11) <= 300


def test_cells_of_a_heat_map_have_colours_patterns_and_texts():
    root = parsed(heat_map(heat(["A", "B"], ["V1", "IT", "V4"], [[0.1, NAN, 0.9], [-0.2, 2.0, NAN]])))
    (cells,) = classed(root, "chart-cells")
    found = {cell.find(f"{SVG}title").text: cell for cell in cells}
    assert list(found) == [
        "A × V1: .10",
        "A × IT: did not work",
        "A × V4: .90",
        "B × V1: −.20",
        "B × IT: 2.00",
        "B × V4: missing",
    ]
    fills = [cell.find(f"{SVG}rect").get("fill") for cell in cells if cell.find(f"{SVG}rect") is not None]
    assert fills == [HEAT[1], HEAT[10], HEAT[0], HEAT[11]]
    assert found["A × IT: did not work"].find(f"{SVG}text").text == "F"
    lines_, dots = (found[name].find(f"{SVG}path").get("d") for name in ("A × IT: did not work", "B × V4: missing"))
    assert lines_ != dots
    legend = [text.text for text in root.iter(f"{SVG}text") if text.text in {"did not work", "missing", "unused"}]
    assert legend == ["did not work", "missing"]


def test_groups_of_a_heat_map_stand_apart_and_many_names_are_left_out():
    def lefts(**options):
        root = parsed(heat_map(heat(["A"], ["a", "b", "c"], [[0.1, 0.2, 0.3]], **options)))
        return [float(cell.find(f"{SVG}rect").get("x")) for cell in classed(root, "chart-cells")[0]]

    even, apart = lefts(), lefts(dividers=[2])
    assert np.diff(even)[0] == pytest.approx(np.diff(even)[1], abs=0.1)
    assert np.diff(apart)[1] > np.diff(apart)[0] + 3
    values = np.linspace(0, 1, 200 * 60).reshape(200, 60)
    large = heat_map(
        heat(
            [f"r{i}" for i in range(200)],
            [f"c{i}" for i in range(60)],
            values,
            row_title="200 rows",
            column_title="60 columns",
        )
    )
    root = parsed(large)
    assert {text.text for text in root.iter(f"{SVG}text")} >= {"200 rows", "60 columns"}
    assert "r7" not in large
    area = sum(float(h) * float(v) for h, v in re.findall(r"h([0-9.]+)v([0-9.]+)h", large))
    sides = [float(side) for side in root.get("viewBox").split()[2:]]
    assert 0.8 * sides[0] * sides[1] < area < sides[0] * sides[1]
    assert len(large) < 200_000


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="labels of"):
        heat_map(heat(["A"], ["a", "b"], np.zeros((2, 2))))


def test_panels_do_not_overlap():
    def panel(width, heading="", **options):
        chart = Scatter(points=[], title="t", x_title="x", y_title="y", width=width, height=200)
        return Panel(chart=chart, heading=heading, **options)

    root = parsed(panels([[panel(300, "first", notes=["a", "b"])], [panel(200), panel(250)]], title="t"))
    assert root.get("viewBox") == "0 0 550 460"
    groups = [one for one in root if one.tag == f"{SVG}g"]
    assert [one.get("transform") for one in groups] == ["translate(0 0)", "translate(0 260)", "translate(300 260)"]


@pytest.mark.parametrize("n", [5, 60])
def test_cells_have_the_colours_of_their_values(n):
    rng = np.random.default_rng(n)
    values = np.corrcoef(rng.normal(size=(n, 12)))
    values[1, 2] = values[2, 1] = NAN
    root = parsed(matrix(Matrix(labels=[f"n{i}" for i in range(n)], values=values, title="t")))
    wanted = np.where(np.isnan(values), 99, np.rint(values * 20))
    found = np.full((n, n), -99.0)

    def number(name):
        text = name.rsplit("-", 1)[1]
        return 99 if text == "none" else int(text.replace("m", "-"))

    cells = classed(root, "chart-cells")[0]
    if n <= 40:
        for place, one in enumerate(cells.findall(f"{SVG}g")):
            found[divmod(place, n)] = number(one.find(f"{SVG}rect").get("class"))
    else:
        assert len(list(cells)) <= 42  # one path a colour
        for path in cells:
            for column, row, length in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d")):
                found[int(row), int(column) : int(column) + int(length)] = number(path.get("class"))
    np.testing.assert_array_equal(found, wanted)


def test_a_small_matrix_says_each_cell_and_a_large_one_is_small():
    root = parsed(
        matrix(Matrix(labels=["A", "B"], values=[[1, -0.256], [-0.256, 1]], title="t", counts=[[9, 8], [8, 9]]))
    )
    assert "A × B: r = −0.26, n = 8" in titles(root)
    values = np.corrcoef(np.random.default_rng(0).normal(size=(300, 20)))
    large = matrix(Matrix(labels=[f"n{i}" for i in range(300)], values=values, title="t"))
    assert len(list(parsed(large).iter())) < 200


def test_values_must_fit_the_labels():
    with pytest.raises(ValueError, match="3 labels"):
        matrix(Matrix(labels=["A", "B", "C"], values=[[1]], title="t"))
    with pytest.raises(ValueError, match="2 places, but 1 values"):
        lines(Lines(series=[Series(name="s", x=[1, 2], y=[1])], title="t", x_title="x", y_title="y"))
    with pytest.raises(ValueError, match="different types"):
        lines(Lines(series=[Series(name="s", x=[1, "b"], y=[1, 2])], title="t", x_title="x", y_title="y"))


def test_lines_pass_through_their_values_and_break_where_there_is_none():
    y = [0.1, 0.4, NAN, 0.2, 0.8]
    one = Series(name="s", x=[1, 2, 3, 5, 9], y=y, labels=list("abcde"))
    root = parsed(lines(Lines(series=[one], title="t", x_title="x", y_title="y", highlight=(0, 4))))
    marks = [centre(mark) for mark in classed(root, "chart-mark")]
    there = [v for v in y if v == v]
    slope, offset = np.polyfit(there, [m[1] for m in marks], 1)
    np.testing.assert_allclose(np.polyval([slope, offset], there), [m[1] for m in marks], atol=0.06)
    np.testing.assert_allclose(np.diff([m[0] for m in marks]) / (marks[1][0] - marks[0][0]), [1, 3, 4], rtol=0.02)
    path = classed(root, "chart-line")[0].get("d")
    assert path.count("M") == 2
    assert path.count("L") == 2
    ring = classed(root, "chart-ring")[0]
    assert (float(ring.get("cx")), float(ring.get("cy"))) == marks[-1]
    assert "e" in [one.text for one in classed(root, "chart-name")]


def test_dates_are_as_far_apart_as_their_days():
    days = [date(2024, 1, 1), date(2024, 1, 11), date(2024, 3, 1)]
    one = Series(name="s", x=days, y=[1, 2, 3])
    root = parsed(lines(Lines(series=[one], title="t", x_title="x", y_title="y")))
    x = [centre(mark)[0] for mark in classed(root, "chart-mark")]
    assert (x[2] - x[1]) / (x[1] - x[0]) == pytest.approx(50 / 10, rel=0.02)
    assert [tick.text for tick in classed(root, "chart-tick") if "chart-middle" in tick.get("class")] == [
        "2024-01",
        "2024-02",
        "2024-03",
    ]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: scatter(Scatter(points=[], title="t", x_title="x", y_title="y", identity=True)),
        lambda: scatter(Scatter(points=[Point(x=1, y=1, label="a")], title="t", x_title="x", y_title="y")),
        lambda: dots_with_intervals(Dots(rows=[], title="t", x_title="x")),
        lambda: matrix(Matrix(labels=[], values=np.zeros((0, 0)), title="t")),
        lambda: heat_map(heat([], ["a"], np.zeros((0, 1)))),
        lambda: heat_map(
            HeatMap(rows=["a"], columns=[], values=np.zeros((1, 0)), states=np.zeros((1, 0)), state_kinds={}, title="t")
        ),
        lambda: panels([], title="t"),
        lambda: lines(Lines(series=[], title="t", x_title="x", y_title="y")),
        lambda: lines(
            Lines(series=[Series(name="s", x=[date(2024, 1, 1)], y=[1.0])], title="t", x_title="x", y_title="y")
        ),
    ],
)
def test_little_or_nothing_can_be_drawn(draw):
    parsed(draw())


@given(
    st.lists(st.tuples(st.floats(allow_nan=True, allow_infinity=True), st.floats(-1e300, 1e300)), max_size=6),
    st.text(max_size=30),
)
def test_whatever_the_numbers_and_names_it_is_xml(values, name):
    points = [Point(x=x, y=y, label=name, name=name, x_low=y, x_high=x) for x, y in values if abs(x) < 1e300 or x != x]
    root = parsed(scatter(Scatter(points=points, title=name, x_title=name, y_title=name)))
    box = [float(part) for part in root.get("viewBox").split()]
    for mark in classed(root, "chart-mark"):
        x, y = centre(mark)
        assert 0 <= x <= box[2]
        assert 0 <= y <= box[3]


@pytest.mark.parametrize("kind", ["scatter", "dots", "matrix", "large", "lines", "history", "heat", "panels"])
def test_a_file_has_its_own_colours_a_size_and_no_links(kind):
    drawn = one_of_each()[kind]
    file = standalone(drawn)
    root = ET.fromstring(file.encode("utf-8"))
    assert root.find(f"{SVG}style").text.count("{") == len(STYLE)
    assert "var(" not in file
    width, height = (float(root.get(name).removesuffix("mm")) for name in ("width", "height"))
    box = [float(part) for part in root.get("viewBox").split()]
    assert width / height == pytest.approx(box[2] / box[3], rel=1e-3)
    assert not list(root.iter(f"{SVG}a"))
    assert not [one for one in root.iter() if one.get("href")]
    assert [t.text for t in root.iter(f"{SVG}text")] == [t.text for t in parsed(drawn).iter(f"{SVG}text")]
    assert file == standalone(drawn)


def test_type_in_a_file_of_one_column_is_seven_points():
    root = ET.fromstring(standalone(one_of_each()["scatter"]).encode())
    assert root.get("width") == "85mm"
    unit = 85 / float(root.get("viewBox").split()[2])
    assert 12 * unit / 25.4 * 72 == pytest.approx(7.2, abs=0.1)


def test_only_charts_become_files():
    with pytest.raises(ValueError, match="no chart"):
        standalone("<p>text</p>")


@given(st.text(min_size=1, max_size=60), st.floats(20, 200))
def test_names_are_shortened_in_their_middle_until_they_fit(text, width):
    short = clipped(text, width)
    assert text_width(short) <= width or short == "…"
    if short != text:
        first, last = short.split("…", 1) if short.count("…") == 1 else (short[: short.index("…")], "")
        assert text.startswith(first)
        assert text.endswith(last)


def test_characters_that_a_file_cannot_hold_are_replaced():
    name = "\ud800 \x0b"  # half of a character, as JSON may contain
    drawn = scatter(Scatter(points=[Point(x=0.3, y=0.4, label=name)], title=name, x_title=name, y_title="y"))
    assert "� �" in ET.fromstring(standalone(drawn)).findtext(f"{SVG}title")
